"""Writing, reading back and removing chunks."""

import numpy as np
import pytest

from services.shared.index.port import Index
from services.shared.runtime.errors import InvalidInput
from tests.contract.index.examples import (
    EAST,
    GENERATION,
    NORTH,
    a_chunk,
    as_stored,
    found_by_vector,
    found_by_words,
    towards,
    windows,
)

FULL = a_chunk(
    "c1",
    document_id="papers/1",
    revision=7,
    ordinal=3,
    title="İyi akşamlar — नमस्ते",
    uri="https://example.org/a?b=c#d",
    locale="tr",
    date="2021-03",
    heading_path=("Bölüm 1", "1.2 'Quoted' \\ and \"so\" on"),
    pages=(4, 5),
    text="Line one.\nLine two: 床前明月光\t😀\u2028end",
    context="İyi akşamlar › Bölüm 1",
    start=120,
    end=163,
    tokens=17,
    analysed="w:iyi s:iyi w:床前 w:前明",
    metadata={"unit": "1-12", "year": -(2**53), "weight": 0.1, "published": "2020", "reviewed": False},
    vectors=windows(EAST, towards(0.6), NORTH),
)


async def test_chunk_is_read_back_as_it_was_written(index: Index) -> None:
    await index.upsert(GENERATION, [FULL])
    [found] = await index.fetch(GENERATION, ["c1"], vectors=True)
    assert found == as_stored(FULL)
    assert found.vectors is not None
    np.testing.assert_array_equal(found.vectors, FULL.vectors)
    assert found.vectors.dtype == np.float32


async def test_both_legs_bring_the_whole_chunk_with_all_its_windows(index: Index) -> None:
    await index.upsert(GENERATION, [FULL])
    [by_words] = await index.keyword(GENERATION, ["w:iyi"], filter=None, limit=10)
    [by_vector] = await index.nearest(GENERATION, EAST, filter=None, limit=10)
    for hit in (by_words, by_vector):
        assert hit.chunk == as_stored(FULL)
        assert hit.chunk.vectors is not None
        np.testing.assert_array_equal(hit.chunk.vectors, FULL.vectors)


async def test_vectors_stay_behind_when_they_are_not_asked_for(index: Index) -> None:
    await index.upsert(GENERATION, [FULL])
    [by_words] = await index.keyword(GENERATION, ["w:iyi"], filter=None, limit=10, vectors=False)
    [by_vector] = await index.nearest(GENERATION, EAST, filter=None, limit=10, vectors=False)
    [fetched] = await index.fetch(GENERATION, ["c1"], vectors=False)
    [of_document] = await index.document_chunks(GENERATION, "papers/1")
    for chunk in (by_words.chunk, by_vector.chunk, fetched, of_document):
        assert chunk == as_stored(FULL)
        assert chunk.vectors is None


async def test_empty_chunk_is_kept_too(index: Index) -> None:
    bare = a_chunk("c1", text="", analysed="")
    await index.upsert(GENERATION, [bare])
    assert await index.fetch(GENERATION, ["c1"], vectors=False) == [as_stored(bare)]


async def test_upsert_replaces_text_tokens_metadata_and_windows(index: Index) -> None:
    before = a_chunk("c1", analysed="w:old", metadata={"unit": "1"}, vectors=windows(NORTH, EAST))
    after = a_chunk("c1", revision=2, text="New.", analysed="w:new", metadata={"unit": "2"}, vectors=windows(NORTH))
    await index.upsert(GENERATION, [before])
    await index.upsert(GENERATION, [after])
    assert await index.count(GENERATION) == 1
    assert await index.fetch(GENERATION, ["c1"], vectors=False) == [as_stored(after)]
    assert await found_by_words(index, "w:old") == []
    assert await found_by_words(index, "w:new") == ["c1"]
    [hit] = await index.nearest(GENERATION, EAST, filter=None, limit=10)
    assert hit.score == pytest.approx(0, abs=1e-6)  # the window that looked east is gone


async def test_last_of_two_chunks_with_one_id_counts(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("c1", text="first"), a_chunk("c2"), a_chunk("c1", text="second")])
    assert await index.count(GENERATION) == 2
    assert [chunk.text for chunk in await index.fetch(GENERATION, ["c1"], vectors=False)] == ["second"]


async def test_same_upsert_twice_changes_nothing(index: Index) -> None:
    chunks = [a_chunk(f"c{number}") for number in range(5)]
    await index.upsert(GENERATION, chunks)
    await index.upsert(GENERATION, chunks)
    assert await index.count(GENERATION) == 5
    assert await found_by_words(index, "w:all") == ["c0", "c1", "c2", "c3", "c4"]


async def test_deleted_chunks_are_found_by_no_way(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("gone", document_id="d"), a_chunk("stays", document_id="d")])
    await index.delete(GENERATION, ["gone", "was never there"])
    assert await index.count(GENERATION) == 1
    assert await index.existing(GENERATION, ["gone", "stays"]) == {"stays"}
    assert await index.fetch(GENERATION, ["gone"], vectors=False) == []
    assert await found_by_words(index, "w:all") == ["stays"]
    assert await found_by_vector(index) == ["stays"]
    assert [chunk.chunk_id for chunk in await index.document_chunks(GENERATION, "d")] == ["stays"]


async def test_nothing_to_write_or_delete_is_no_error(index: Index) -> None:
    await index.upsert(GENERATION, [])
    await index.delete(GENERATION, [])
    assert await index.count(GENERATION) == 0


