"""What one node finds for a leg, in the order of hits."""

import math
from collections.abc import Awaitable, Callable, Sequence

from weaviate.proto.v1 import base_pb2

from services.shared.index.chunk import Vector
from services.shared.index.weaviate_cluster import NodeClient
from services.shared.index.weaviate_filter import every_chunk
from services.shared.index.weaviate_requests import (
    IDS_ONLY,
    MAX_RESULTS,
    Copy,
    Wanted,
    copies,
    keyword_request,
    nearest_request,
    objects_request,
)

# How many more ids and scores are read to order a tie that straddles the cut by chunk id.
_TIE_DEPTH = 1_000

# Searches differ in how many windows they meet to a chunk: so many more are looked for than the last one needed.
_TO_SPARE = 1.2
# A chunk of a hundred near windows is no reason to look for a hundred times as many.
_MOST_MORE = 4.0

_Best = Callable[[int, Wanted], Awaitable[list[Copy]]]


class Reach:
    """How many windows a vector search looks for to bring one chunk: more than one where chunks have near windows.

    Every window more is a chunk more that is read and sent, so it follows what searches met, with some to spare.
    """

    def __init__(self) -> None:
        self.windows_per_chunk = 1.0

    def found(self, chunks: int, windows: int) -> None:
        """Note that a search for so many windows brought enough chunks."""
        met = windows / chunks
        self.windows_per_chunk = met if met <= 1 else met * _TO_SPARE


async def keyword_leg(
    node: NodeClient,
    class_name: str,
    tokens: Sequence[str],
    filters: base_pb2.Filters | None,
    limit: int,
    wanted: Wanted,
) -> list[Copy]:
    """The best `limit` chunks that hold a token."""

    async def best(depth: int, wanted: Wanted) -> list[Copy]:
        return copies(await node.search(keyword_request(class_name, tokens, filters, depth, wanted)))

    return await _cut(node, class_name, best, limit, wanted)


async def vector_leg(
    node: NodeClient,
    class_name: str,
    vector: Vector,
    filters: base_pb2.Filters | None,
    limit: int,
    wanted: Wanted,
    reach: Reach,
) -> list[Copy]:
    """The `limit` chunks whose best windows are nearest to `vector`.

    Weaviate looks for windows and then brings their chunks, so fewer chunks than windows; it is asked for more windows
    until there are enough chunks, or the chunks hold fewer windows than it was asked for. Then those should be all; but
    its graph may not lead to each of many equal vectors, so a generation as small as that is scanned.
    """

    async def best(depth: int, wanted: Wanted) -> list[Copy]:
        windows_per_chunk = reach.windows_per_chunk
        while True:
            windows = min(math.ceil(depth * windows_per_chunk), MAX_RESULTS)
            found = copies(await node.search(nearest_request(class_name, vector, filters, windows, wanted)))
            if len(found) >= depth:
                reach.found(len(found), windows)
                return found
            if windows == MAX_RESULTS:
                return found
            if sum(copy.windows for copy in found) < windows:
                if filters is not None:
                    return found
                return copies(await node.search(nearest_request(class_name, vector, every_chunk(), depth, wanted)))
            windows_per_chunk *= min(_MOST_MORE, _TO_SPARE * depth / len(found))

    return await _cut(node, class_name, best, limit, wanted)


async def _cut(node: NodeClient, class_name: str, best: _Best, limit: int, wanted: Wanted) -> list[Copy]:
    """The first `limit` hits by score, then chunk id; Weaviate leaves open which of equals it returns."""
    found = ranked(await best(limit + 1, wanted))
    if len(found) <= limit or found[limit - 1].score != found[limit].score:
        return found[:limit]
    whole = {copy.chunk_id: copy for copy in found}
    tied = ranked(await best(limit + _TIE_DEPTH, IDS_ONLY))[:limit]
    missing = [copy.object_id for copy in tied if copy.chunk_id not in whole]
    for start in range(0, len(missing), _TIE_DEPTH):
        request = objects_request(class_name, missing[start : start + _TIE_DEPTH], wanted)
        whole |= {copy.chunk_id: copy for copy in copies(await node.search(request))}
    return [whole[copy.chunk_id].scored(copy.score) for copy in tied if copy.chunk_id in whole]


def ranked(found: Sequence[Copy]) -> list[Copy]:
    """Hits by score descending, then chunk id."""
    return sorted(found, key=lambda copy: (-copy.score, copy.chunk_id))
