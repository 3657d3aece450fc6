"""Newer documents first, within bounds: recency moves a hit a few places and never makes the ranking a date order."""

import re
from collections.abc import Sequence
from datetime import date

from services.ranking.domain.window import RecencyTier

_PARTIAL_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


def age_in_years(text: str, today: date) -> int | None:
    """Whole calendar years from the date to `today`; a partial date (`2021`, `2021-03`) is the start of its period.

    None for a missing, malformed or future date.
    """
    match = _PARTIAL_DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part) if part else 1 for part in match.groups())
    try:
        written = date(year, month, day)
    except ValueError:
        return None
    if written > today:
        return None
    return today.year - written.year - ((today.month, today.day) < (written.month, written.day))


def multiplier(age_years: int | None, tiers: Sequence[RecencyTier]) -> float:
    """The factor of the first tier that holds for the age; 1 for an unknown age and where no tier holds."""
    if age_years is None:
        return 1.0
    for tier in tiers:
        if tier.up_to_years is None or age_years <= tier.up_to_years:
            return tier.multiplier
    return 1.0


def bounded_order(finals: Sequence[float], *, places: int, keep_first: bool) -> list[int]:
    """Indices in the order that boosted relevance asks for, none moved by more than `places` places.

    `finals` holds relevance times multiplier, in the order before. At place p the hit of place p - L in that order is
    taken if it is not placed yet; else the best among the hits of the places up to p + L. Ties go to the earlier place.
    With `keep_first` the first hit stays first. O(n * L).
    """
    waiting = list(range(len(finals)))
    order: list[int] = []
    for place in range(len(finals)):
        due = waiting[0]
        if (place == 0 and keep_first) or due <= place - places:
            chosen = due
        else:
            reachable = [index for index in waiting[: 2 * places + 1] if index <= place + places]
            chosen = max(reachable, key=lambda index: (finals[index], -index))
        waiting.remove(chosen)
        order.append(chosen)
    return order
