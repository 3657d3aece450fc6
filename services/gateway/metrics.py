"""All instruments of the gateway."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from services.shared.runtime.errors import STATUSES
from services.shared.runtime.rpc_metrics import SECONDS_BUCKETS, RpcMetrics

# A path that no route has; one value, so that scanners cannot fill the memory with series.
UNMATCHED = "unmatched"
_SUCCESSES = {"PUT": "202", "POST": "200", "DELETE": "202"}


class GatewayMetrics:
    """Requests as callers see them, and the calls behind them; every series exists at zero before the first request."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self.rpc = RpcMetrics("gateway", registry)
        self.requests = Counter(
            "plumbline_gateway_http_requests", "Requests by status.", ["route", "method", "status"], registry=registry
        )
        self.seconds = Histogram(
            "plumbline_gateway_http_seconds",
            "Time of a request; a stream's until its end.",
            ["route", "method"],
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )
        self.in_flight = Gauge("plumbline_gateway_http_in_flight", "Requests being served now.", registry=registry)
        self.stale_collections = Counter(
            "plumbline_gateway_stale_collections",
            "Requests served with a collection as last known, because the catalog did not answer.",
            registry=registry,
        )

    def serve(self, routes: Iterable[tuple[str, str]]) -> None:
        """Create the series of these pairs of route and method."""
        for route, method in routes:
            self.seconds.labels(route, method)
            for status in {_SUCCESSES.get(method, "200"), *(str(row.http) for row in STATUSES)}:
                self.requests.labels(route, method, status)
