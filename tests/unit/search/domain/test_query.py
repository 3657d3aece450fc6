import math

import pytest

from services.search.domain.invalid_query import InvalidQuery
from services.search.domain.query import Mode, Query, Retrieval


def a_query(**changes: object) -> Query:
    return Query(**{"collection": "papers", "retrieval": Retrieval(), "text": "solar cells", **changes})


def field_refused(**changes: object) -> str:
    with pytest.raises(InvalidQuery) as refused:
        a_query(**changes)
    return refused.value.field


@pytest.mark.parametrize("text", ["x", "é" * 10_000, "???", "\U0001f600", "\x00"])
def test_a_text_of_1_to_10000_characters_is_a_query(text: str) -> None:
    assert a_query(text=text).text == text


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "　", "x" * 10_001, "half \ud800 pair"])
def test_other_texts_are_refused(text: str) -> None:
    assert field_refused(text=text) == "query"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"collection": ""}, "collection"),
        ({"limit": 0}, "limit"),
        ({"limit": 10_001}, "limit"),
        ({"limit": 10, "offset": 101}, "offset"),
        ({"cursor": "x", "offset": 10}, "offset"),
        ({"cursor": "x", "explain": True}, "explain"),
        ({"like_document_id": "d"}, "like_document_id"),
        ({"like_document_id": "d", "text": "", "mode": Mode.KEYWORD}, "mode"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_its_field(changes: dict[str, object], field: str) -> None:
    assert field_refused(**changes) == field


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("rrf_k", 0), ("rrf_k", 1001), ("depth", 0), ("depth", 1001), ("window", 0), ("window", 1001),
        ("keyword_weight", -0.1), ("keyword_weight", 10.1), ("vector_weight", math.nan),
    ],
)  # fmt: skip
def test_a_setting_out_of_bounds_is_refused_by_its_name(setting: str, value: float) -> None:
    with pytest.raises(InvalidQuery) as refused:
        Retrieval(**{setting: value})
    assert refused.value.field == f"retrieval.{setting}"


def test_two_weights_of_0_leave_no_leg() -> None:
    with pytest.raises(InvalidQuery, match="one of the weights must be above 0"):
        Retrieval(keyword_weight=0, vector_weight=0)


def test_a_hybrid_query_runs_the_legs_with_a_weight() -> None:
    assert a_query().weights == {Mode.KEYWORD: 1.0, Mode.VECTOR: 1.0}
    assert a_query(retrieval=Retrieval(keyword_weight=0, vector_weight=2)).weights == {Mode.VECTOR: 2.0}


def test_a_leg_alone_has_every_vote() -> None:
    only_keyword = Retrieval(keyword_weight=0)
    assert a_query(mode=Mode.KEYWORD, retrieval=only_keyword).weights == {Mode.KEYWORD: 1.0}
    assert a_query(mode=Mode.VECTOR).weights == {Mode.VECTOR: 1.0}


def test_documents_like_one_are_found_by_vectors_alone() -> None:
    assert a_query(text="", like_document_id="d").weights == {Mode.VECTOR: 1.0}


@pytest.mark.parametrize(
    ("changes", "keyword", "vector"),
    [
        ({"compares_hits": True}, True, True),
        # What only the keyword leg finds gets its cosine from its vectors.
        ({"compares_hits": False}, True, False),
        ({"compares_hits": False, "mode": Mode.KEYWORD}, False, False),
        ({"compares_hits": False, "retrieval": Retrieval(vector_weight=0)}, False, False),
        ({"compares_hits": False, "retrieval": Retrieval(collapse_by_document=True)}, True, True),
    ],
)
def test_vectors_are_read_where_something_is_made_of_them(
    changes: dict[str, object], keyword: bool, vector: bool
) -> None:
    query = a_query(**changes)
    assert (query.needs_vectors_of(Mode.KEYWORD), query.needs_vectors_of(Mode.VECTOR)) == (keyword, vector)
