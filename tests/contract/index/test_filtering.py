"""Filters mean on every engine what `filters.matches` says."""

import asyncio
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.shared.index.fields import BUILT_IN_FIELDS, FieldType, FieldValue, comparable
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Not, Op, matches, validate
from services.shared.index.port import Index
from tests.contract.index.conftest import OpenIndex
from tests.contract.index.examples import (
    FIELDS,
    GENERATION,
    a_chunk,
    found_by_vector,
    found_by_words,
    with_metadata,
)

# Values that contain one another, differ in one letter, sort oddly, or mean something elsewhere.
KEYWORDS = [
    *("1-1", "1-12", "1-2", "Verified", "Not Verified", "verified", "A", "Z", "a", "x", " x", "x "),
    *("İstanbul", "istanbul", "ıslak", "islak", "हिन्दी", "हिन्द", "हिंदी", "café", "cafe\u0301", "😀", "\ufffd"),
    *("a'b", "a\\'b", "\\", "%", "_", "null", "true", "0"),
]
INTEGERS = [0, 1, -1, 2020, 2021, 2**53, 2**53 - 1, -(2**53), 1 - 2**53]
NUMBERS = [0.0, -0.0, 0.1, 0.1 + 2**-56, 1 / 3, -2.5, 1e-300, 1e300, 2.0**53, 2021.0]
DATES = ["2020", "2020-01", "2020-01-01", "2020-02-29", "2021", "2021-03", "2021-03-01", "2021-03-02", "1999-12-31"]
VALUES: Mapping[FieldType, list[Any]] = {
    FieldType.KEYWORD: KEYWORDS,
    FieldType.INTEGER: INTEGERS,
    FieldType.NUMBER: NUMBERS,
    FieldType.DATE: DATES,
    FieldType.BOOLEAN: [True, False],
}
ALL_FIELDS = {**FIELDS, **BUILT_IN_FIELDS}


def random_values(rng: random.Random) -> dict[str, FieldValue]:
    return {name: rng.choice(VALUES[declared]) for name, declared in ALL_FIELDS.items() if rng.random() < 0.7}


def random_filter(rng: random.Random, depth: int = 1) -> Filter:
    kind = rng.random()
    if depth < 5 and kind < 0.45:
        parts = tuple(random_filter(rng, depth + 1) for _ in range(rng.randint(0, 3)))
        return AllOf(parts) if kind < 0.25 else AnyOf(parts)
    if depth < 5 and kind < 0.6:
        return Not(random_filter(rng, depth + 1))
    name, declared = rng.choice(list(ALL_FIELDS.items()))
    op = rng.choice([Op.EQ, Op.NE, Op.IN, Op.EXISTS] if declared is FieldType.BOOLEAN else list(Op))
    if op is Op.EXISTS:
        return Comparison(name, op, rng.choice([(), (True,), (False,)]))
    return Comparison(name, op, tuple(rng.choices(VALUES[declared], k=rng.randint(0, 4) if op is Op.IN else 1)))


async def test_engine_agrees_with_the_reference_on_random_filters_over_random_rows(index: Index) -> None:
    rng = random.Random(11)
    rows = {f"c{number:03d}": random_values(rng) for number in range(150)}
    await index.upsert(
        GENERATION,
        [
            a_chunk(
                chunk_id,
                document_id=values.get("id", f"doc-{chunk_id}"),
                **{name: values.get(name, "") for name in ("title", "uri", "locale", "date")},
                metadata={name: values[name] for name in FIELDS if name in values},
            )
            for chunk_id, values in rows.items()
        ],
    )
    compared: dict[str, Mapping[str, FieldValue | None]] = {
        chunk_id: {"id": f"doc-{chunk_id}"}
        | {name: comparable(value, ALL_FIELDS[name]) for name, value in values.items()}
        for chunk_id, values in rows.items()
    }
    sizes = set()
    for _ in range(300):
        wanted = validate(random_filter(rng), FIELDS)
        expected = [chunk_id for chunk_id, values in compared.items() if matches(wanted, values)]
        assert await index.count(GENERATION, wanted) == len(expected), wanted
        assert await found_by_words(index, "w:all", filter=wanted, limit=200) == expected, wanted
        assert await found_by_vector(index, filter=wanted, limit=200) == expected, wanted
        sizes.add(len(expected))
    assert len(sizes) > 50  # the filters were not all empty or all full


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (Comparison("unit", Op.EQ, ("1-1",)), "c000"),
        (Comparison("unit", Op.EQ, ("1-12",)), "c001"),
        (Comparison("unit", Op.EQ, ("Verified",)), "c002"),
        (Comparison("unit", Op.EQ, ("Not Verified",)), "c003"),
        (Comparison("unit", Op.EQ, ("İstanbul",)), "c004"),
        (Comparison("unit", Op.EQ, ("हिन्दी",)), "c006"),
        (Comparison("unit", Op.IN, ("1-12", "हिन्दी", "1-")), "c001 c006"),
        (Comparison("unit", Op.NE, ("1-1",)), "c001 c002 c003 c004 c005 c006 c007"),
        (Not(Comparison("unit", Op.EXISTS)), "c007"),
        (Not(Comparison("unit", Op.GT, ("A",))), "c000 c001 c007"),
    ],
)
async def test_keyword_is_compared_whole(index: Index, filter: Filter, expected: str) -> None:
    units = ["1-1", "1-12", "Verified", "Not Verified", "İstanbul", "istanbul", "हिन्दी"]
    await index.upsert(GENERATION, with_metadata([*({"unit": unit} for unit in units), {}]))
    assert await found_by_words(index, "w:all", filter=validate(filter, FIELDS)) == expected.split()


