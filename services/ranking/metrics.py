"""All instruments of the ranking service."""

from prometheus_client import CollectorRegistry, Histogram

from services.shared.runtime.rpc_metrics import SECONDS_BUCKETS, RpcMetrics


class RankingMetrics:
    """Calls, and what a ranking costs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.rpc = RpcMetrics("ranking", registry)
        self.window_candidates = Histogram(
            "plumbline_ranking_window_candidates",
            "Candidates in a window.",
            buckets=(0, 1, 10, 20, 50, 100, 200, 500, 1000),
            registry=registry,
        )
        self.order_seconds = Histogram(
            "plumbline_ranking_order_seconds",
            "Time of the pure ranking.",
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )
