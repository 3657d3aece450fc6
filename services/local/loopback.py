"""Ports on this machine's loopback address."""

import socket

from services.local.environment import LOOPBACK


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


def is_taken(port: int) -> bool:
    """Whether something listens on `port`; connections of an earlier listener that still fade away do not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return True
    return False
