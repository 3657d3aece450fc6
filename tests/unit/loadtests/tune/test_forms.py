import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.tune.forms import LARGEST, MEAN, beyond_the_window, cosine, picks, squared
from services.ranking.domain.mmr import mmr

VECTORS = np.array([[1, 0], [0.8, 0.6], [0, 1]], dtype=np.float32)


def test_squares_keep_their_sign() -> None:
    assert squared(np.array([[1, 0], [-0.6, 0.8]], dtype=np.float32))[0, 1] == pytest.approx(-0.36)


def test_what_all_hits_share_is_no_repetition() -> None:
    # The cosines of the pairs are 0.8, 0 and 0.6, their mean is 0.4667: (0.8 - 0.4667) / 0.5333 = 0.625.
    beyond = beyond_the_window(VECTORS)
    assert beyond[0, 1] == pytest.approx(0.625)
    assert beyond[0, 2] == 0.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=15), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_the_largest_cosine_picks_as_mmr_does(relevance: list[float], trade_off: float, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(relevance), 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = cosine(vectors).round(6)
    theirs = mmr(relevance, vectors, [None] * len(relevance), trade_off=trade_off, cosine_share=1.0, limit=10)
    ours = picks(relevance, alike, trade_off=trade_off, against=LARGEST, limit=10)
    gains = trade_off * np.asarray(relevance)[ours]
    penalties = [max((alike[one, other] for other in ours[:place]), default=0.0) for place, one in enumerate(ours)]
    assert [pick.gain for pick in theirs] == pytest.approx(gains - (1 - trade_off) * np.array(penalties), abs=1e-5)


def test_the_mean_forgives_one_near_duplicate_among_many() -> None:
    # After 0 and 2, hit 1 is alike by 0.8 at most and by 0.7 in the mean; hit 3 by 0.75 to both.
    alike = np.array([[1, 0.8, 0, 0.75], [0.8, 1, 0.6, 0], [0, 0.6, 1, 0.75], [0.75, 0, 0.75, 1]])
    relevance = [1.0, 0.5, 0.9, 0.5]
    assert picks(relevance, alike, trade_off=0.5, against=LARGEST, limit=4)[:3] == [0, 2, 3]
    assert picks(relevance, alike, trade_off=0.5, against=MEAN, limit=4)[:3] == [0, 2, 1]
