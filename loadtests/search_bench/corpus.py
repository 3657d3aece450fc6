"""A made corpus: chunks with vectors, text and metadata of known selectivity, and queries with both. Pure.

The same arguments give the same corpus. One chunk in four has a second window, as texts have that are longer than a
model reads.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadtests.search_bench.vectors import ClusteredVectors, clustered_vectors
from loadtests.search_bench.words import Words, code_of, names_its_code
from services.shared.index.chunk import IndexedChunk, Matrix, Vector
from services.shared.index.fields import FieldType
from services.shared.index.filters import Comparison, Filter, Op
from services.shared.text.analyzer import analyze_document

FIELDS: Mapping[str, FieldType] = {
    "place": FieldType.INTEGER,
    "area": FieldType.KEYWORD,
    "year": FieldType.INTEGER,
}
SHARES: tuple[float, ...] = (0.001, 0.01, 0.08, 0.4, 1.0)
"""The shares of all chunks that `filter_matching` can match."""

_NAMESPACE = uuid.UUID("3f0e4a0e-5a0b-5b8e-9d43-0a6b3d1f7a11")
_SECOND_WINDOWS = 4
_SECOND_OWN = 0.6
_CODED_QUERIES = 8
_AREAS = 12


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """A text with its vector, made from the chunk in row `source`."""

    text: str
    vector: Vector
    source: int


class Corpus:
    """`count` chunks of `dimensions`, in rows 0 to `count` - 1, and `queries` to search them with."""

    def __init__(self, count: int, queries: int, dimensions: int, seed: int) -> None:
        self.count = count
        self.dimensions = dimensions
        self._seed = seed
        self._made: ClusteredVectors = clustered_vectors(count, queries, dimensions, seed)
        rng = np.random.default_rng((seed, 2))
        self._words = Words(int(self._made.topics.max()) + 1, seed)
        # Which chunks a filter matches has nothing to do with what they say; `area` has everything to do with it.
        self._places = rng.permutation(count)
        self._years = rng.integers(1995, 2027, count)
        self._second = np.flatnonzero(rng.random(count) < 1 / _SECOND_WINDOWS)
        self._second_vectors = self._second_windows(rng)
        self.chunk_ids = [str(uuid.uuid5(_NAMESPACE, f"{seed} {row}")) for row in range(count)]

    def chunks(self, batch: int) -> Iterator[list[IndexedChunk]]:
        """All chunks, `batch` at a time."""
        for start in range(0, self.count, batch):
            yield [self._chunk(row) for row in range(start, min(start + batch, self.count))]

    @property
    def queries(self) -> list[BenchQuery]:
        """The queries; one in eight names the code of its document."""
        return [self._query(number) for number in range(len(self._made.queries))]

    def matching(self, share: float) -> npt.NDArray[np.bool_]:
        """Which rows `filter_matching(share)` matches."""
        return np.asarray(self._places < self._below(share))

    def filter_matching(self, share: float) -> Filter:
        """A filter that matches this share of all chunks, wherever they lie."""
        return Comparison("place", Op.LT, (self._below(share),))

    def in_area(self, area: int) -> npt.NDArray[np.bool_]:
        """Which rows `filter_area(area)` matches."""
        return np.asarray(self._made.topics % _AREAS == area)

    def filter_area(self, area: int) -> Filter:
        """A filter that matches a twelfth of the topics, whole."""
        return Comparison("area", Op.EQ, (f"area {area}",))

    def exact_scores(self, queries: Sequence[Vector]) -> Matrix:
        """The cosine of every query, (q, count), with the best window of every chunk."""
        asked = np.stack(queries)
        scores = asked @ self._made.vectors.T
        scores[:, self._second] = np.maximum(scores[:, self._second], asked @ self._second_vectors.T)
        return np.asarray(scores)

    def _below(self, share: float) -> int:
        return round(share * self.count)

    def _second_windows(self, rng: np.random.Generator) -> Matrix:
        own = rng.standard_normal((len(self._second), self.dimensions), dtype=np.float32)
        own *= np.float32(_SECOND_OWN) / np.linalg.norm(own, axis=1, keepdims=True)
        mixed = self._made.vectors[self._second] + own
        return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True))

    def _chunk(self, row: int) -> IndexedChunk:
        rng = np.random.default_rng((self._seed, 3, row))
        document, topic = int(self._made.documents[row]), int(self._made.topics[row])
        title = self._title(document, topic)
        text = self._text(row, rng)
        return IndexedChunk(
            chunk_id=self.chunk_ids[row],
            document_id=f"document {document}",
            revision=1,
            ordinal=row,
            title=title,
            uri=f"https://example.org/{document}",
            locale="en",
            date=str(self._years[row]),
            heading_path=(title,),
            pages=(),
            text=text,
            context=title,
            start=0,
            end=len(text),
            tokens=len(text) // 5,
            analysed=" ".join(analyze_document(f"{title}\n{text}", "en")),
            metadata={
                "place": int(self._places[row]),
                "area": f"area {topic % _AREAS}",
                "year": int(self._years[row]),
            },
            vectors=self._vectors(row),
        )

    def _title(self, document: int, topic: int) -> str:
        rng = np.random.default_rng((self._seed, 4, document))
        return f"{self._words.title(topic, rng)} {code_of(document)}"

    def _text(self, row: int, rng: np.random.Generator) -> str:
        words = self._words.chunk(int(self._made.topics[row]), rng)
        if names_its_code(rng):
            words.insert(len(words) // 2, code_of(int(self._made.documents[row])))
        return " ".join(words).capitalize() + "."

    def _vectors(self, row: int) -> Matrix:
        first = self._made.vectors[row : row + 1]
        place = int(np.searchsorted(self._second, row))
        if place < len(self._second) and self._second[place] == row:
            return np.concatenate([first, self._second_vectors[place : place + 1]])
        return first

    def _query(self, number: int) -> BenchQuery:
        rng = np.random.default_rng((self._seed, 5, number))
        row = int(self._made.sources[number])
        text = self._text(row, np.random.default_rng((self._seed, 3, row))).lower().rstrip(".").split()
        asked = self._words.query(int(self._made.topics[row]), text, rng)
        if number % _CODED_QUERIES == 0:
            asked = f"{asked} {code_of(int(self._made.documents[row]))}"
        return BenchQuery(asked, self._made.queries[number], row)