async def test_fetch_keeps_the_order_asked_for_and_leaves_out_unknown_ids(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk(f"c{number}") for number in range(5)])
    found = await index.fetch(GENERATION, ["c3", "unknown", "c0", "c4"], vectors=False)
    assert [chunk.chunk_id for chunk in found] == ["c3", "c0", "c4"]
    assert await index.fetch(GENERATION, [], vectors=False) == []


async def test_thousands_of_ids_are_fetched_checked_and_deleted(index: Index) -> None:
    chunk_ids = [f"chunk {number:04d}" for number in range(2_500)]
    # Each with a vector of its own: a graph takes long over thousands that are the same.
    cosines = np.linspace(-1, 1, len(chunk_ids))
    chunks = [a_chunk(key, vectors=windows(towards(cosine))) for key, cosine in zip(chunk_ids, cosines, strict=True)]
    await index.upsert(GENERATION, chunks)
    wanted = chunk_ids[::-2]  # 1,250, backwards
    found = await index.fetch(GENERATION, wanted, vectors=True)
    assert [chunk.chunk_id for chunk in found] == wanted
    assert await index.existing(GENERATION, [*wanted, "unknown"]) == set(wanted)
    await index.delete(GENERATION, wanted)
    assert await index.count(GENERATION) == 1_250
    assert await index.existing(GENERATION, wanted) == set()


async def test_chunks_of_a_document_come_by_ordinal(index: Index) -> None:
    await index.upsert(
        GENERATION,
        [
            a_chunk("b", document_id="d", ordinal=1),
            a_chunk("z", document_id="d", ordinal=0),
            a_chunk("a", document_id="d", ordinal=1),
            a_chunk("other", document_id="d2", ordinal=0),
        ],
    )
    chunks = await index.document_chunks(GENERATION, "d", vectors=True)
    assert [chunk.chunk_id for chunk in chunks] == ["z", "a", "b"]
    assert all(chunk.vectors is not None for chunk in chunks)
    assert await index.document_chunks(GENERATION, "none") == []


HOSTILE = [
    "' OR 1=1 --",
    "a'b",
    "a\\'b",
    "\\",
    '"',
    "`x`",
    "%",
    "_",
    "a\x00b",
    "'; DROP TABLE g1; --",
    "é",
    "e\u0301",
    "😀",
]


async def test_hostile_ids_are_only_ids(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk(text, document_id=f"d{text}") for text in HOSTILE])
    for text in HOSTILE:
        assert [chunk.chunk_id for chunk in await index.fetch(GENERATION, [text], vectors=False)] == [text]
        assert await index.existing(GENERATION, [text, f"{text} "]) == {text}
        assert [chunk.chunk_id for chunk in await index.document_chunks(GENERATION, f"d{text}")] == [text]
    await index.delete(GENERATION, HOSTILE[:-1])
    assert await found_by_words(index, "w:all") == HOSTILE[-1:]


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros((0, 4), dtype=np.float32),
        np.ones((1, 3), dtype=np.float32),
        np.ones(4, dtype=np.float32),
        np.array([[np.nan, 0, 0, 0]], dtype=np.float32),
        np.array([[2, 0, 0, 0]], dtype=np.float32),
        np.array([[1, 0, 0, 0], [0, 0, 0, 0]], dtype=np.float32),
    ],
    ids=["no window", "other dimensions", "not a matrix", "not a number", "too long", "no direction"],
)
async def test_vectors_that_are_not_unit_rows_are_refused_and_nothing_is_written(
    index: Index, vectors: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await index.upsert(GENERATION, [a_chunk("good"), a_chunk("bad", vectors=vectors)])
    assert refusal.value.field == "vectors"
    assert await index.count(GENERATION) == 0


async def test_metadata_of_another_type_than_declared_is_refused_and_nothing_is_written(index: Index) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await index.upsert(GENERATION, [a_chunk("good"), a_chunk("bad", metadata={"year": "2021"})])
    assert refusal.value.field == "metadata.year"
    assert await index.count(GENERATION) == 0


async def test_chunks_of_several_documents_are_those_of_each(index: Index) -> None:
    await index.upsert(
        GENERATION,
        [
            a_chunk("b", document_id="two", ordinal=1),
            a_chunk("a", document_id="two", ordinal=0, vectors=windows(EAST, NORTH)),
            a_chunk("c", document_id="one"),
            a_chunk("d", document_id="not asked for"),
        ],
    )

    found = await index.chunks_of(GENERATION, ["one", "two", "none"], vectors=True)

    assert {document_id: [chunk.chunk_id for chunk in chunks] for document_id, chunks in found.items()} == {
        "one": ["c"],
        "two": ["a", "b"],
        "none": [],
    }
    first = found["two"][0].vectors
    assert first is not None
    np.testing.assert_array_equal(first, windows(EAST, NORTH))
    assert await index.chunks_of(GENERATION, []) == {}


async def test_a_chunk_is_found_by_everything_when_it_is_written_anew_after_it_was_forgotten(index: Index) -> None:
    await index.upsert(GENERATION, [FULL, a_chunk("c2")])
    await index.forget_interrupted(GENERATION, ["c1", "never there"])
    await index.upsert(GENERATION, [FULL])

    assert await index.existing(GENERATION, ["c1", "c2"]) == {"c1", "c2"}
    assert await index.count(GENERATION) == 2
    [by_words] = await index.keyword(GENERATION, ["w:iyi"], filter=None, limit=10)
    assert by_words.chunk.chunk_id == "c1"
    nearest = await index.nearest(GENERATION, EAST, filter=None, limit=10)
    assert "c1" in {hit.chunk.chunk_id for hit in nearest}
