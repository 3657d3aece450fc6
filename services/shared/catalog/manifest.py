"""What a generation is: what it was built with, where it stands and how much it holds."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Self

from sqlalchemy import Row

from services.shared.catalog.schema import generations
from services.shared.index.precision import Precision


class GenerationState(StrEnum):
    """`building -> ready -> active -> retired`, or `failed`; a rollback makes a retired one active again."""

    BUILDING = "building"
    READY = "ready"
    ACTIVE = "active"
    RETIRED = "retired"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a generation was built with; chunk sizes are in the unit of the profile."""

    model: str
    weights_sha256: str
    dimensions: int
    profile: str
    chunk_target: int
    chunk_overlap: int
    chunk_minimum: int
    analyzer_version: str
    precision: Precision = Precision.FULL

    def as_json(self) -> dict[str, Any]:
        """The form in which the catalog stores it."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The manifest as stored; what a newer version added is left out, what an older one lacks has its default."""
        known = {one.name: stored[one.name] for one in fields(cls) if one.name in stored}
        return cls(**known | {"precision": Precision(known.get("precision", Precision.FULL))})


@dataclass(frozen=True, slots=True)
class Generation:
    """One built index of a collection.

    `revision` rises with every applied change. Every change up to `applied_sequence` is in it or has failed for
    good. `documents` and `chunks` count what it holds. `optimized_revision` is the revision that its index was last
    optimized with, None when it never was.
    """

    id: str
    collection: str
    state: GenerationState
    manifest: Manifest
    revision: int
    applied_sequence: int
    documents: int
    chunks: int
    created_at: float
    optimized_revision: int | None = None

    @property
    def is_optimized(self) -> bool:
        """The index is as fast, and scores words as exactly, as it ever will at this revision."""
        return self.optimized_revision == self.revision


def generation_of(row: Row[Any]) -> Generation:
    """The generation in a row that has all columns of its table."""
    values = row._mapping
    columns = generations.c
    return Generation(
        id=values[columns.id],
        collection=values[columns.collection],
        state=GenerationState(values[columns.state]),
        manifest=Manifest.from_json(values[columns.manifest]),
        revision=values[columns.revision],
        applied_sequence=values[columns.applied_sequence],
        documents=values[columns.documents],
        chunks=values[columns.chunks],
        created_at=values[columns.created_at],
        optimized_revision=values[columns.optimized_revision],
    )
