"""What the two legs find, and in which order."""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from services.shared.index.filters import Comparison, Op
from services.shared.index.port import Index
from services.shared.runtime.errors import InvalidInput
from tests.contract.index.examples import (
    EAST,
    GENERATION,
    NORTH,
    a_chunk,
    found_by_vector,
    found_by_words,
    towards,
    windows,
)


def bm25(texts: Mapping[str, str], query: Sequence[str]) -> dict[str, float]:
    """The textbook's scores of the texts that hold a token of `query`, with k1 = 1.2 and b = 0.75."""
    tokens = {chunk_id: text.split() for chunk_id, text in texts.items()}
    mean_length = sum(map(len, tokens.values())) / len(tokens)
    frequency = Counter(token for words in tokens.values() for token in set(words))
    scores: dict[str, float] = {}
    for chunk_id, words in tokens.items():
        counts = Counter(words)
        norm = 1.2 * (1 - 0.75 + 0.75 * len(words) / mean_length)
        for token in query:
            if counts[token]:
                df = frequency[token]
                idf = math.log(1 + (len(tokens) - df + 0.5) / (df + 0.5))
                gain = idf * counts[token] * (1.2 + 1) / (counts[token] + norm)
                scores[chunk_id] = scores.get(chunk_id, 0) + gain
    return scores


async def test_keyword_scores_are_bm25_after_writes_updates_and_deletes(index: Index) -> None:
    rng = random.Random(3)
    vocabulary = [f"w:{number}" for number in range(40)]
    weights = [1 / (place + 1) for place in range(40)]

    def text() -> str:
        return " ".join(rng.choices(vocabulary, weights, k=rng.randint(2, 40)))

    texts = {f"c{number:03d}": text() for number in range(150)}
    await index.upsert(GENERATION, [a_chunk(chunk_id, analysed=analysed) for chunk_id, analysed in texts.items()])
    await index.optimize(GENERATION)
    changed = {f"c{number:03d}": text() for number in range(40, 60)}
    await index.upsert(GENERATION, [a_chunk(chunk_id, analysed=analysed) for chunk_id, analysed in changed.items()])
    gone = [f"c{number:03d}" for number in range(20)]
    await index.delete(GENERATION, gone)
    await index.optimize(GENERATION)
    texts = {chunk_id: analysed for chunk_id, analysed in (texts | changed).items() if chunk_id not in gone}

    for query in (["w:0"], ["w:1", "w:30"], ["w:5", "w:5", "w:7"], ["w:2", "w:unknown", "w:39", "w:11"]):
        expected = bm25(texts, query)
        hits = await index.keyword(GENERATION, query, filter=None, limit=1_000)
        scores = {hit.chunk.chunk_id: hit.score for hit in hits}
        assert scores == pytest.approx(expected, rel=1e-4)
        assert [hit.score for hit in hits] == sorted(scores.values(), reverse=True)


async def test_fresh_chunk_is_found_before_the_index_is_optimized(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("old", analysed="w:old")])
    await index.optimize(GENERATION)
    await index.upsert(GENERATION, [a_chunk("new", analysed="w:new w:old")])
    assert await found_by_words(index, "w:new") == ["new"]
    assert set(await found_by_words(index, "w:old")) == {"old", "new"}


TOKENS = [
    "w:plain",
    "W:PLAIN",
    "w:AND",
    "AND",
    "OR",
    "NOT",
    "-w:plain",
    "+w:plain",
    '"w:plain"',
    '"',
    "(",
    ")",
    "w:a:b",
    "w:*",
    "w:pla*",
    "w:pl?in",
    "w:plain~1",
    "w:plain^5",
    "[a",
    "{a",
    "/a.*/",
    "w:c++",
    "w:.net",
    "w:café",
    "w:cafe",
    "w:cafe\u0301",
    "w:明月",
    "w:月光",
    "w:นอน",
    "w:हिन्दी",
    "w:ıi",
    "w:ı",
    "the",
    "s:the",
    "w:running",
    "w:run",
    "w:😀",
    "w:" + "x" * 5_000,
]


