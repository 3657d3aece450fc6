"""Our fusion against the formula of Weaviate's ranked fusion (1.39, `usecases/traverser/hybrid/hybrid_fusion.go`).

Theirs counts ranks from 0 and adds 60, and weighs the vector leg by alpha and the keyword leg by 1 - alpha: ours with
k = 59 and these weights. They add in single precision, and order what is within 1e-7 by the raw score in the last leg
that has it, then by id.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.fusion import Ballot, reciprocal_rank_fusion

_SAME = 1e-7
LEG = st.lists(st.sampled_from([f"{number:02d}" for number in range(40)]), unique=True, max_size=40)


def ranked_fusion_of_weaviate(weights: Sequence[float], legs: Sequence[Sequence[str]]) -> Mapping[str, float]:
    """The score of every id."""
    combined: dict[str, np.float32] = {}
    for weight, leg in zip(weights, legs, strict=True):
        for place, key in enumerate(leg):
            combined[key] = combined.get(key, np.float32(0)) + np.float32(weight / (place + 60))
    return {key: float(score) for key, score in combined.items()}


@given(LEG, LEG, st.floats(0.01, 0.99))
def test_scores_and_order_are_those_of_weaviate_s_ranked_fusion(
    keyword: list[str], vector: list[str], alpha: float
) -> None:
    theirs = ranked_fusion_of_weaviate([1 - alpha, alpha], [keyword, vector])
    ours = reciprocal_rank_fusion([Ballot(keyword, 1 - alpha), Ballot(vector, alpha)], k=59)
    assert {fused.key: fused.score for fused in ours} == pytest.approx(theirs, abs=_SAME)
    # Their score never rises on the way down our order, but for what they take as equal.
    in_our_order = [theirs[fused.key] for fused in ours]
    assert all(later <= min(in_our_order[:place]) + _SAME for place, later in enumerate(in_our_order) if place)


def test_our_own_k_of_60_is_one_place_flatter_than_theirs() -> None:
    (ours,) = reciprocal_rank_fusion([Ballot("a", 1.0)], k=60)
    assert ours.score == 1 / 61
    assert ranked_fusion_of_weaviate([1.0], ["a"])["a"] == pytest.approx(1 / 60)
