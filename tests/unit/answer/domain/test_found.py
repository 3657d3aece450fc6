import pytest

from tests.fakes.answer_values import found


@pytest.mark.parametrize(
    ("degraded", "missing"),
    [((), set()), (("catalog", "ranking"), set()), (("ranking", "vector"), {"vector"}), (("keyword",), {"keyword"})],
)
def test_only_a_leg_that_was_skipped_hides_what_documents_say(degraded: tuple[str, ...], missing: set[str]) -> None:
    assert found(degraded=degraded).missing_legs == missing
