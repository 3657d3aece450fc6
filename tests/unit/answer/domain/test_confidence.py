import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.domain.confidence import REFUSE_BELOW, confidence_of
from services.answer.domain.found import Evidence

COSINES = st.floats(-1, 1)
MODELS = st.sampled_from(["all-MiniLM-L6-v2", "all-mpnet-base-v2", "another-model"])


def value(cosine: float | None, model: str = "all-MiniLM-L6-v2") -> float:
    return confidence_of(Evidence(model, cosine, None)).value


@pytest.mark.parametrize(
    ("model", "threshold"), [("all-MiniLM-L6-v2", 0.325), ("all-mpnet-base-v2", 0.355), ("another-model", 0.3)]
)
def test_the_threshold_of_a_model_is_where_confidence_is_one_half(model: str, threshold: float) -> None:
    assert value(threshold, model) == pytest.approx(REFUSE_BELOW)
    assert value(threshold - 0.01, model) < REFUSE_BELOW < value(threshold + 0.01, model)


def test_without_a_cosine_there_is_no_confidence() -> None:
    assert value(None) == 0.0


def test_it_says_that_it_is_not_calibrated() -> None:
    assert confidence_of(Evidence("all-MiniLM-L6-v2", 0.9, None)).calibration == "uncalibrated"


@given(COSINES, COSINES, MODELS)
def test_a_higher_cosine_never_lowers_it(one: float, other: float, model: str) -> None:
    assert 0 <= value(min(one, other), model) <= value(max(one, other), model) <= 1
