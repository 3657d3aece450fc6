"""What the ledger makes of a hit."""

from services.ranking.domain.ledger import RankedHit
from services.ranking.domain.relevance import Relevance
from services.ranking.domain.window import Candidate


def test_the_score_is_relevance_times_recency() -> None:
    hit = RankedHit(Candidate("a", 0.03), 0.5, Relevance.FUSED, age_years=0, multiplier=1.2, places=())
    assert hit.score == 0.6
