"""Making and dropping generations."""

import numpy as np
import pytest

from services.shared.index.fields import FieldType
from services.shared.index.filters import Comparison, Op
from services.shared.index.port import Index
from services.shared.index.precision import Precision
from services.shared.runtime.errors import AlreadyExists, InvalidInput, NotFound
from tests.contract.index.examples import EAST, FIELDS, GENERATION, a_chunk, found_by_vector, found_by_words


async def test_all_generations_are_listed(index: Index) -> None:
    names = [f"g{number:02d}" for number in range(30)]
    for name in names:
        await index.create_generation(name, 4, {})
    assert await index.generations() == sorted([*names, GENERATION])


async def test_generation_is_made_twice_without_harm(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("c1")])
    await index.create_generation(GENERATION, 4, FIELDS)
    assert await found_by_words(index, "w:all") == ["c1"]


async def test_fields_declared_later_are_added_and_missing_where_they_were_not_given(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("before")])
    await index.create_generation(GENERATION, 4, {**FIELDS, "level": FieldType.KEYWORD})
    await index.upsert(GENERATION, [a_chunk("after", metadata={"level": "A1"})])
    assert await found_by_words(index, "w:all", filter=Comparison("level", Op.EQ, ("A1",))) == ["after"]
    assert await found_by_words(index, "w:all") == ["after", "before"]


async def test_field_that_the_generation_lacks_is_missing_everywhere(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("c1")])
    for unknown in ("level", "Unit", "UNIT"):
        assert await found_by_words(index, "w:all", filter=Comparison(unknown, Op.EXISTS)) == []


async def test_other_dimensions_or_another_type_are_refused(index: Index) -> None:
    with pytest.raises(AlreadyExists, match="dimensions"):
        await index.create_generation(GENERATION, 8, FIELDS)
    with pytest.raises(AlreadyExists, match="precision"):
        await index.create_generation(GENERATION, 4, FIELDS, precision=Precision.COMPACT)
    with pytest.raises(AlreadyExists, match="year"):
        await index.create_generation(GENERATION, 4, {**FIELDS, "year": FieldType.KEYWORD})


async def test_compact_vectors_are_found_and_read_as_whole_ones_but_for_a_thousandth(index: Index) -> None:
    await index.create_generation("compact", 64, {}, precision=Precision.COMPACT)
    rows = np.random.default_rng(1).standard_normal((200, 64)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chunks = [a_chunk(f"c{place:03d}", vectors=row[np.newaxis]) for place, row in enumerate(rows)]
    await index.upsert("compact", chunks)
    await index.create_generation("compact", 64, {}, precision=Precision.COMPACT)

    hits = await index.nearest("compact", rows[7], filter=None, limit=10)
    cosines = rows @ rows[7]
    assert [hit.chunk_id for hit in hits] == [f"c{place:03d}" for place in np.argsort(-cosines)[:10]]
    np.testing.assert_allclose([hit.score for hit in hits], np.sort(cosines)[::-1][:10], atol=1e-3)
    [read] = await index.fetch("compact", ["c007"], vectors=True)
    assert read.vectors is not None and read.vectors.dtype == np.float32
    np.testing.assert_allclose(read.vectors[0], rows[7], atol=1e-3)
    assert abs(np.linalg.norm(read.vectors) - 1) < 1e-6


@pytest.mark.parametrize("name", ["", "../outside", "a/b", "a b", "é"])
async def test_name_that_cannot_be_an_id_is_refused_or_not_there(index: Index, name: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await index.create_generation(name, 4, {})
    assert refusal.value.field == "generation_id"
    with pytest.raises(NotFound):
        await index.count(name)
    assert await index.generations() == [GENERATION]


@pytest.mark.parametrize("field", ["", "date", "a b", "a`b", "a.b", "1a", "ü", "x" * 64])
async def test_name_that_cannot_be_a_field_is_refused(index: Index, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await index.create_generation("g2", 4, {field: FieldType.KEYWORD})
    assert refusal.value.field == f"fields.{field}"
    assert await index.generations() == [GENERATION]


async def test_no_dimensions_are_refused(index: Index) -> None:
    with pytest.raises(InvalidInput):
        await index.create_generation("g2", 0, {})


async def test_dropped_generation_is_gone_and_may_be_made_anew(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("c1")])
    await index.drop_generation(GENERATION)
    assert await index.generations() == []
    await index.create_generation(GENERATION, 8, {})
    assert await index.count(GENERATION) == 0


async def test_dropping_what_is_not_there_is_no_error(index: Index) -> None:
    await index.drop_generation("never made")


async def test_every_call_on_a_missing_generation_says_so(index: Index) -> None:
    calls = [
        index.upsert("missing", [a_chunk("c1")]),
        index.delete("missing", ["c1"]),
        index.optimize("missing"),
        index.keyword("missing", ["w:all"], filter=None, limit=10),
        index.nearest("missing", EAST, filter=None, limit=10),
        index.fetch("missing", ["c1"], vectors=False),
        index.document_chunks("missing", "d"),
        index.count("missing"),
        index.existing("missing", ["c1"]),
    ]
    for call in calls:
        with pytest.raises(NotFound, match="missing"):
            await call


async def test_generations_do_not_see_one_another(index: Index) -> None:
    await index.create_generation("g2", 4, {})
    await index.upsert(GENERATION, [a_chunk("c1")])
    assert await index.count("g2") == 0
    await index.drop_generation("g2")
    assert await found_by_words(index, "w:all") == ["c1"]


async def test_empty_generation_answers_with_nothing(index: Index) -> None:
    await index.optimize(GENERATION)
    assert await found_by_words(index, "w:all") == []
    assert await found_by_vector(index) == []
    assert await index.count(GENERATION) == 0
    assert await index.existing(GENERATION, ["c1"]) == set()
    assert await index.fetch(GENERATION, ["c1"], vectors=True) == []
    assert await index.document_chunks(GENERATION, "d", vectors=True) == []
