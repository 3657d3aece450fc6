"""Reads that met a document in the middle of its update are done again, until the update is over.

An update writes the new revision and then removes what is gone. The embedded engine shows the first step at once; one
of a cluster shows it chunk by chunk, so that for some milliseconds the old text may have to go already (another chunk
of its document is newer) while the new text is not there yet.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from services.search.domain.revisions import Revised, are_mixed
from services.search.time_limits import TimeLimits

# Of one document, an update takes 5 to 50 ms. One that takes longer (many documents at once) shows its new revision.
_PAUSE_S = 0.02
_LOOKS = 4
# Another look must be cheap for the call.
_LEAST_LEFT_S = 0.25

T = TypeVar("T")


async def settled(
    seen: T, look_again: Callable[[T], Awaitable[T]], chunks: Callable[[T], Iterable[Revised]], limits: TimeLimits
) -> T:
    """What was `seen`, or what was seen later when it held two revisions of a document and the call has the time."""
    for _ in range(_LOOKS):
        if not are_mixed(chunks(seen)) or limits.left_s(_LEAST_LEFT_S) < _LEAST_LEFT_S:
            break
        await asyncio.sleep(_PAUSE_S)
        seen = await look_again(seen)
    return seen
