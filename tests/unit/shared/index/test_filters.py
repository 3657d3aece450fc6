from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.index.fields import FieldType, FieldValue
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Not, Op, matches, validate
from services.shared.runtime.errors import InvalidInput

FIELDS = {
    "unit": FieldType.KEYWORD,
    "year": FieldType.INTEGER,
    "weight": FieldType.NUMBER,
    "published": FieldType.DATE,
    "reviewed": FieldType.BOOLEAN,
}
YEAR = Comparison("year", Op.EQ, (2021,))


def holds(filter: Filter, values: Mapping[str, FieldValue | None]) -> bool:
    return matches(validate(filter, FIELDS), values)


def refusal_of(filter: Filter) -> InvalidInput:
    with pytest.raises(InvalidInput) as refusal:
        validate(filter, FIELDS)
    return refusal.value


@pytest.mark.parametrize(
    ("op", "matching"),
    [
        (Op.EQ, [5]),
        (Op.NE, [4, 6, None]),
        (Op.GT, [6]),
        (Op.GTE, [5, 6]),
        (Op.LT, [4]),
        (Op.LTE, [4, 5]),
        (Op.IN, [5]),
    ],
)
def test_comparison_holds_for_the_values_it_names(op: Op, matching: list[int | None]) -> None:
    wanted = Comparison("year", op, (5,))
    assert [year for year in (4, 5, 6, None) if holds(wanted, {"year": year})] == matching


@pytest.mark.parametrize("op", [op for op in Op if op is not Op.NE])
def test_missing_value_fails_every_comparison_but_not_equal(op: Op) -> None:
    wanted = Comparison("year", op, () if op is Op.EXISTS else (5,))
    for values in ({}, {"year": None}):
        assert not holds(wanted, values)
        assert holds(Not(wanted), values)


def test_exists_takes_true_false_or_nothing() -> None:
    for there in (Comparison("year", Op.EXISTS), Comparison("year", Op.EXISTS, (True,))):
        assert holds(there, {"year": 0})
        assert not holds(there, {})
    absent = Comparison("year", Op.EXISTS, (False,))
    assert holds(absent, {})
    assert not holds(absent, {"year": 0})


def test_values_that_contain_one_another_are_different() -> None:
    assert not holds(Comparison("unit", Op.EQ, ("1-1",)), {"unit": "1-12"})
    assert not holds(Comparison("unit", Op.EQ, ("Verified",)), {"unit": "Not Verified"})


def test_all_holds_for_none_and_any_does_not() -> None:
    assert holds(AllOf(()), {})
    assert not holds(AnyOf(()), {})
    assert not holds(Comparison("year", Op.IN, ()), {"year": 1})


def test_groups_join_their_parts() -> None:
    late = Comparison("year", Op.GT, (2020,))
    first = Comparison("unit", Op.EQ, ("1",))
    assert holds(AllOf((late, first)), {"year": 2021, "unit": "1"})
    assert not holds(AllOf((late, first)), {"year": 2021, "unit": "2"})
    assert holds(AnyOf((late, first)), {"year": 2021, "unit": "2"})
    assert not holds(AnyOf((late, first)), {"unit": "2"})


