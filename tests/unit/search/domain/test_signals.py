import pytest

from services.search.domain.signals import Signals, signals_of


def signals(**changes: object) -> Signals:
    fields = {
        "model": "m", "cosines": [], "first_cosine": None, "leaders": [], "filtered_count": None,
        "idf_coverage": None, "keyword_share": None,
    }  # fmt: skip
    return signals_of(**{**fields, **changes})


def test_cosines_tell_the_best_and_the_gap_behind_it() -> None:
    seen = signals(cosines=[0.8, 0.5, 0.4], first_cosine=0.5)
    assert (seen.best_cosine, seen.first_cosine) == (0.8, 0.5)
    assert seen.cosine_gap == pytest.approx(0.3)


def test_one_hit_has_no_gap() -> None:
    assert signals(cosines=[0.8]).cosine_gap is None


def test_nothing_found_is_nothing_known() -> None:
    assert signals(filtered_count=0) == Signals(model="m", filtered_count=0)


@pytest.mark.parametrize(("leaders", "agree"), [(["a", "a"], True), (["a", "b"], False), (["a"], False), ([], False)])
def test_legs_agree_only_when_both_have_the_same_first_hit(leaders: list[str], agree: bool) -> None:
    assert signals(leaders=leaders).legs_agree is agree
