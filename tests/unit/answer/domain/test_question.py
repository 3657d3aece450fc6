import pytest

from tests.fakes.answer_values import policy


@pytest.mark.parametrize(("confidence", "refused"), [(0.49, True), (0.5, False), (0.51, False)])
def test_without_a_bound_of_its_own_a_collection_takes_the_models(confidence: float, refused: bool) -> None:
    assert policy().refuses(confidence, otherwise_below=0.5) is refused


@pytest.mark.parametrize(("bound", "refused"), [(0.8, True), (0.7, False), (0.0, False)])
def test_a_collections_bound_replaces_the_models(bound: float, refused: bool) -> None:
    assert policy(min_confidence=bound).refuses(0.7, otherwise_below=0.75) is refused