_LEAVES = st.one_of(
    st.builds(
        Comparison, st.just("year"), st.sampled_from([Op.EQ, Op.NE, Op.LT, Op.GTE]), st.tuples(st.integers(0, 3))
    ),
    st.builds(Comparison, st.just("year"), st.just(Op.IN), st.lists(st.integers(0, 3), max_size=3).map(tuple)),
    st.builds(Comparison, st.just("year"), st.just(Op.EXISTS), st.sampled_from([(), (True,), (False,)])),
)
_FILTERS = st.recursive(
    _LEAVES,
    lambda parts: st.one_of(
        st.builds(Not, parts),
        st.builds(AllOf, st.lists(parts, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(parts, max_size=3).map(tuple)),
    ),
    max_leaves=8,
)


@given(_FILTERS, st.one_of(st.none(), st.integers(0, 3)))
def test_not_is_the_complement_and_the_normal_form_its_own(filter: Filter, year: int | None) -> None:
    normal = validate(filter, FIELDS)
    assert validate(normal, FIELDS) == normal
    assert matches(normal, {"year": year}) is not holds(Not(filter), {"year": year})


def test_normal_form_has_no_ne_and_brings_values_into_their_form() -> None:
    given_filter = AllOf(
        (
            Comparison("year", Op.NE, (2021.0,)),
            Comparison("published", Op.IN, ("2021", "2021-03")),
            Comparison("date", Op.LT, ("2020",)),
            Comparison("weight", Op.EQ, (-0.0,)),
            Comparison("id", Op.EXISTS, (False,)),
        )
    )
    assert validate(given_filter, FIELDS) == AllOf(
        (
            Not(Comparison("year", Op.EQ, (2021,))),
            Comparison("published", Op.IN, ("2021-01-01", "2021-03-01")),
            Comparison("date", Op.LT, ("2020-01-01",)),
            Comparison("weight", Op.EQ, (0.0,)),
            Not(Comparison("id", Op.EXISTS)),
        )
    )


@pytest.mark.parametrize("name", ["id", "title", "uri", "locale"])
def test_built_in_fields_are_always_there(name: str) -> None:
    wanted = Comparison(name, Op.EQ, ("x",))
    assert validate(wanted, {}) == wanted


def test_unknown_field_is_refused_with_the_fields_there_are() -> None:
    refusal = refusal_of(AllOf((YEAR, AnyOf((Not(Comparison("yaer", Op.EQ, (1,))),)))))
    assert refusal.field == "filter.all[1].any[0].not.field"
    assert "'yaer'" in refusal.message
    assert "date, id, locale, published, reviewed, title, unit, uri, weight, year" in refusal.message


@pytest.mark.parametrize(
    ("comparison", "path", "sentence"),
    [
        (Comparison("year", Op.EQ, ("2021",)), "filter.value", "type integer and takes a whole number"),
        (Comparison("unit", Op.IN, ("1", 2)), "filter.value[1]", "type keyword and takes a string"),
        (Comparison("date", Op.GTE, ("soon",)), "filter.value", "takes a date written as YYYY"),
        (Comparison("year", Op.EQ, (2**53 + 1,)), "filter.value", "2^53"),
        (Comparison("unit", Op.EQ, ("",)), "filter.value", "exists"),
        (Comparison("reviewed", Op.GT, (True,)), "filter.op", "boolean"),
        (Comparison("year", Op.EQ, ()), "filter.value", "eq takes one value, not 0"),
        (Comparison("year", Op.LT, (1, 2)), "filter.value", "lt takes one value, not 2"),
        (Comparison("year", Op.EXISTS, (1,)), "filter.value", "true, false or no value"),
        (Comparison("year", Op.EXISTS, (True, True)), "filter.value", "true, false or no value"),
        (Comparison("year", Op.IN, tuple(range(1_001))), "filter.value", "at most 1,000 values, not 1,001"),
    ],
)
def test_value_that_does_not_fit_is_refused_by_path_and_in_words(
    comparison: Comparison, path: str, sentence: str
) -> None:
    refusal = refusal_of(comparison)
    assert refusal.field == path
    assert sentence in refusal.message


def nested(levels: int) -> Filter:
    """YEAR at level `levels`."""
    filter: Filter = YEAR
    for _ in range(levels - 1):
        filter = Not(filter)
    return filter


def test_sixteen_levels_are_taken_and_one_more_is_refused() -> None:
    assert validate(nested(16), FIELDS) == nested(16)
    refusal = refusal_of(nested(17))
    assert refusal.field == "filter" + ".not" * 16
    assert "16 deep" in refusal.message


def test_256_comparisons_are_taken_and_one_more_is_refused() -> None:
    validate(AnyOf((AllOf((YEAR,) * 128), AllOf((YEAR,) * 128))), FIELDS)
    for too_many in (AnyOf((AllOf((YEAR,) * 128), AllOf((YEAR,) * 129))), AllOf((AnyOf(()),) * 257)):
        refusal = refusal_of(too_many)
        assert refusal.field == "filter"
        assert "256 comparisons" in refusal.message
