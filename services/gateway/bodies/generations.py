"""`/v1/collections/{c}/generations`: what is built, what serves, and what a promotion is judged by."""

from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from services.gateway.bodies.strict import Body

GenerationState: TypeAlias = Literal["building", "ready", "active", "retired", "failed"]


class BuildBody(Body):
    """What the new generation is built with; what is left out is the active one's."""

    model: str = Field("", description="Embedding model, one of those that the embedding service has loaded.")
    profile: str = Field("", description="Chunk profile: docs, paper, lesson, entry or plain.")


class PromoteBody(Body):
    """How much worse the new generation may find the judged documents."""

    max_ndcg_loss: float = Field(0.01, ge=0, le=1, description="Most that nDCG@10 may fall against what serves.")


class BuildBegun(BaseModel):
    """The build has begun; the job counts its documents."""

    generation_id: str
    job_id: str


class Chunking(BaseModel):
    """Sizes of chunks: tokens of the model, characters for the profile `plain`."""

    target: int
    overlap: int
    minimum: int


class GenerationView(BaseModel):
    """A generation; `lag` counts accepted changes that it may not have yet, `previous` marks what a rollback serves."""

    id: str
    state: GenerationState
    previous: bool
    revision: int
    lag: int
    documents: int
    chunks: int
    embedding_model: str
    profile: str
    chunking: Chunking
    created_at: str


class GenerationList(BaseModel):
    """All generations, newest first."""

    generations: list[GenerationView]


class Gate(BaseModel):
    """Mean nDCG@10 over the judged queries; without any, both are 0 and nothing was compared."""

    queries: int
    serving_ndcg10: float
    candidate_ndcg10: float


class Promotion(BaseModel):
    """What serves now, and what was measured before."""

    generation_id: str
    gate: Gate


class RolledBack(BaseModel):
    """What serves now."""

    generation_id: str
