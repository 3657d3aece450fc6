"""What both legs found for the judged queries of a collection, kept so that it can be ranked again and again. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from services.search.domain.query import Mode
from services.search.domain.window import Found
from services.shared.index.chunk import Matrix, Vector


@dataclass(frozen=True, slots=True)
class CapturedChunk:
    """A chunk that a leg found, by everything that ranks it.

    `keyword_score` is its BM25 score, None where the collection has no term statistics; `cosine` and row `row` of the
    query's vectors are those of its window nearest to the query. `mass` is the share of the query's idf mass in it.
    """

    document_id: str
    date: str
    attribute: str | None
    keyword_score: float | None
    cosine: float
    mass: float
    row: int


@dataclass(frozen=True, slots=True)
class CapturedQuery:
    """A judged query: the grades of documents, what each leg found, best first, and the chunks by their ids.

    `exact` are the chunks that hold every quoted phrase and code of the query. `vectors` is (n, d), a unit row a chunk.
    `tokens` are what the keyword leg looked for, `query_vector` what the vector leg did, (d,), or None. `completion_s`
    is the processor time that the missing keyword scores of the window took.
    """

    id: str
    relevance: Mapping[str, int]
    legs: Mapping[Mode, tuple[Found, ...]]
    chunks: Mapping[str, CapturedChunk]
    exact: frozenset[str]
    vectors: Matrix
    tokens: tuple[str, ...]
    query_vector: Vector | None
    completion_s: float
