"""Rate, errors and duration of the calls that a service serves and of those that it makes."""

from collections.abc import Iterable

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from services.shared.runtime.errors import STATUSES

# Seconds. Around the latency budget's stages (10 ms to 2 s), with room for ingest calls.
SECONDS_BUCKETS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.015,
    0.025,
    0.04,
    0.06,
    0.09,
    0.12,
    0.18,
    0.25,
    0.5,
    0.9,
    1,
    2,
    5,
    10,
    30,
)
CODES = (grpc.StatusCode.OK.name, *(status.code.name for status in STATUSES))


class RpcMetrics:
    """Instruments for the calls of one service; every series exists at zero before the first call."""

    def __init__(self, service: str, registry: CollectorRegistry) -> None:
        prefix = f"plumbline_{service}"
        self.requests = Counter(
            f"{prefix}_rpc_requests", "Calls served, by status code.", ["method", "code"], registry=registry
        )
        self.seconds = Histogram(
            f"{prefix}_rpc_seconds",
            "Time to serve a call; a stream's until its end.",
            ["method"],
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )
        self.in_flight = Gauge(f"{prefix}_rpc_in_flight", "Calls being served now.", ["method"], registry=registry)
        self.client_requests = Counter(
            f"{prefix}_client_requests",
            "Calls made to other services, each try.",
            ["peer", "method", "code"],
            registry=registry,
        )
        self.client_seconds = Histogram(
            f"{prefix}_client_seconds",
            "Time of calls made to other services, each try.",
            ["peer", "method"],
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )
        self.client_retries = Counter(
            f"{prefix}_client_retries", "Calls tried again.", ["peer", "method"], registry=registry
        )

    def serve(self, services: Iterable[ServiceDescriptor]) -> None:
        """Create the series of every method of `services`."""
        for method in (method.name for service in services for method in service.methods):
            self.seconds.labels(method)
            self.in_flight.labels(method)
            for code in CODES:
                self.requests.labels(method, code)

    def call(self, peer: str, service: ServiceDescriptor) -> None:
        """Create the series of every method of the `service` that `peer` offers."""
        for method in service.methods:
            self.client_seconds.labels(peer, method.name)
            self.client_retries.labels(peer, method.name)
            for code in CODES:
                self.client_requests.labels(peer, method.name, code)
