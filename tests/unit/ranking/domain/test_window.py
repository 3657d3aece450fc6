"""What is known of a candidate."""

import pytest

from services.ranking.domain.window import Candidate, LegRank


@pytest.mark.parametrize(
    ("keyword", "vector", "leads"), [(1, 1, True), (1, 2, False), (2, 1, False), (0, 1, False), (1, 0, False)]
)
def test_a_leader_is_first_in_both_legs(keyword: int, vector: int, leads: bool) -> None:
    assert Candidate("a", 0.03, LegRank(keyword), LegRank(vector)).leads_both_legs is leads