async def test_token_is_compared_whole_and_never_read_as_syntax(index: Index) -> None:
    texts = {f"c{place:02d}": f"w:all {token}" for place, token in enumerate(TOKENS)}
    await index.upsert(GENERATION, [a_chunk(chunk_id, analysed=analysed) for chunk_id, analysed in texts.items()])
    for _ in ("fresh", "optimized"):
        for chunk_id, token in zip(texts, TOKENS, strict=True):
            assert await found_by_words(index, token) == [chunk_id]
        assert len(await found_by_words(index, *TOKENS)) == len(TOKENS)
        await index.optimize(GENERATION)


@pytest.mark.parametrize("tokens", [[], ["w:unknown"], ['"', "AND", "-", "*"]])
async def test_tokens_that_nothing_holds_find_nothing(index: Index, tokens: list[str]) -> None:
    await index.upsert(GENERATION, [a_chunk("c1")])
    assert await found_by_words(index, *tokens) == []


@pytest.mark.parametrize("matching", [0, 1, 100])
async def test_matches_among_others_are_all_found(index: Index, matching: int) -> None:
    chunks = [
        a_chunk(f"c{number:03d}", analysed="w:hit w:all" if number < matching else "w:all", metadata={"year": number})
        for number in range(150)
    ]
    await index.upsert(GENERATION, chunks)
    expected = [f"c{number:03d}" for number in range(matching)]
    below = Comparison("year", Op.LT, (matching,))
    assert await found_by_words(index, "w:hit") == expected
    assert await found_by_words(index, "w:all", filter=below) == expected
    assert await found_by_vector(index, filter=below) == expected
    assert await index.count(GENERATION, below) == matching


async def test_filter_is_applied_before_the_limit(index: Index) -> None:
    far = [a_chunk(f"far{number}", metadata={"unit": "far"}, vectors=windows(NORTH)) for number in range(3)]
    near = [
        a_chunk(f"near{number:02d}", metadata={"unit": "near"}, analysed="w:all w:all", vectors=windows(EAST))
        for number in range(50)
    ]
    await index.upsert(GENERATION, [*near, *far])
    only_far = Comparison("unit", Op.EQ, ("far",))
    assert await found_by_words(index, "w:all", filter=only_far, limit=2) == ["far0", "far1"]
    assert await found_by_vector(index, filter=only_far, limit=2) == ["far0", "far1"]


async def test_vector_score_is_the_cosine(index: Index) -> None:
    cosines = {"a": 1.0, "b": 0.6, "c": 0.0, "d": -0.6, "e": -1.0}
    await index.upsert(GENERATION, [a_chunk(key, vectors=windows(towards(cosine))) for key, cosine in cosines.items()])
    for scale in (1, 0.5):
        hits = await index.nearest(GENERATION, np.float32(scale) * EAST, filter=None, limit=10)
        assert {hit.chunk.chunk_id: hit.score for hit in hits} == pytest.approx(cosines, abs=1e-6)
        assert [hit.chunk.chunk_id for hit in hits] == list(cosines)


async def test_chunk_is_found_by_its_best_window_and_votes_once(index: Index) -> None:
    await index.upsert(
        GENERATION,
        [
            a_chunk("two good windows", vectors=windows(towards(0.8), towards(0.9))),
            a_chunk("second window best", vectors=windows(NORTH, EAST)),
            a_chunk("one window", vectors=windows(towards(0.7))),
        ],
    )
    hits = await index.nearest(GENERATION, EAST, filter=None, limit=10)
    assert [hit.chunk.chunk_id for hit in hits] == ["second window best", "two good windows", "one window"]
    assert [hit.score for hit in hits] == pytest.approx([1, 0.9, 0.7], abs=1e-6)
    assert await found_by_vector(index, limit=2) == ["second window best", "two good windows"]


