"""What a search gives back."""

from dataclasses import dataclass

from services.search.domain.signals import Signals
from services.search.domain.window import Candidate
from services.shared.index.chunk import StoredChunk


@dataclass(frozen=True, slots=True)
class AlsoChunk:
    """A further chunk of a hit's document, and its place in the fused order of chunks, from 1."""

    chunk: StoredChunk
    fused_place: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its score and its rank on the whole ranked list, from 1.

    `candidate` and `ledger` say why it stands there: what the legs gave it, and what ranking made of it (empty where
    ranking was skipped). A page by cursor has neither.
    """

    rank: int
    score: float
    chunk: StoredChunk
    also: tuple[AlsoChunk, ...] = ()
    candidate: Candidate | None = None
    ledger: bytes = b""


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds of each stage, None where it did not run; the legs overlap, so they may sum to more than `total`."""

    total: float
    embed: float | None = None
    keyword: float | None = None
    vector: float | None = None
    fuse: float | None = None
    rank: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a ranked window of `window` hits; `next` is the cursor of the page after it, empty on the last one.

    `degraded` names the parts that the window lacks, sorted. A page by cursor has no signals: they came before it.
    """

    generation_id: str
    revision: int
    hits: tuple[Hit, ...]
    next: str
    window: int
    degraded: tuple[str, ...]
    signals: Signals | None
    timings: Timings
