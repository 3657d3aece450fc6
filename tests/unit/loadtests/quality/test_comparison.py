import pytest

from loadtests.quality.comparison import compare
from services.local.failure import Failure
from tests.unit.loadtests.quality.examples import figures

GOOD = [1.0, 0.6, 0.8, 1.0, 0.5, 0.9, 0.7, 1.0, 0.6, 0.8] * 5


def test_the_same_figures_are_not_worse() -> None:
    comparison = compare(figures(GOOD), figures(GOOD))
    assert not comparison.is_worse
    (difference,) = comparison.differences
    assert (difference.accepted, difference.p, difference.is_better) == (pytest.approx(0.79), 1.0, False)


def test_a_drop_beyond_chance_is_worse_and_a_rise_is_better() -> None:
    low = [value - 0.2 for value in GOOD]
    assert compare(figures(low), figures(GOOD)).is_worse
    risen = compare(figures(GOOD), figures(low))
    assert not risen.is_worse
    assert risen.differences[0].is_better


def test_a_drop_that_chance_explains_is_not_worse() -> None:
    assert not compare(figures([0.0, *GOOD[1:]]), figures(GOOD)).is_worse


def test_a_stage_that_is_gone_is_worse() -> None:
    comparison = compare(figures(GOOD, stage="keyword"), figures(GOOD, stage="vector"))
    assert comparison.is_worse
    assert comparison.differences[0].change is None


def test_only_what_the_accepted_figures_watch_is_compared() -> None:
    accepted = figures(GOOD, stages={"ranked": {"nDCG@10": GOOD, "P@10": GOOD}})
    now = figures(GOOD, stages={"ranked": {"nDCG@10": GOOD, "P@10": [0.0] * len(GOOD)}})
    comparison = compare(now, accepted)
    assert [difference.measure for difference in comparison.differences] == ["nDCG@10"]
    assert not comparison.is_worse


def test_many_stages_make_one_of_them_less_of_a_proof() -> None:
    # Nine of ten changed queries fell: p is about 0.02 by itself, and 0.16 as one of eight.
    fell = [value - 0.1 for value in GOOD[:9]] + [GOOD[9] + 0.1]
    now, accepted = [*fell, *GOOD[10:]], GOOD
    alone = compare(figures(now), figures(accepted))
    assert alone.is_worse
    stages = {f"stage {number}": {"nDCG@10": GOOD} for number in range(7)}
    among = compare(
        figures(now, stages={"ranked": {"nDCG@10": now}, **stages}),
        figures(GOOD, stages={"ranked": {"nDCG@10": accepted}, **stages}),
    )
    assert not among.is_worse


@pytest.mark.parametrize("change", [{"judged_sha256": "0" * 64}, {"queries": [f"p{n}" for n in range(len(GOOD))]}])
def test_other_judged_queries_cannot_be_compared(change: dict[str, object]) -> None:
    with pytest.raises(Failure, match="other judged queries"):
        compare(figures(GOOD, **change), figures(GOOD))


def test_what_else_changed_is_named() -> None:
    comparison = compare(figures(GOOD, model="another", chunks=7), figures(GOOD))
    assert comparison.unlike == ("model: another, accepted all-MiniLM-L6-v2", "chunks: 7, accepted 120")
