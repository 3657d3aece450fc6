"""What a caller asks for, within its bounds; what the stored chunks must meet (the filter) goes beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from services.search.domain.invalid_query import InvalidQuery
from services.search.domain.paging import check_page

MAX_QUERY_LENGTH = 10_000


class Mode(StrEnum):
    """Which legs run."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    VECTOR = "vector"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How the collection retrieves. Raises InvalidQuery naming `retrieval.<setting>` for one out of its bounds.

    `depth` counts the hits that a leg may rank, `window` the fused hits that are ranked and can be paged. `synonyms`
    tells what a term is searched as beside itself. A keyword hit that holds less than the share `keyword_gate` of the
    query's idf mass earns no keyword rank; 0 lets all pass.
    """

    rrf_k: int = 60
    keyword_weight: float = 1.0
    vector_weight: float = 1.0
    depth: int = 100
    window: int = 100
    collapse_by_document: bool = False
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keyword_gate: float = 0.0

    def __post_init__(self) -> None:
        for name in ("rrf_k", "depth", "window"):
            if not 1 <= getattr(self, name) <= 1000:
                raise InvalidQuery(f"{name} is from 1 to 1000", field=f"retrieval.{name}")
        for name in ("keyword_weight", "vector_weight"):
            if not 0 <= getattr(self, name) <= 10:  # NaN fails too
                raise InvalidQuery(f"{name} is from 0 to 10", field=f"retrieval.{name}")
        if not 0 <= self.keyword_gate <= 1:
            raise InvalidQuery("keyword_gate is from 0 to 1", field="retrieval.keyword_gate")
        if self.keyword_weight == self.vector_weight == 0:
            raise InvalidQuery("one of the weights must be above 0", field="retrieval.vector_weight")


@dataclass(frozen=True, slots=True)
class Query:
    """A text, or a document whose like is wanted, in one collection. Raises InvalidQuery naming the field at fault.

    An empty `generation_id` means the active one. `cursor` goes on with an earlier page's window. `ranking` are the
    settings that the ranking service gets, as they came, of which this service reads `diversify_by`, whether hits are
    compared with one another, and how many seconds a cross-encoder may take, 0 where it is off. `fingerprint` stands
    for everything that shapes the window, and is equal for two pages of one search.
    """

    collection: str
    retrieval: Retrieval
    text: str = ""
    like_document_id: str = ""
    locale: str = ""
    generation_id: str = ""
    mode: Mode = Mode.HYBRID
    limit: int = 10
    offset: int = 0
    cursor: str = ""
    explain: bool = False
    ranking: bytes = b""
    diversify_by: str = ""
    compares_hits: bool = True
    cross_encoder_budget_s: float = 0.0
    fingerprint: bytes = b""

    def __post_init__(self) -> None:
        if not self.collection:
            raise InvalidQuery("name a collection", field="collection")
        if self.like_document_id:
            self._check_like()
        else:
            _check_text(self.text)
        check_page(limit=self.limit, offset=self.offset, window=self.retrieval.window)
        if self.cursor and self.offset:
            raise InvalidQuery("a cursor goes on where its page ended; leave the offset at 0", field="offset")
        if self.cursor and self.explain:
            raise InvalidQuery("a page by cursor has no ledger; page by offset to have it", field="explain")

    def _check_like(self) -> None:
        if self.text:
            raise InvalidQuery("give a query or a document, not both", field="like_document_id")
        if self.mode is Mode.KEYWORD:
            raise InvalidQuery("documents are alike by their vectors; leave the mode out", field="mode")

    def needs_vectors_of(self, leg: Mode) -> bool:
        """Whether the hits of a leg are read with their vectors, which are half of what there is to read.

        Hits are compared by them, and what only the keyword leg finds gets its cosine from them; the vector leg's hits
        have theirs. Of collapsed hits one may stand for a document whose cosine came too late to count.
        """
        return self.compares_hits or (
            Mode.VECTOR in self.weights if leg is Mode.KEYWORD else self.retrieval.collapse_by_document
        )

    @property
    def weights(self) -> Mapping[Mode, float]:
        """The legs that are to run, keyword before vector, with what their votes weigh.

        A leg of weight 0 adds nothing to a hybrid query and does not run. Alone, a leg has every vote.
        """
        if self.mode is not Mode.HYBRID or self.like_document_id:
            return {Mode.KEYWORD if self.mode is Mode.KEYWORD else Mode.VECTOR: 1.0}
        weights = {Mode.KEYWORD: self.retrieval.keyword_weight, Mode.VECTOR: self.retrieval.vector_weight}
        return {leg: weight for leg, weight in weights.items() if weight > 0}


def _check_text(text: str) -> None:
    if not text.strip():
        raise InvalidQuery("give a query that is not blank", field="query")
    if len(text) > MAX_QUERY_LENGTH:
        raise InvalidQuery(f"a query has at most {MAX_QUERY_LENGTH} characters, got {len(text)}", field="query")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidQuery("the query holds half of a surrogate pair, which is no character", field="query")
