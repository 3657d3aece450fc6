import numpy as np
import pytest

from loadtests.tune.replay import mean_similarity, replay
from tests.unit.loadtests.tune.examples import captured, knobs


def order(*arguments: object, **settings: object) -> str:
    (query,) = arguments
    return "".join(one.document_id for one in replay(query, knobs(**settings)).shown)  # type: ignore[arg-type]


def test_a_leg_of_weight_zero_has_no_say() -> None:
    query = captured("a", by_words="abc", by_meaning="cba")
    assert order(query, vector_weight=0.0) == "abc"
    assert order(query, keyword_weight=0.0) == "cba"


def test_a_smaller_constant_trusts_first_ranks_more() -> None:
    # b and d are in both legs, at ranks 2 and 3; a and c lead one each. With k = 60 d has 2/63 and a 1/61; with k = 1
    # both have 1/2, and a stands first by its rank in the earlier leg.
    query = captured("a", by_words="abd", by_meaning="cbd")
    assert order(query, rrf_k=60) == "bdac"
    assert order(query, rrf_k=1) == "badc"


def test_a_gated_hit_has_no_rank_in_the_keyword_leg() -> None:
    query = captured("a", by_words="ab", by_meaning="b", mass={"a": 0.2})
    assert order(query) == "ba"
    assert order(query, keyword_gate=0.3) == "b"


def test_completed_relevance_uses_the_scores_of_both_legs_for_every_hit() -> None:
    query = captured("a", by_words="ab", by_meaning="cb", keyword_scores={"c": 8.5}, cosines={"a": 0.1})
    assert order(query, relevance="completed", cosine_share=1.0) == "cba"
    assert order(query, relevance="completed", cosine_share=0.0) == "acb"


def test_the_values_of_the_whole_window_are_counted() -> None:
    query = captured("a", attributes={"a": "law", "b": "art", "c": "law"})
    assert replay(query, knobs()).window_values == 2


def test_the_similarity_of_a_list_is_the_mean_over_its_pairs() -> None:
    # Cosines of the three pairs: 0, 0.8 and 0.6.
    vectors = np.array([[1, 0], [0, 1], [0.8, 0.6]], dtype=np.float32)
    assert mean_similarity(vectors) == pytest.approx(1.4 / 3, abs=1e-6)
    assert mean_similarity(vectors[:1]) is None


def test_a_setting_that_there_is_not_is_an_error() -> None:
    with pytest.raises(ValueError, match="lambda_"):
        knobs(lambda_=0.5)
