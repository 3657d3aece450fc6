"""Vectors that lie as those of text do: in areas, topics and documents, in few of many directions. Pure.

A vector is the unit-length sum of what all texts share, what its area, its topic and its document share, and what is
its own, with variances that add up to 1 (`_SHARES`). Each part but the first is drawn from one normal distribution
whose variance falls with the direction as a power (`_DECAY`), turned by one rotation, so that neighbours differ along
some dozens of directions and not along all of them. Topics, and documents within them, have sizes by Zipf's law.

The shares were set by what all-mpnet-base-v2 makes of real text. Mean cosine of a query at rank 1, 10 and 100, of a
stored vector at rank 2, 10 and 100, mean and deviation over all pairs, participation ratio of the spectrum:

- 5,183 scientific abstracts: 0.66 0.49 0.36, 0.74 0.57 0.41, 0.13 and 0.12, 63
- 3,000 abstracts of papers: 0.71 0.44 0.30, 0.62 0.50 0.34, 0.08 and 0.12, 68
- 5,000 of these: 0.70 0.50 0.37, 0.65 0.49 0.36, 0.10 and 0.12, 55
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from services.shared.index.chunk import Matrix

# Of the variance of a vector: all texts, its area, its topic, its document, itself.
_SHARES = (0.09, 0.06, 0.20, 0.25, 0.40)
# A query shares its text's area, topic and document, some of what is the text's own, and adds the rest itself.
_QUERY_OWN = 0.25
_DECAY = 0.45
_AREAS = 20
_CHUNKS_PER_TOPIC = 120
_CHUNKS_PER_DOCUMENT = 4

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ClusteredVectors:
    """`vectors` (n, d) and `queries` (q, d), float32 unit rows; which topic and document each vector belongs to.

    `sources` are the rows that the queries were made from.
    """

    vectors: Matrix
    topics: Places
    documents: Places
    queries: Matrix
    sources: Places


def clustered_vectors(count: int, queries: int, dimensions: int, seed: int) -> ClusteredVectors:
    """`count` vectors and `queries` to search them with; the same for the same arguments."""
    rng = np.random.default_rng(seed)
    topic_count = max(1, count // _CHUNKS_PER_TOPIC)
    document_count = max(1, count // _CHUNKS_PER_DOCUMENT)
    topic_of_document = _by_zipf(rng, topic_count, document_count)
    area_of_topic = _by_zipf(rng, _AREAS, topic_count)
    documents = np.sort(rng.integers(0, document_count, count))
    topics = topic_of_document[documents]

    spread = np.arange(1, dimensions + 1) ** -_DECAY
    spread /= np.linalg.norm(spread)
    turn, _ = np.linalg.qr(rng.standard_normal((dimensions, dimensions)))
    frame = (spread[:, None] * turn.T).astype(np.float32)

    def parts(number: int, share: float) -> Matrix:
        drawn = rng.standard_normal((number, dimensions), dtype=np.float32) * np.float32(np.sqrt(share))
        return np.asarray(drawn @ frame)

    shared = _unit(rng.standard_normal((1, dimensions), dtype=np.float32)) * np.float32(np.sqrt(_SHARES[0]))
    of_topic = parts(topic_count, _SHARES[2]) + parts(_AREAS, _SHARES[1])[area_of_topic] + shared
    of_document = parts(document_count, _SHARES[3]) + of_topic[topic_of_document]
    own = parts(count, _SHARES[4])
    vectors = own + of_document[documents]

    sources = rng.choice(count, size=queries, replace=queries > count)
    asked = of_document[documents[sources]] + np.float32(_QUERY_OWN) * own[sources] + parts(queries, _SHARES[4])
    return ClusteredVectors(_unit(vectors), topics, documents, _unit(asked), sources)


def _by_zipf(rng: np.random.Generator, kinds: int, count: int) -> Places:
    """`count` draws of 0 to `kinds` - 1, the k-th of which is drawn in proportion to 1 / (k + 10)."""
    weights = 1 / (np.arange(kinds) + 10)
    return rng.choice(kinds, size=count, p=weights / weights.sum())


def _unit(rows: Matrix) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