@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        (Op.EQ, 2**53, "c001"),
        (Op.EQ, 2**53 - 1, "c000"),
        (Op.GT, 2**53 - 1, "c001"),
        (Op.GTE, 2**53, "c001"),
        (Op.LT, -(2**53) + 1, "c002"),
        (Op.NE, 2**53, "c000 c002 c003"),
    ],
)
async def test_integers_are_exact_to_the_last_one(index: Index, op: Op, value: int, expected: str) -> None:
    await index.upsert(
        GENERATION, with_metadata([{"year": 2**53 - 1}, {"year": 2**53}, {"year": -(2**53)}, {"weight": 1.0}])
    )
    wanted = validate(Comparison("year", op, (value,)), FIELDS)
    assert await found_by_words(index, "w:all", filter=wanted) == expected.split()


@pytest.mark.parametrize("field", ["published", "date"])
@pytest.mark.parametrize(
    ("op", "value", "expected"),
    [
        (Op.EQ, "2021", "year month day"),
        (Op.EQ, "2021-01", "year month day"),
        (Op.GTE, "2021", "year month day next"),
        (Op.GT, "2021", "next"),
        (Op.LT, "2021", "before"),
        (Op.LTE, "2021-01-01", "before year month day"),
        (Op.NE, "2021-01-01", "before missing next"),
    ],
)
async def test_partial_date_is_the_start_of_its_period(
    index: Index, field: str, op: Op, value: str, expected: str
) -> None:
    dates = {"year": "2021", "month": "2021-01", "day": "2021-01-01", "next": "2021-01-02", "before": "2020-12-31"}
    chunks = [
        a_chunk(name, date=date) if field == "date" else a_chunk(name, metadata={field: date})
        for name, date in dates.items()
    ]
    await index.upsert(GENERATION, [*chunks, a_chunk("missing")])
    wanted = validate(Comparison(field, op, (value,)), FIELDS)
    assert set(await found_by_words(index, "w:all", filter=wanted)) == set(expected.split())


async def test_date_that_is_none_and_empty_values_are_missing(index: Index) -> None:
    await index.upsert(GENERATION, [a_chunk("c1", date="last spring", metadata={"unit": "", "published": ""})])
    for field in ("date", "unit", "published", "title", "uri", "locale"):
        assert await found_by_words(index, "w:all", filter=Comparison(field, Op.EXISTS)) == []
        assert await found_by_words(index, "w:all", filter=Not(Comparison(field, Op.EXISTS))) == ["c1"]


async def test_largest_filters_are_answered(index: Index) -> None:
    await index.upsert(GENERATION, with_metadata([{"year": number} for number in range(100)]))
    wide = AnyOf(tuple(Comparison("year", Op.EQ, (number,)) for number in range(50, 306)))
    many = Comparison("year", Op.IN, tuple(range(50, 1_050)))
    deep: Filter = Comparison("year", Op.GTE, (50,))
    for _ in range(7):
        deep = Not(AllOf((deep,)))
    for wanted in (wide, many, Not(deep)):
        assert await index.count(GENERATION, validate(wanted, FIELDS)) == 50


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(texts=st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=20, unique=True))
def test_any_text_is_found_by_itself_and_by_nothing_else(open_index: OpenIndex, texts: list[str]) -> None:
    async def check() -> None:
        index = await open_index()
        await index.drop_generation("texts")
        await index.create_generation("texts", 4, FIELDS)
        await index.upsert("texts", with_metadata([{"unit": text} for text in texts]))
        for place, text in enumerate(texts):
            wanted = validate(Comparison("unit", Op.EQ, (text,)), FIELDS)
            [hit] = await index.keyword("texts", ["w:all"], filter=wanted, limit=100)
            assert hit.chunk.chunk_id == f"c{place:03d}"
        below = validate(Comparison("unit", Op.LT, (texts[0],)), FIELDS)
        assert await index.count("texts", below) == sum(text < texts[0] for text in texts)
        await index.close()

    asyncio.run(check())
