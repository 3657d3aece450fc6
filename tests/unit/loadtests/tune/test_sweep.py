import pytest

from loadtests.tune.sweep import (
    Trial,
    best,
    choose,
    diversity_grid,
    most_varied_within,
    newest_within,
    recency_grid,
    relevance_grid,
    trials,
)
from loadtests.tune.values import Run
from tests.unit.loadtests.tune.examples import captured, knobs


def a_run(values: list[float], **others: list[float]) -> Run:
    return Run({"P@10": values, **others}, ())


def trial(name: str, values: list[float], **others: list[float]) -> Trial:
    return Trial({"name": name}, a_run(values, **others))


def test_every_setting_of_the_grids_is_within_its_bounds_and_tried_once() -> None:
    grids = [*relevance_grid(both_legs=True), *recency_grid(), *diversity_grid(attribute=True)]
    assert len({repr(settings) for settings in grids}) == len(grids)
    for settings in grids:
        assert knobs(**settings).policy


def test_without_an_attribute_redundancy_is_the_cosine_alone() -> None:
    assert {settings["mmr_cosine_share"] for settings in diversity_grid(attribute=False)} == {1.0}


def test_trials_rank_all_queries_by_each_setting() -> None:
    queries = [captured("a", by_words="ab", by_meaning="ba"), captured("b", by_words="ab", by_meaning="ba", name="r")]
    by_words, by_meaning = trials(queries, knobs(), [{"vector_weight": 0.0}, {"keyword_weight": 0.0}])
    assert by_words.run.values["MRR@20"] == [1.0, 0.5]
    assert by_meaning.run.values["MRR@20"] == [0.5, 1.0]


def test_the_best_of_equals_is_the_earlier_one() -> None:
    assert best("P@10")({}, [{"P@10": 0.1}, {"P@10": 0.4}, {"P@10": 0.4}]) == 1


def test_variety_is_bought_at_its_price_only() -> None:
    base = {"P@10": 0.5, "distinct@20": 6.0}
    offers = [{"P@10": 0.49, "distinct@20": 8.0}, {"P@10": 0.47, "distinct@20": 12.0}]
    assert most_varied_within("P@10", 0.01001)(base, offers) == 0
    assert most_varied_within("P@10", 0.03001)(base, offers) == 1
    assert most_varied_within("P@10", 0.001)(base, offers) is None


def test_fresher_is_a_lower_age() -> None:
    base = {"P@10": 0.5, "age@20": 9.0}
    offers = [{"P@10": 0.5, "age@20": 9.5}, {"P@10": 0.5, "age@20": 8.0}]
    assert newest_within("P@10", 0.0)(base, offers) == 1


def test_a_gain_on_the_queries_that_chose_is_not_told_as_the_gain_on_others() -> None:
    # Each trial is good at one query alone. Whichever fold is held out, the others choose for themselves, and the held
    # out query has nothing of it.
    base = a_run([0.5] * 5)
    tried = [trial(str(place), [1.0 if query == place else 0.0 for query in range(5)]) for place in range(5)]
    choice = choose(base, [trial("base", [0.5] * 5), *tried], best("P@10"), measure="P@10")
    assert choice is not None
    assert choice.trial.settings == {"name": "base"}
    good_for_four = [trial("four", [0.9] * 4 + [0.0]), trial("all", [0.7] * 5)]
    choice = choose(base, good_for_four, best("P@10"), measure="P@10")
    assert choice is not None
    assert choice.trial.settings["name"] == "four"
    # Where the last query chooses, "all" wins by 0.7 against 0.675; held out, that one has 0.0 from the others' choice.
    assert choice.held_out.mean.value == pytest.approx((4 * 0.2 - 0.5) / 5)
    assert choice.votes == 1


def test_where_no_trial_is_worth_its_price_nothing_is_chosen() -> None:
    base = a_run([0.5] * 4, **{"distinct@20": [3.0] * 4})
    worse = trial("worse", [0.1] * 4, **{"distinct@20": [9.0] * 4})
    assert choose(base, [worse], most_varied_within("P@10", 0.01), measure="P@10") is None
