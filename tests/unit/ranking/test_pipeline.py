"""One window through all steps, and the places that the ledger tells."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ranking.domain.relevance import Relevance
from services.ranking.domain.window import Candidate, LegRank, Policy, RecencyTier, Window
from services.ranking.pipeline import rank

TODAY = date(2026, 11, 30)
TIERS = (RecencyTier(1, 1.2), RecencyTier(5, 1.0), RecencyTier(None, 0.9))
TOP, FLOOR = 2 / 61, 1 / 161


def window(count: int, **changes: dict[int, object]) -> Window:
    """`count` candidates, first in fused order first; `date={3: "2026"}` sets one candidate's field."""
    candidates = [
        Candidate(f"c{index}", 1 / (61 + index) + 1 / (61 + index), LegRank(index + 1), LegRank(index + 1))
        for index in range(count)
    ]
    for field, values in changes.items():
        for index, value in values.items():
            candidates[index] = replace(candidates[index], **{field: value})
    return Window(tuple(candidates), np.eye(count, max(count, 1), dtype=np.float32), TOP, FLOOR)


def ids(window_: Window, policy: Policy) -> list[str]:
    return [hit.candidate.id for hit in rank(window_, policy, today=TODAY).hits]


def test_an_empty_window_gives_no_hits() -> None:
    assert rank(window(0), Policy(recency_tiers=TIERS, mmr=True, min_distinct=3), today=TODAY).hits == ()


def test_without_any_step_the_fused_order_stands() -> None:
    assert ids(window(4), Policy()) == ["c0", "c1", "c2", "c3"]


def test_a_newer_hit_rises_but_the_leader_of_both_legs_stays() -> None:
    dated = window(3, date={0: "2001", 1: "2001", 2: "2026"})
    assert ids(dated, Policy(recency_tiers=TIERS)) == ["c0", "c2", "c1"]
    assert ids(dated, Policy(recency_tiers=TIERS, protect_leader=False)) == ["c2", "c0", "c1"]


def test_exact_hits_stand_first_and_no_step_moves_a_hit_across() -> None:
    mixed = window(4, exact={2: True, 3: True}, date={0: "2026", 1: "2026"})
    assert ids(mixed, Policy(recency_tiers=TIERS, mmr=True)) == ["c2", "c3", "c0", "c1"]


def test_lambda_one_leaves_the_order_of_recency_as_it_is() -> None:
    dated = window(6, date={4: "2026", 5: "2026"})
    recency_alone = Policy(recency_tiers=TIERS, protect_leader=False)
    assert ids(dated, replace(recency_alone, mmr=True, mmr_lambda=1.0)) == ids(dated, recency_alone)


def test_missing_vectors_are_ranked_without_redundancy_and_said_so() -> None:
    blind = window(3)
    blind = replace(blind, vectors=np.zeros((3, 1), np.float32))
    ranking = rank(blind, Policy(mmr=True), today=TODAY)
    assert ranking.degraded == ("redundancy",)
    assert [hit.candidate.id for hit in ranking.hits] == ["c0", "c1", "c2"]


def test_the_ledger_tells_the_place_after_each_step_that_ran() -> None:
    dated = window(3, date={0: "2001", 2: "2026"}, attribute={0: "law", 1: "law", 2: "art"})
    policy = Policy(recency_tiers=TIERS, protect_leader=False, mmr=True, min_distinct=2, min_distinct_within=2)
    first = rank(dated, policy, today=TODAY).hits[0]
    assert [(place.step, place.place) for place in first.places] == [
        ("fused", 3),
        ("recency", 1),
        ("mmr", 1),
        ("floor", 1),
    ]
    assert (first.age_years, first.multiplier) == (0, 1.2)


def test_the_floor_says_who_was_lifted_and_for_whom() -> None:
    values = window(4, attribute={0: "law", 1: "law", 2: "law", 3: "art"})
    hits = rank(values, Policy(min_distinct=2, min_distinct_within=2), today=TODAY).hits
    assert [hit.candidate.id for hit in hits] == ["c0", "c3", "c1", "c2"]
    assert "too few different values" in hits[1].floor_reason
    assert hits[2].floor_reason == "gave way to c3"


