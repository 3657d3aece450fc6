import math

import pytest

from loadtests.quality.measures import measure
from loadtests.quality.stages import Found


def found(*ids: str) -> list[Found]:
    return [Found(one, None, None) for one in ids]


def test_values_are_those_worked_out_by_hand() -> None:
    relevance = {"q": {"a": 3, "b": 1}}
    values = measure({"q": found("x", "b", "a")}, relevance, attribute=False)
    # Gains are linear: b at place 2 and a at place 3, against a at 1 and b at 2.
    gain, ideal = 1 / math.log2(3) + 3 / math.log2(4), 3 / math.log2(2) + 1 / math.log2(3)
    assert values["nDCG@10"] == [pytest.approx(gain / ideal, abs=1e-4)]
    assert (values["P@10"], values["MRR@20"], values["recall@100"]) == ([0.2], [0.5], [1.0])


def test_order_counts_and_equal_scores_do_not_occur() -> None:
    relevance = {"q": {"z": 1}}
    first = measure({"q": found("z", "a", "b")}, relevance, attribute=False)
    last = measure({"q": found("a", "b", "z")}, relevance, attribute=False)
    assert (first["MRR@20"], last["MRR@20"]) == ([1.0], [0.3333])


def test_a_query_that_found_nothing_counts_as_nothing() -> None:
    values = measure({"q2": found("b")}, {"q1": {"a": 1}, "q2": {"b": 1}}, attribute=True)
    assert values["nDCG@10"] == [0.0, 1.0]
    assert values["distinct@20"] == [0.0, 0.0]


def test_values_stand_in_the_order_of_the_queries() -> None:
    rankings = {"b": found("x"), "a": found("y"), "c": found("z")}
    values = measure(rankings, {"c": {"z": 1}, "a": {"x": 1}, "b": {"x": 1}}, attribute=False)
    assert values["MRR@20"] == [1.0, 0.0, 1.0]


def test_different_values_and_mean_age_are_those_of_the_first_twenty() -> None:
    documents = [Found(f"d{place}", f"department {place % 4}", place) for place in range(20)]
    documents += [Found("late", "another", 99), Found("unknown", None, None)]
    values = measure({"q": documents}, {"q": {"d0": 1}}, attribute=True)
    assert (values["distinct@20"], values["age@20"]) == ([4.0], [9.5])


def test_an_unknown_age_is_left_out_and_ages_of_nobody_are_not_told() -> None:
    dated = [Found("a", None, 4), Found("b", None, None)]
    values = measure({"q1": dated, "q2": found("c")}, {"q1": {"a": 1}, "q2": {"c": 1}}, attribute=False)
    assert values["age@20"] == [4.0, None]
    assert "age@20" not in measure({"q": found("a")}, {"q": {"a": 1}}, attribute=False)


def test_distinct_values_are_told_only_where_there_is_an_attribute() -> None:
    assert "distinct@20" not in measure({"q": found("a")}, {"q": {"a": 1}}, attribute=False)