async def test_number_of_windows_does_not_change_keyword_scores(index: Index) -> None:
    texts = {"a": "w:x w:y", "b": "w:x w:y w:z w:z", "c": "w:z"}
    for generation, count in (("one", 1), ("many", 5)):
        await index.create_generation(generation, 4, {})
        await index.upsert(
            generation, [a_chunk(key, analysed=text, vectors=windows(*[EAST] * count)) for key, text in texts.items()]
        )
        hits = await index.keyword(generation, ["w:x"], filter=None, limit=10)
        assert {hit.chunk.chunk_id: hit.score for hit in hits} == pytest.approx(bm25(texts, ["w:x"]), rel=1e-4)


async def test_nearest_agrees_with_a_plain_scan(index: Index) -> None:
    rng = np.random.default_rng(5)
    chunks = []
    for number in range(300):
        rows = rng.standard_normal((1 + number % 3, 4)).astype(np.float32)
        chunks.append(a_chunk(f"c{number:03d}", vectors=rows / np.linalg.norm(rows, axis=1, keepdims=True)))
    await index.upsert(GENERATION, chunks)
    for _ in range(10):
        query = rng.standard_normal(4).astype(np.float32)
        query /= np.linalg.norm(query)
        expected = {chunk.chunk_id: float((chunk.vectors @ query).max()) for chunk in chunks}
        hits = await index.nearest(GENERATION, query, filter=None, limit=20)
        assert [hit.score for hit in hits] == pytest.approx(sorted(expected.values(), reverse=True)[:20], abs=1e-5)
        assert all(hit.score == pytest.approx(expected[hit.chunk.chunk_id], abs=1e-5) for hit in hits)


async def test_score_of_equal_and_opposite_vectors_stays_within_bounds(index: Index) -> None:
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((50, 4)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    await index.upsert(GENERATION, [a_chunk(f"c{place}", vectors=windows(row)) for place, row in enumerate(rows)])
    for place, row in enumerate(rows):
        for sign in (1, -1):
            hits = await index.nearest(GENERATION, np.float32(sign) * row, filter=None, limit=50)
            assert all(-1 <= hit.score <= 1 for hit in hits)
            [own] = [hit for hit in hits if hit.chunk.chunk_id == f"c{place}"]
            assert own.score == pytest.approx(sign, abs=1e-5)


@pytest.mark.parametrize("limit", [1, 7, 99, 100, 400])
async def test_equal_scores_come_by_chunk_id_and_are_cut_by_it(index: Index, limit: int) -> None:
    chunk_ids = [f"c{number:03d}" for number in range(300)]
    shuffled = random.Random(1).sample(chunk_ids, k=300)
    for start in range(0, 300, 100):
        await index.upsert(GENERATION, [a_chunk(chunk_id) for chunk_id in shuffled[start : start + 100]])
    assert await found_by_words(index, "w:all", limit=limit) == chunk_ids[:limit]
    assert await found_by_vector(index, limit=limit) == chunk_ids[:limit]


async def test_better_scores_come_before_smaller_ids(index: Index) -> None:
    await index.upsert(
        GENERATION,
        [
            a_chunk("a", analysed="w:x w:y w:y", vectors=windows(towards(0.5))),
            a_chunk("b", analysed="w:x w:x w:y", vectors=windows(towards(0.9))),
        ],
    )
    assert await found_by_words(index, "w:x") == ["b", "a"]
    assert await found_by_vector(index) == ["b", "a"]


async def test_limit_of_none_finds_none(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("c1")])
    assert await found_by_words(index, "w:all", limit=0) == []
    assert await found_by_vector(index, limit=0) == []


@pytest.mark.parametrize(
    "vector",
    [[1, 0, 0], [1, 0, 0, 0, 0], [[1, 0, 0, 0]], [], [math.nan, 0, 0, 1], [math.inf, 0, 0, 1], [0, 0, 0, 0]],
    ids=["too short", "too long", "a matrix", "empty", "not a number", "infinite", "no direction"],
)
async def test_vector_that_cannot_be_compared_is_refused(index: Index, vector: list[float]) -> None:
    await index.upsert(GENERATION, [a_chunk("c1")])
    with pytest.raises(InvalidInput):
        await found_by_vector(index, np.array(vector, dtype=np.float32))
