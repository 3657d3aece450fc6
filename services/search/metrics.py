"""All instruments of the search service."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from services.search.domain.cursor import PARTS
from services.search.page import Page
from services.shared.runtime.rpc_metrics import SECONDS_BUCKETS, RpcMetrics

_STAGES = ("embed", "keyword", "vector", "fuse", "rank")


class SearchMetrics:
    """Calls, where their time goes, and what they had to do without."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.rpc = RpcMetrics("search", registry)
        self.stage_seconds = Histogram(
            "plumbline_search_stage_seconds",
            "Time of each stage of a search that ran; the legs overlap.",
            ["stage"],
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )
        self.degraded = Counter(
            "plumbline_search_degraded", "Searches answered without a part.", ["part"], registry=registry
        )
        self.window_hits = Histogram(
            "plumbline_search_window_hits",
            "Hits in the ranked window.",
            buckets=(0, 1, 10, 20, 50, 100, 200, 500, 1000),
            registry=registry,
        )
        self.empty = Counter("plumbline_search_empty", "Searches that found nothing.", registry=registry)
        for stage in _STAGES:
            self.stage_seconds.labels(stage)
        for part in PARTS:
            self.degraded.labels(part)

    def observe(self, page: Page) -> None:
        """Count one answered search."""
        for stage in _STAGES:
            if (milliseconds := getattr(page.timings, stage)) is not None:
                self.stage_seconds.labels(stage).observe(milliseconds / 1000)
        for part in page.degraded:
            self.degraded.labels(part).inc()
        self.window_hits.observe(page.window)
        self.empty.inc(not page.window)
