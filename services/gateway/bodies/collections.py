"""`/v1/collections`: declarations and what serves them."""

from typing import Any

from pydantic import BaseModel, Field

from services.gateway.bodies.absent import Absent
from services.gateway.bodies.strict import Body


class CollectionBody(Body):
    """A declaration. What a name, a profile, a field or a setting may be is checked where it is stored."""

    name: str
    profile: str = "docs"
    locale: str = "en"
    fields: dict[str, str] = Field(
        default_factory=dict, description="Field -> keyword, integer, number, date or boolean."
    )
    settings: dict[str, Any] = Field(
        default_factory=dict, description="What differs from the profile: groups retrieval, ranking, chunking, answer."
    )


class SettingsBody(Body):
    """New settings, whole: what is left out falls back to the profile."""

    settings: dict[str, Any]


class ActiveGeneration(BaseModel):
    """The generation that serves; `lag` counts accepted changes that it may not have yet.

    `optimized` tells whether its index was tended since the last change; until then large uploads are searched slower.
    """

    id: str
    revision: int
    documents: int
    chunks: int
    lag: int
    optimized: bool
    embedding_model: Absent[str] = None


class CollectionView(BaseModel):
    """A collection and what serves it.

    One that was deleted while it was made has no `created_at` and `embedding_model`: the catalog has forgotten them.
    """

    name: str
    profile: str
    locale: str
    fields: dict[str, str]
    settings: dict[str, Any]
    generation: ActiveGeneration
    created_at: Absent[str] = None


class CollectionList(BaseModel):
    """All collections by name."""

    collections: list[CollectionView]