@given(st.integers(0, 30), st.booleans(), st.integers(0, 4), st.data())
def test_every_candidate_comes_back_once_and_inputs_stay_as_they_were(
    count: int, mmr: bool, min_distinct: int, data: st.DataObject
) -> None:
    dates = data.draw(st.lists(st.sampled_from(["", "2026", "2020", "1999"]), min_size=count, max_size=count))
    exact = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    given_window = window(count, date=dict(enumerate(dates)), exact=dict(enumerate(exact)))
    before = given_window.vectors.copy()
    policy = Policy(recency_tiers=TIERS, mmr=mmr, min_distinct=min_distinct)
    hits = rank(given_window, policy, today=TODAY).hits
    assert sorted(hit.candidate.id for hit in hits) == sorted(c.id for c in given_window.candidates)
    assert (given_window.vectors == before).all()
    places = [hit.places[-1].place for hit in hits]
    assert places == list(range(1, count + 1))


def with_scores(keyword: list[float | None], cosines: list[float | None]) -> Window:
    """Candidates in fused order with these raw scores."""
    candidates = [
        Candidate(f"c{index}", 1 / (61 + index), LegRank(index + 1, words), LegRank(index + 1, cosine))
        for index, (words, cosine) in enumerate(zip(keyword, cosines, strict=True))
    ]
    return Window(tuple(candidates), np.eye(len(candidates), dtype=np.float32), TOP, FLOOR)


COMPLETED = Policy(relevance=Relevance.COMPLETED)


def test_completed_relevance_orders_by_both_raw_scores() -> None:
    scored = with_scores([5, 5, 5], [0.1, 0.9, 0.5])
    hits = rank(scored, COMPLETED, today=TODAY).hits
    assert [hit.candidate.id for hit in hits] == ["c1", "c2", "c0"]
    assert [hit.relevance for hit in hits] == [1.0, 0.5, 0.0]
    assert {hit.relevance_kind for hit in hits} == {Relevance.COMPLETED}
    assert [(place.step, place.place) for place in hits[0].places] == [("fused", 2), ("relevance", 1)]


def test_a_cosine_that_the_vector_leg_did_not_give_is_completed_from_the_vectors() -> None:
    scored = with_scores([5, 5], [0.5, None])
    scored = replace(scored, query_vector=np.array([0.6, 0.8], np.float32))
    first, second = rank(scored, COMPLETED, today=TODAY).hits
    assert first.candidate.id == "c1"
    assert first.candidate.vector.completed
    assert first.candidate.vector.score == pytest.approx(0.8)
    assert (second.candidate.vector.completed, second.candidate.vector.score) == (False, 0.5)


def test_without_a_raw_score_of_every_hit_relevance_is_told_by_the_fused_score() -> None:
    for scored in (with_scores([5, None], [0.1, 0.9]), with_scores([5, 6], [0.1, None])):
        hits = rank(scored, COMPLETED, today=TODAY).hits
        assert [hit.candidate.id for hit in hits] == ["c0", "c1"]
        assert {hit.relevance_kind for hit in hits} == {Relevance.FUSED}


def test_the_bound_of_recency_counts_from_the_place_by_relevance() -> None:
    # By cosine the fused last is first; eleven newer hits behind it may push it down by five places only.
    scored = with_scores([5.0] * 12, [0.5 + index / 1000 for index in range(12)])
    aged = replace(
        scored,
        candidates=tuple(
            replace(one, date="2001" if one.id == "c11" else "2026", keyword=LegRank(2, 5.0))
            for one in scored.candidates
        ),
    )
    order = ids(aged, replace(COMPLETED, recency_tiers=(RecencyTier(1, 10), RecencyTier(None, 0.001))))
    assert order.index("c11") == 5


def test_near_duplicates_collapse_into_the_best_and_are_named() -> None:
    same = window(4, text_sha256={0: "a", 1: "b", 2: "a", 3: "c"})
    hits = rank(same, Policy(near_duplicate_cosine=1.0), today=TODAY).hits
    assert [(hit.candidate.id, hit.duplicates) for hit in hits] == [("c0", ("c2",)), ("c1", ()), ("c3", ())]


def test_near_duplicates_stay_apart_unless_asked() -> None:
    assert ids(window(2, text_sha256={0: "a", 1: "a"}), Policy()) == ["c0", "c1"]


def test_mmr_fills_the_places_that_are_wanted_and_leaves_the_rest_in_order() -> None:
    alike = replace(window(5), vectors=np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1]], np.float32))
    hits = rank(alike, Policy(mmr=True, mmr_lambda=0.1), today=TODAY, limit=2).hits
    assert [hit.candidate.id for hit in hits] == ["c0", "c4", "c1", "c2", "c3"]
    assert [hit.redundancy for hit in hits] == [0.0, 0.0, None, None, None]


EVERYTHING = Policy(
    relevance=Relevance.COMPLETED, recency_tiers=TIERS, mmr=True, min_distinct=3, near_duplicate_cosine=0.0
)


