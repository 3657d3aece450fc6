"""A tuning on queries that are ranked by hand: what is chosen, and what is left as the collection has it."""

from collections.abc import Iterable, Sequence

import pytest

from loadtests.tune.capture import Captured
from loadtests.tune.captured import CapturedQuery
from loadtests.tune.report import markdown
from loadtests.tune.sweep import Settings
from loadtests.tune.tuning import Tuning, changed_settings, tune
from services.local.failure import Failure
from services.shared.catalog.collection_settings import CollectionSettings
from services.shared.catalog.declaration import declare
from tests.unit.loadtests.tune.examples import captured, knobs

DECLARATION = declare("c", profile="docs", locale="en", fields={}, settings={})


def untracked(_: str, settings: Sequence[Settings]) -> Iterable[Settings]:
    return settings


def tuned(*queries: CapturedQuery, **own: object) -> Tuning:
    found = Captured(DECLARATION, "g1", "tiny", queries)
    return tune(found, knobs(**own), measure="nDCG@10", cost=0.01, tracked=untracked)


def in_meaning_alone(count: int) -> list[CapturedQuery]:
    """The vector leg leads with the right document, and the keyword leg has it last."""
    return [captured("d", by_words="abcd", by_meaning="dcba", name=f"q{place}") for place in range(count)]


def test_a_leg_that_is_right_every_time_gets_its_weight() -> None:
    tuning = tuned(*in_meaning_alone(10))
    (step,) = (one for one in tuning.steps if one.name == "relevance")
    assert step.taken
    assert set(tuning.tuned.values["nDCG@10"]) == {1.0}


def test_one_lucky_query_in_ten_changes_nothing() -> None:
    right = [captured("a", name=f"q{place}") for place in range(9)]
    tuning = tuned(*right, *in_meaning_alone(1))
    assert not tuning.steps[0].taken
    own = knobs()
    assert tuning.knobs.retrieval == own.retrieval
    assert tuning.knobs.ranking == own.ranking


def test_variety_within_its_price_is_chosen_and_the_floor_stays_the_collection_s() -> None:
    attributes = {"a": "law", "b": "law", "c": "art", "d": "law"}
    queries = [captured("a", attributes=attributes, name=f"q{place}") for place in range(10)]
    # All four documents are shown whatever their order, so none is worth its price.
    tuning = tuned(*queries, diversify_by="kind", min_distinct=3)
    assert [step.choice for step in tuning.steps if step.name == "diversity"] == [None]
    assert (tuning.knobs.ranking.mmr, tuning.knobs.ranking.min_distinct) == (False, 3)


def test_without_any_date_recency_is_not_tuned() -> None:
    undated = [captured("a", name=f"q{place}") for place in range(10)]
    assert [step.name for step in tuned(*undated).steps] == ["relevance", "diversity"]
    dated = [captured("a", dates={"a": "2001", "b": "2026"}, name=f"q{place}") for place in range(10)]
    assert [step.name for step in tuned(*dated).steps] == ["relevance", "recency", "diversity"]


def test_too_few_queries_tell_nothing() -> None:
    with pytest.raises(Failure, match="c has 9 judged queries"):
        tuned(*in_meaning_alone(9))


def test_the_settings_file_holds_only_what_differs() -> None:
    own = CollectionSettings()
    changed = knobs(relevance="completed", recency_tiers=own.ranking.recency_tiers, keyword_gate=0.3)
    assert changed_settings(own, changed) == {"retrieval": {"keyword_gate": 0.3}}


def test_the_report_tells_every_step_and_the_settings() -> None:
    tuning = tuned(*in_meaning_alone(10))
    found = Captured(DECLARATION, "g1", "tiny", tuple(in_meaning_alone(10)))
    text = markdown(
        found, tuning, date="2026-11-30", measure="nDCG@10", cost=0.01,
        settings={"retrieval": {"rrf_k": 10}}, picture="tuning.png",
    )  # fmt: skip
    for part in ("# Tuning of c", "## Relevance", "## Diversity", "PATCH /v1/collections/c", '"rrf_k": 10'):
        assert part in text
