"""`POST /v1/search`: what is asked and what comes back."""

from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, Field, StringConstraints, model_validator

from services.gateway.bodies.absent import Absent
from services.gateway.bodies.filters import FilterJson
from services.gateway.bodies.strict import (
    MAX_QUESTION_LENGTH,
    Body,
    CollectionName,
    DocumentId,
    Question,
    at_part,
)
from services.shared.catalog.collection_settings import Locale, RecencyTier, Share, Weight
from services.shared.index.fields import FieldValue

# A cursor names every chunk that is still to come: 226,000 characters for 1,000 documents of 8,000 chunks, the most
# that two legs of the greatest depth find.
MAX_CURSOR_LENGTH = 300_000


# A list in JSON is no tuple to a strict body.
Tier: TypeAlias = Annotated[RecencyTier, Field(strict=False)]


class RetrievalOverrides(Body):
    """What this request wants otherwise than the collection; null is as the collection has it."""

    rrf_k: Annotated[int, Field(ge=1, le=1000)] | None = None
    keyword_weight: Weight | None = None
    vector_weight: Weight | None = None
    depth: Annotated[int, Field(ge=1, le=1000)] | None = None
    window: Annotated[int, Field(ge=1, le=1000)] | None = None
    collapse_by_document: bool | None = None
    keyword_gate: Share | None = None


class RankingOverrides(Body):
    """What this request wants otherwise than the collection; null is as the collection has it.

    `lambda` is the share of relevance: 1 leaves the order as it is, 0 is novelty alone. It, `mmr_cosine_share` and
    `diversify_by` switch diversity on, unless `mmr` is given; `diversify_by: null` diversifies by cosine alone.
    `recency: false` switches the boost off. A recency tier is [greatest age in whole calendar years, multiplier], by
    rising age, the last one with null.
    """

    relevance: Literal["fused", "completed"] | None = None
    cosine_share: Share | None = None
    mmr: bool | None = None
    mmr_lambda: Share | None = Field(None, alias="lambda")
    mmr_relevance_power: Annotated[float, Field(ge=1, le=10)] | None = None
    mmr_cosine_share: Share | None = None
    diversify_by: str | None = None
    min_distinct: Annotated[int, Field(ge=0, le=100)] | None = None
    min_distinct_within: Annotated[int, Field(ge=1, le=1000)] | None = None
    near_duplicate_cosine: Share | None = None
    recency: bool | None = None
    recency_tiers: Annotated[list[Tier], Field(max_length=10)] | None = None
    protect_leader: bool | None = None
    recency_places: Annotated[int, Field(ge=0, le=1000)] | None = None
    cross_encoder: bool | None = None
    cross_encoder_budget_ms: Annotated[int, Field(ge=1, le=10_000)] | None = None
    clock_date: str | None = Field(None, description="The day from which age is counted, YYYY-MM-DD; null is today.")


class SearchBody(Body):
    """A search: give `query`, or `like` for documents that resemble one."""

    collection: CollectionName
    query: Question | None = None
    like: DocumentId | None = None
    filter: FilterJson = None
    locale: Locale | None = None
    mode: Literal["hybrid", "keyword", "vector"] = "hybrid"
    limit: Annotated[int, Field(ge=1, le=1000)] = 10
    offset: Annotated[int, Field(ge=0, le=1000)] = 0
    cursor: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CURSOR_LENGTH)] | None = None
    explain: bool = False
    retrieval: RetrievalOverrides = RetrievalOverrides()
    ranking: RankingOverrides = RankingOverrides()

    @model_validator(mode="after")
    def _says_what_to_find(self) -> Self:
        if self.query is None and self.like is None:
            raise at_part("query", f"give a query of 1 to {MAX_QUESTION_LENGTH:,} characters, or `like`")
        if self.query is not None and self.like is not None:
            raise at_part("like", "give either `query` or `like`, not both")
        if self.cursor is not None and self.offset:
            raise at_part("offset", "give either `cursor` or `offset`, not both")
        return self


class GenerationRef(BaseModel):
    """The generation that answered."""

    id: str
    revision: int


class AlsoChunk(BaseModel):
    """A further chunk of a hit's document, or another document with the same text."""

    chunk_id: str
    heading_path: list[str]
    fused_place: int
    document_id: Absent[str] = None


class LegRank(BaseModel):
    """What one leg knows of a hit; `rank` is null when the leg did not find it."""

    rank: int | None
    score: float | None
    completed: bool
    fused_share: float


class Place(BaseModel):
    """A hit's place after one step."""

    step: str
    place: int


class Ledger(BaseModel):
    """Why a hit stands where it stands."""

    keyword: LegRank
    vector: LegRank
    fused_score: float
    exact: bool
    relevance: float
    relevance_kind: Literal["fused", "completed", "cross_encoder"]
    cross_encoder_score: Absent[float] = None
    age_years: int | None
    multiplier: float
    marginal_gain: float | None
    redundancy: float | None
    places: list[Place]
    floor_reason: Absent[str] = None
    duplicates: Absent[list[str]] = None


class Hit(BaseModel):
    """A passage with a score."""

    rank: int
    score: float
    chunk_id: str
    document_id: str
    title: str
    uri: str | None
    heading_path: list[str]
    pages: Absent[list[int]] = None
    text: str
    metadata: dict[str, FieldValue]
    locale: str
    date: Absent[str] = None
    also: Absent[list[AlsoChunk]] = None
    ledger: Absent[Ledger] = None


class SearchTimings(BaseModel):
    """Milliseconds of each stage; 0 when it did not run."""

    embed: float
    keyword: float
    vector: float
    fuse: float
    rank: float
    total: float


class SearchPage(BaseModel):
    """A page of hits, best first. `window` tells how far paging reaches."""

    request_id: str
    generation: GenerationRef
    degraded: list[str]
    next: Absent[str] = None
    hits: list[Hit]
    window: int
    timings_ms: SearchTimings