def test_one_candidate_is_the_order() -> None:
    assert ids(window(1), EVERYTHING) == ["c0"]
    assert ids(with_scores([5.0], [0.5]), EVERYTHING) == ["c0"]


def test_more_places_than_candidates_are_filled_by_all_of_them() -> None:
    hits = rank(window(3), EVERYTHING, today=TODAY, limit=1000).hits
    assert [hit.candidate.id for hit in hits] == ["c0", "c1", "c2"]
    assert all(hit.marginal_gain is not None for hit in hits)


def test_where_all_scores_and_all_vectors_are_equal_the_fused_order_stands() -> None:
    alike = with_scores([5.0] * 5, [0.5] * 5)
    alike = replace(alike, vectors=np.tile(np.array([[0.6, 0.8]], np.float32), (5, 1)))
    assert ids(alike, EVERYTHING) == [f"c{index}" for index in range(5)]


def test_without_any_date_recency_changes_nothing() -> None:
    undated = window(6, date={1: "", 2: "soon", 3: "9999", 4: "9999-12-31"})
    hits = rank(undated, Policy(recency_tiers=TIERS, protect_leader=False), today=TODAY).hits
    assert [hit.candidate.id for hit in hits] == [f"c{index}" for index in range(6)]
    assert {hit.multiplier for hit in hits} == {1.0}


def test_an_attribute_that_no_candidate_has_spreads_nothing_and_lifts_nobody() -> None:
    spread = Policy(mmr=True, mmr_cosine_share=0.5, min_distinct=3, min_distinct_within=2)
    hits = rank(window(4), spread, today=TODAY).hits
    assert [hit.candidate.id for hit in hits] == ["c0", "c1", "c2", "c3"]
    assert {hit.floor_reason for hit in hits} == {""}


def test_with_a_bound_fused_first_stays_within_place_six_and_twelfth_does_not_pass_place_seven() -> None:
    # Fused hit 1 is old, eleven newer ones come behind it; the twelfth is as new as the others.
    dated = window(12, date={0: "1990", **dict.fromkeys(range(1, 12), "2026")})
    leads_one_leg = replace(dated, candidates=(replace(dated.candidates[0], vector=LegRank(2)), *dated.candidates[1:]))
    strong = (RecencyTier(1, 10), RecencyTier(None, 0.001))
    bounded = Policy(recency_tiers=strong, recency_places=5)
    assert ids(leads_one_leg, bounded).index("c0") == 5
    assert ids(leads_one_leg, replace(bounded, recency_places=1000)).index("c0") == 11
    assert ids(dated, bounded)[0] == "c0"  # first in both legs
    newest_last = window(12, date={**dict.fromkeys(range(11), "1990"), 11: "2026"})
    unled = replace(
        newest_last, candidates=(replace(newest_last.candidates[0], vector=LegRank(2)), *newest_last.candidates[1:])
    )
    assert ids(unled, bounded).index("c11") == 6
    assert ids(unled, replace(bounded, recency_places=1000))[0] == "c11"


def test_relevance_is_raised_to_its_power_before_it_is_weighed_against_redundancy() -> None:
    # c1 is like c0 by 0.9, c2 is like neither.
    scored = with_scores([5, 5, 5], [1.0, 0.8, 0.5])
    aside = float(np.sqrt(1 - 0.9**2))
    scored = replace(scored, vectors=np.array([[1, 0, 0], [0.9, aside, 0], [0, 0, 1]], np.float32))
    plain = Policy(relevance=Relevance.COMPLETED, cosine_share=1.0, mmr=True, mmr_lambda=0.5)
    gains = {hit.candidate.id: hit.marginal_gain for hit in rank(scored, plain, today=TODAY).hits}
    raised = {
        hit.candidate.id: hit.marginal_gain
        for hit in rank(scored, replace(plain, mmr_relevance_power=2.0), today=TODAY).hits
    }
    # Over the window relevance is 1, 0.6 and 0, squared 1, 0.36 and 0.
    assert gains["c1"] == pytest.approx(0.5 * 0.6 - 0.5 * 0.9, abs=1e-5)
    assert raised["c1"] == pytest.approx(0.5 * 0.36 - 0.5 * 0.9, abs=1e-5)
    assert (raised["c0"], raised["c2"]) == (0.5, 0.0)


def test_with_lambda_one_no_power_changes_the_order() -> None:
    scored = with_scores([1, 2, 3, 4], [0.4, 0.1, 0.3, 0.2])
    relevance_alone = Policy(relevance=Relevance.COMPLETED)
    diverse = replace(relevance_alone, mmr=True, mmr_lambda=1.0, mmr_relevance_power=3.0)
    assert ids(scored, diverse) == ids(scored, relevance_alone)
