import numpy as np
import pytest

from loadtests.search_bench.recall import recall

SCORES = np.array([[0.9, 0.8, 0.7, 0.6], [0.1, 0.2, 0.3, 0.4]], dtype=np.float32)


def test_recall_is_the_mean_share_of_the_nearest_that_was_found() -> None:
    found = [[("a", 0.9), ("d", 0.6)], [("d", 0.4), ("c", 0.3)]]
    assert recall(found, SCORES, limit=2) == pytest.approx((1 / 2 + 2 / 2) / 2)


def test_a_hit_behind_the_limit_does_not_count() -> None:
    assert recall([[("d", 0.6), ("a", 0.9)]], SCORES[:1], limit=1) == 0


def test_of_equal_scores_any_will_do() -> None:
    scores = np.array([[0.5, 0.5, 0.5, 0.1]], dtype=np.float32)
    assert recall([[("c", 0.5), ("b", 0.5)]], scores, limit=2) == 1


def test_only_rows_that_match_the_filter_are_wanted() -> None:
    among = np.array([False, False, True, True])
    assert recall([[("c", 0.7), ("d", 0.6)]], SCORES[:1], limit=10, among=among) == 1
    assert recall([[("c", 0.7)]], SCORES[:1], limit=10, among=among) == 0.5
