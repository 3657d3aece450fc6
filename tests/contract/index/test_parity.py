"""Both engines give the same chunks with the same scores."""

import random
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from services.shared.index.chunk import IndexedChunk, LegHit
from services.shared.index.fields import FieldType
from services.shared.index.filters import AllOf, Comparison, Filter, Not, Op, validate
from services.shared.index.lance_index import LanceIndex
from services.shared.index.port import Index
from services.shared.index.weaviate_index import WeaviateIndex
from tests.conftest import WeaviateAddress
from tests.contract.index.examples import GENERATION, a_chunk

pytestmark = pytest.mark.weaviate

DIMENSIONS = 48
FIELDS = {"unit": FieldType.KEYWORD, "year": FieldType.INTEGER}
WORDS = [f"w:{number}" for number in range(300)]
# As in a language: the word of place p is p times rarer than the first.
WEIGHTS = [1 / (place + 1) for place in range(len(WORDS))]


@pytest.fixture
async def engines(tmp_path: Path, cleared_weaviate: WeaviateAddress) -> AsyncIterator[dict[str, Index]]:
    """Both engines with the same 400 chunks, of which some were written twice and some deleted."""
    opened: dict[str, Index] = {
        "lancedb": await LanceIndex.open(tmp_path / "index"),
        "weaviate": await WeaviateIndex.open(cleared_weaviate.nodes, api_key=cleared_weaviate.api_key),
    }
    for index in opened.values():
        rng, vectors = random.Random(23), np.random.default_rng(23)
        await index.create_generation(GENERATION, DIMENSIONS, FIELDS)
        await index.upsert(GENERATION, [_random_chunk(number, rng, vectors) for number in range(450)])
        await index.upsert(GENERATION, [_random_chunk(number, rng, vectors) for number in range(100, 200)])
        await index.delete(GENERATION, [f"c{number:03d}" for number in range(400, 450)])
        await index.optimize(GENERATION)
    yield opened
    for index in opened.values():
        await index.close()


def _random_chunk(number: int, rng: random.Random, vectors: np.random.Generator) -> IndexedChunk:
    rows = vectors.standard_normal((1 + number % 3, DIMENSIONS)).astype(np.float32)
    return a_chunk(
        f"c{number:03d}",
        document_id=f"d{number // 4}",
        ordinal=number % 4,
        locale=rng.choice(["tr", "en", ""]),
        analysed=" ".join(rng.choices(WORDS, WEIGHTS, k=rng.randint(5, 120))),
        metadata={"unit": rng.choice(["1-1", "1-12", " 1-1"]), "year": rng.randint(2000, 2025)},
        vectors=rows / np.linalg.norm(rows, axis=1, keepdims=True),
    )


FILTERS: list[Filter | None] = [
    None,
    Comparison("unit", Op.EQ, ("1-1",)),
    AllOf((Comparison("year", Op.GTE, (2015,)), Not(Comparison("locale", Op.EQ, ("tr",))))),
    Not(Comparison("locale", Op.EXISTS)),
]


def scores(hits: list[LegHit]) -> dict[str, float]:
    return {hit.chunk.chunk_id: hit.score for hit in hits}


async def test_keyword_leg_gives_the_same_chunks_with_the_same_scores(engines: dict[str, Index]) -> None:
    rng = random.Random(5)
    for filter in FILTERS:
        wanted = None if filter is None else validate(filter, FIELDS)
        for _ in range(10):
            tokens = rng.choices(WORDS, k=rng.randint(1, 8))
            found = {
                name: await index.keyword(GENERATION, tokens, filter=wanted, limit=400)
                for name, index in engines.items()
            }
            assert scores(found["weaviate"]) == pytest.approx(scores(found["lancedb"]), rel=1e-3)
            assert [hit.chunk for hit in found["weaviate"][:20]] == [hit.chunk for hit in found["lancedb"][:20]]


async def test_vector_leg_gives_the_same_chunks_with_the_same_scores(engines: dict[str, Index]) -> None:
    rng = np.random.default_rng(5)
    for filter in FILTERS:
        wanted = None if filter is None else validate(filter, FIELDS)
        for limit in (10, 100, 400):
            vector = rng.standard_normal(DIMENSIONS).astype(np.float32)
            found = {
                name: await index.nearest(GENERATION, vector, filter=wanted, limit=limit)
                for name, index in engines.items()
            }
            assert scores(found["weaviate"]) == pytest.approx(scores(found["lancedb"]), abs=1e-5)
            assert [hit.chunk for hit in found["weaviate"]] == [hit.chunk for hit in found["lancedb"]]


async def test_everything_else_is_the_same_too(engines: dict[str, Index]) -> None:
    weaviate, lancedb = engines["weaviate"], engines["lancedb"]
    for filter in FILTERS:
        wanted = None if filter is None else validate(filter, FIELDS)
        assert await weaviate.count(GENERATION, wanted) == await lancedb.count(GENERATION, wanted)
    for document in ("d0", "d30", "d99", "d105"):
        assert await weaviate.document_chunks(GENERATION, document) == await lancedb.document_chunks(
            GENERATION, document
        )
    ids = [f"c{number:03d}" for number in range(440, 380, -1)]
    assert await weaviate.fetch(GENERATION, ids, vectors=True) == await lancedb.fetch(GENERATION, ids, vectors=True)
    assert await weaviate.existing(GENERATION, ids) == await lancedb.existing(GENERATION, ids)
