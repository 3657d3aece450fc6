"""Addresses at which nobody serves properly: a port that refuses, and one that drops every connection."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def refusing() -> AsyncIterator[str]:
    """An address that refuses connections: the port is taken, but nobody listens."""
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        yield f"{LOOPBACK}:{taken.getsockname()[1]}"


@asynccontextmanager
async def dropping() -> AsyncIterator[str]:
    """An address that accepts a connection, reads a little and closes it."""

    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.close()

    server = await asyncio.start_server(drop, LOOPBACK, 0)
    async with server:
        yield f"{LOOPBACK}:{server.sockets[0].getsockname()[1]}"
