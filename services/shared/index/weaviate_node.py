"""Where one Weaviate node serves, and how a list of nodes is written in settings."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class WeaviateNode:
    """One node: its host without a scheme, and the ports of its HTTP and gRPC interfaces."""

    host: str
    http_port: int
    grpc_port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The node that `host:http_port:grpc_port` names; an IPv6 host stands in brackets.

        Raises ValueError with a sentence when `text` has another form or a port is not in 1 to 65535.
        """
        parts = text.strip().rsplit(":", 2)
        bracketed = parts[0].startswith("[") and parts[0].endswith("]")
        host = parts[0][1:-1] if bracketed else parts[0]
        if len(parts) < 3 or not host or any(letter in host for letter in "/ []") or (":" in host) > bracketed:
            raise ValueError(_form(text))
        return cls(host, _port(parts[1], text), _port(parts[2], text))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.http_port}:{self.grpc_port}"


def parse_nodes(text: str) -> tuple[WeaviateNode, ...]:
    """The nodes of a comma-separated list, in its order; at least one.

    Raises ValueError with a sentence when one is malformed or named twice.
    """
    nodes = tuple(WeaviateNode.parse(part) for part in text.split(","))
    if len(set(nodes)) < len(nodes):
        raise ValueError(f"{text!r} names a node twice")
    return nodes


def format_nodes(nodes: Iterable[WeaviateNode]) -> str:
    """The list that `parse_nodes` reads."""
    return ",".join(map(str, nodes))


def _port(digits: str, text: str) -> int:
    if not (digits.isascii() and digits.isdigit() and 1 <= int(digits) <= 65_535):
        raise ValueError(_form(text))
    return int(digits)


def _form(text: str) -> str:
    return f"{text!r} is not host:http_port:grpc_port, such as weaviate:8080:50051"
