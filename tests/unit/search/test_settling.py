from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from services.search.settling import settled
from services.search.time_limits import TimeLimits
from services.shared.runtime.call import new_call, serving

LIMITS = TimeLimits(catalog_s=1, embed_s=1, keyword_s=1, vector_s=1, rank_s=1, reserve_s=0)


@dataclass(frozen=True, slots=True)
class Chunk:
    document_id: str
    revision: int


OLD = [Chunk("a", 1), Chunk("a", 1), Chunk("b", 7)]
MIXED = [Chunk("a", 1), Chunk("a", 2), Chunk("b", 7)]
NEW = [Chunk("a", 2), Chunk("a", 2), Chunk("b", 7)]


class Looks:
    """What is seen at each further look; the last one again and again."""

    def __init__(self, *seen: Sequence[Chunk]) -> None:
        self._seen = list(seen)
        self.count = 0

    async def __call__(self, _: Sequence[Chunk]) -> Sequence[Chunk]:
        self.count += 1
        return self._seen.pop(0) if len(self._seen) > 1 else self._seen[0]


async def seen(first: Sequence[Chunk], looks: Looks) -> Sequence[Chunk]:
    return await settled(first, looks, iter, LIMITS)


@pytest.mark.parametrize("first", [OLD, NEW, []])
async def test_one_revision_of_each_document_needs_no_other_look(first: Sequence[Chunk]) -> None:
    looks = Looks(NEW)
    assert await seen(first, looks) == first
    assert looks.count == 0


async def test_an_update_that_is_met_is_waited_for() -> None:
    looks = Looks(MIXED, NEW)
    assert await seen(MIXED, looks) == NEW
    assert looks.count == 2


async def test_an_update_without_end_is_not_waited_for_for_ever() -> None:
    looks = Looks(MIXED)
    assert await seen(MIXED, looks) == MIXED
    assert looks.count == 4


async def test_a_call_without_the_time_takes_what_it_saw() -> None:
    looks = Looks(NEW)
    with serving(new_call(timeout_s=0.2)):
        assert await seen(MIXED, looks) == MIXED
    assert looks.count == 0
