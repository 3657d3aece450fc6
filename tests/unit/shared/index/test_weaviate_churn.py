"""How far keyword statistics may be off."""

import pytest

from services.shared.index.weaviate_churn import Churn


@pytest.mark.parametrize(
    ("churn", "live", "dead"),
    [
        (Churn(0), 0, 0),
        (Churn(0, written=100), 100, 0),  # all of them new
        (Churn(100, written=30), 100, 30),  # all of them in place of another
        (Churn(100, written=30), 110, 20),  # ten new
        (Churn(100, deleted=5), 95, 5),
        (Churn(100, written=30, deleted=10), 110, 20),  # 20 new, 10 replaced, 10 deleted
    ],
)
def test_dead_chunks_are_those_replaced_and_deleted(churn: Churn, live: int, dead: int) -> None:
    assert churn.dead(live) == dead


def test_one_in_fifty_is_left_as_it_is_and_more_is_not() -> None:
    assert not Churn(1_000, written=20).is_much(1_000)
    assert Churn(1_000, written=21).is_much(1_000)


def test_first_build_is_left_as_it_is() -> None:
    assert not Churn(0, written=500_000).is_much(500_000)


def test_generation_that_was_emptied_is_worth_it() -> None:
    assert Churn(10, deleted=10).is_much(0)
