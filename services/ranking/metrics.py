"""All instruments of the ranking service."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from services.ranking.pipeline import Ranking
from services.shared.runtime.rpc_metrics import SECONDS_BUCKETS, RpcMetrics

_STEPS = ("cross_encoder", "redundancy")


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
        self.cross_encoder_seconds = Histogram(
            "plumbline_ranking_cross_encoder_seconds",
            "Time for which a ranking waited for the cross-encoder, whether its scores came or not.",
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )
        self.degraded = Counter(
            "plumbline_ranking_degraded", "Rankings that had to skip a step.", ["step"], registry=registry
        )
        for step in _STEPS:
            self.degraded.labels(step)

    def observe(self, ranking: Ranking, *, candidates: int) -> None:
        """Count one window of so many candidates."""
        self.order_seconds.observe(ranking.order_s)
        self.window_candidates.observe(candidates)
        if ranking.pairs_s is not None:
            self.cross_encoder_seconds.observe(ranking.pairs_s)
        for step in ranking.degraded:
            self.degraded.labels(step).inc()
