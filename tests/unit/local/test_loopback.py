import random
import socket

import pytest

from services.local.failure import Failure
from services.local.loopback import free_ports, free_run, is_taken


def test_free_ports_are_different_and_free() -> None:
    ports = free_ports(6)
    assert len(set(ports)) == 6
    assert not any(is_taken(port) for port in ports)


def test_a_port_that_something_listens_on_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert is_taken(port)
    assert not is_taken(port)


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_run_of_ports_leaves_out_one_that_is_used_in_either_protocol(
    monkeypatch: pytest.MonkeyPatch, kind: socket.SocketKind
) -> None:
    first = free_run(6)
    places = iter([first, first + 3])
    monkeypatch.setattr(random, "randrange", lambda low, high: next(places))
    with socket.socket(type=kind) as used:
        used.bind(("127.0.0.1", first + 2))
        assert free_run(3) == first + 3


def test_without_a_free_run_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = listener.getsockname()[1]
        monkeypatch.setattr(random, "randrange", lambda low, high: taken)
        with pytest.raises(Failure, match="no 2 free ports stand side by side"):
            free_run(2)
