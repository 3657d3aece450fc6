"""Ports of this machine for programs that serve on its loopback address."""

import random
import socket

from services.local.environment import LOOPBACK
from services.local.failure import Failure

# Below what Linux (32768 and up) and macOS hand to outgoing connections, so none of those takes a port meanwhile.
_RUNS_FROM, _RUNS_BELOW = 10_240, 32_000
_TRIES = 200


def free_ports(count: int) -> list[int]:
    """`count` different ports that nothing listens on at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def free_run(length: int) -> int:
    """The first of `length` neighbouring ports that nothing uses at this moment, for TCP or UDP, on any address.

    Raises Failure when 200 places drawn at random have a port in use.
    """
    for _ in range(_TRIES):
        first = random.randrange(_RUNS_FROM, _RUNS_BELOW - length)
        if all(_is_free(port) for port in range(first, first + length)):
            return first
    raise Failure(f"no {length} free ports stand side by side between {_RUNS_FROM} and {_RUNS_BELOW}")


def _is_free(port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(type=kind) as probe:
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True


def is_taken(port: int) -> bool:
    """Whether something listens on `port`; connections of an earlier listener that still fade away do not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return True
    return False
