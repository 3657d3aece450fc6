"""A bare client of each engine: the two queries of a search side by side, each with the text and vectors of its hits.

It decides nothing and builds nothing: what comes back stays as the engine's own client gives it.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import lancedb
from lancedb.query import MatchQuery

from loadtests.search_bench.asking import DEPTH
from loadtests.search_bench.engines import Engine
from services.shared.index.chunk import Vector
from services.shared.index.lance_index import DEFAULT_LISTS
from services.shared.index.lance_rows import COLUMNS, VECTORS
from services.shared.index.weaviate_class import class_name
from services.shared.index.weaviate_cluster import NodeClient
from services.shared.index.weaviate_requests import Wanted, keyword_request, nearest_request


class BareClient(Protocol):
    """Sends both queries of a search."""

    async def search(self, tokens: Sequence[str], vector: Vector) -> int:
        """How many hits both queries brought together."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...


class BareLance:
    """A table that is opened once."""

    def __init__(self, connection: lancedb.AsyncConnection, table: lancedb.AsyncTable, *, compared: int) -> None:
        self._connection = connection
        self._table = table
        self._compared = compared

    @classmethod
    async def open(cls, folder: Path, generation_id: str) -> "BareLance":
        """A client of the generation in the folder."""
        connection = await lancedb.connect_async(folder)
        return cls(connection, await connection.open_table(generation_id), compared=2)

    async def search(self, tokens: Sequence[str], vector: Vector) -> int:
        """See `BareClient.search`."""
        words = MatchQuery(" ".join(tokens), "analysed")  # type: ignore[call-arg]  # its defaults are not seen
        columns = [*COLUMNS, VECTORS]
        keyword = self._table.query().nearest_to_text(words).select([*columns, "_score"]).limit(DEPTH)
        nearest = self._table.query().nearest_to(vector).column(VECTORS).distance_type("cosine")
        nearest = nearest.nprobes(DEFAULT_LISTS).refine_factor(self._compared)
        nearest = nearest.select([*columns, "_distance"]).limit(DEPTH)
        rows = await asyncio.gather(keyword.to_arrow(), nearest.to_arrow())
        return sum(one.num_rows for one in rows)

    async def close(self) -> None:
        """See `BareClient.close`."""
        self._connection.close()  # type: ignore[no-untyped-call]


class BareWeaviate:
    """The generated stubs of Weaviate's gRPC interface."""

    def __init__(self, client: NodeClient, generation_id: str) -> None:
        self._client = client
        self._class = class_name(generation_id)

    async def search(self, tokens: Sequence[str], vector: Vector) -> int:
        """See `BareClient.search`."""
        wanted = Wanted(vectors=True)
        keyword = keyword_request(self._class, tokens, None, DEPTH, wanted)
        nearest = nearest_request(self._class, vector, None, DEPTH, wanted)
        replies = await asyncio.gather(self._client.search(keyword), self._client.search(nearest))
        return sum(len(reply.results) for reply in replies)

    async def close(self) -> None:
        """See `BareClient.close`."""
        await self._client.close()


async def bare_client(engine: Engine, generation_id: str) -> BareClient:
    """A client of the engine's generation."""
    if engine.node is None:
        return await BareLance.open(engine.folder, generation_id)
    return BareWeaviate(NodeClient(engine.node, engine.api_key), generation_id)
