import socket

from services.local.loopback import free_ports, is_taken


def test_free_ports_are_different_and_free() -> None:
    ports = free_ports(6)
    assert len(set(ports)) == 6
    assert not any(is_taken(port) for port in ports)


def test_a_port_that_something_listens_on_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert is_taken(port)
    assert not is_taken(port)
