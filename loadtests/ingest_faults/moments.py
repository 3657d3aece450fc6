"""When which process is killed, and for how long it stays away: drawn from a seed. Pure."""

import random
from dataclasses import dataclass
from enum import StrEnum

# A platform starts a process again within some seconds; a quick return finds its leases still standing.
_LONGEST_AWAY_S = 3.0
# Changes are applied a batch at a time; so long after a commit the next batch may be anywhere.
_LONGEST_DELAY_S = 0.4
_FIRST_SHARE, _LAST_SHARE = 0.02, 0.95


class Victim(StrEnum):
    """What is killed.

    The embedded index is a part of ingest: there `index` is ingest in the middle of a write to the index's files.
    """

    WORKER = "worker"
    EMBEDDING = "embedding"
    INDEX = "index"


@dataclass(frozen=True, slots=True)
class Moment:
    """`delay_s` after `share` of the changes have been applied, `victim` is killed, and it stays away for `away_s`."""

    number: int
    victim: Victim
    share: float
    delay_s: float
    away_s: float


def draw_moments(count: int, *, per_ingest: int, seed: int) -> list[list[Moment]]:
    """`count` moments, numbered from 1, of ingests with at most `per_ingest` each, in the order of their shares.

    Each victim has its turn before any has another.
    """
    choose = random.Random(seed)
    victims: list[Victim] = []
    while len(victims) < count:
        victims += choose.sample(list(Victim), len(Victim))
    ingests = []
    for first in range(0, count, per_ingest):
        of_ingest = victims[first : min(first + per_ingest, count)]
        shares = sorted(choose.uniform(_FIRST_SHARE, _LAST_SHARE) for _ in of_ingest)
        ingests.append(
            [
                Moment(number, victim, share, choose.uniform(0, _LONGEST_DELAY_S), choose.uniform(0, _LONGEST_AWAY_S))
                for number, (victim, share) in enumerate(zip(of_ingest, shares, strict=True), first + 1)
            ]
        )
    return ingests
