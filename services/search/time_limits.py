"""How long each part of a search may take, and what its silence is called."""

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from services.shared.runtime.call import current_call
from services.shared.runtime.errors import DeadlineExceeded, DependencyUnavailable

# About the time in which a process that died is back.
RETRY_AFTER_S = 1.0
# Of what a call has left, the part that a catalog may take whose last word could serve: one in so many.
_CATALOG_SHARE = 4


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """The longest that each part may take, seconds; what the call has left shortens all of them.

    `reserve_s` of a call's time is kept for what follows the legs, half of it for what follows ranking, so that a part
    that stalls costs what it would have given and not the answer.
    """

    catalog_s: float
    embed_s: float
    keyword_s: float
    vector_s: float
    rank_s: float
    reserve_s: float

    def left_s(self, limit_s: float) -> float:
        """Seconds that a part with this limit has now; not above 0 when the call's time is used up."""
        call = current_call()
        return limit_s if call is None else min(limit_s, call.remaining_s() - self.reserve_s)

    def ranking_left_s(self, more_s: float = 0.0) -> float:
        """Seconds that ranking has now, `more_s` beside its own; not above 0 when the call's time is used up."""
        call, limit_s = current_call(), self.rank_s + more_s
        return limit_s if call is None else min(limit_s, call.remaining_s() - self.reserve_s / 2)

    def known_catalog_s(self) -> float:
        """Seconds to wait for the catalog when its last word could serve: a stalled one leaves the legs their time."""
        return min(self.catalog_s, self.left_s(math.inf) / _CATALOG_SHARE)

    @asynccontextmanager
    async def at_most(self, limit_s: float, part: str) -> AsyncIterator[None]:
        """Run the block for `left_s(limit_s)`; then it is cancelled.

        Raises DependencyUnavailable with a retry hint when `part` took too long or said that it does not work, and
        DeadlineExceeded when it was the call that had no more time.
        """
        left_s = self.left_s(limit_s)
        try:
            async with asyncio.timeout(left_s):
                yield
        except (TimeoutError, DeadlineExceeded):
            if left_s < limit_s:
                raise DeadlineExceeded(f"no time left to wait for {part}") from None
            raise DependencyUnavailable(
                f"{part} did not answer within {limit_s} s", retry_after_s=RETRY_AFTER_S
            ) from None
        except DependencyUnavailable as error:
            raise DependencyUnavailable(error.message, retry_after_s=error.retry_after_s or RETRY_AFTER_S) from error
