"""All instruments of the ingest service."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from services.shared.catalog.acceptance import Outcome
from services.shared.runtime.rpc_metrics import RpcMetrics

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60)
STAGES = ("parse", "embed", "store", "commit")


class IngestMetrics:
    """Calls, what became of documents, and where the time went."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.rpc = RpcMetrics("ingest", registry)
        self.documents = Counter(
            "plumbline_ingest_documents", "Documents done, by outcome.", ["outcome"], registry=registry
        )
        self.chunks_embedded = Counter("plumbline_ingest_chunks_embedded", "Chunks embedded.", registry=registry)
        self.chunks_reused = Counter("plumbline_ingest_chunks_reused", "Chunks whose vectors stood.", registry=registry)
        self.retries = Counter("plumbline_ingest_retries", "Documents put back for another attempt.", registry=registry)
        self.stage_seconds = Histogram(
            "plumbline_ingest_stage_seconds",
            "Time of one batch in a stage.",
            ["stage"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.waiting = Gauge("plumbline_ingest_waiting_documents", "Accepted documents not applied.", registry=registry)
        for outcome in Outcome:
            self.documents.labels(outcome.value)
        for stage in STAGES:
            self.stage_seconds.labels(stage)
