"""All instruments of the embedding service."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from services.embedding.domain.embedding import Timings
from services.shared.batching.batcher import Lane
from services.shared.runtime.rpc_metrics import SECONDS_BUCKETS, RpcMetrics

_TOKEN_BUCKETS = (16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384)
_STAGES = ("tokenize", "queue", "forward", "post")
_DROPPED = ("cancelled", "expired", "failed")


class EmbeddingMetrics:
    """Calls, stages, batches and the cache. It watches the batcher (`BatchObserver`)."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.rpc = RpcMetrics("embedding", registry)
        self.stage_seconds = Histogram(
            "plumbline_embedding_stage_seconds",
            "Time of one call in a stage.",
            ["lane", "stage"],
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )
        self.texts = Counter(
            "plumbline_embedding_texts", "Texts embedded, cached ones too.", ["lane"], registry=registry
        )
        self.vectors = Counter("plumbline_embedding_vectors", "Windows that went in.", ["lane"], registry=registry)
        self.tokens = Counter("plumbline_embedding_tokens", "Tokens that went in.", ["lane"], registry=registry)
        self.unsound_vectors = Counter(
            "plumbline_embedding_unsound_vectors",
            "Rows that were not finite, or zero, also in single precision; refused.",
            registry=registry,
        )
        self.recomputed = Counter(
            "plumbline_embedding_recomputed_vectors",
            "Rows that were not finite, or zero, and were computed again alone in single precision.",
            registry=registry,
        )
        self.pairs = Counter("plumbline_embedding_pairs", "Pairs scored.", registry=registry)
        self.queue_tokens = Gauge("plumbline_embedding_queue_tokens", "Tokens that wait.", ["lane"], registry=registry)
        self.refusals = Counter(
            "plumbline_embedding_lane_refusals", "Calls refused because the lane was full.", ["lane"], registry=registry
        )
        self.dropped_items = Counter(
            "plumbline_embedding_dropped_items",
            "Windows taken out of the queue before they cost device time.",
            ["lane", "reason"],
            registry=registry,
        )
        self.batch_seconds = Histogram(
            "plumbline_embedding_batch_seconds",
            "Device time of a batch.",
            ["lane"],
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )
        self.batch_items = Histogram(
            "plumbline_embedding_batch_items",
            "Windows in a batch.",
            ["lane"],
            buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),
            registry=registry,
        )
        self.batch_padded_tokens = Histogram(
            "plumbline_embedding_batch_padded_tokens",
            "Tokens of a batch, padding included.",
            ["lane"],
            buckets=_TOKEN_BUCKETS,
            registry=registry,
        )
        self.padding_tokens = Counter(
            "plumbline_embedding_padding_tokens", "Padding that the device read.", ["lane"], registry=registry
        )
        self.failed_batches = Counter(
            "plumbline_embedding_failed_batches", "Batches that raised, each try.", ["lane"], registry=registry
        )
        self.cache_lookups = Counter(
            "plumbline_embedding_cache_lookups", "Queries looked up.", ["outcome"], registry=registry
        )
        self.cache_bytes = Gauge("plumbline_embedding_cache_bytes", "Size of the query cache.", registry=registry)
        self._exist_at_zero()

    def _exist_at_zero(self) -> None:
        by_lane = (
            *(self.texts, self.vectors, self.tokens, self.queue_tokens, self.refusals, self.batch_seconds),
            *(self.batch_items, self.batch_padded_tokens, self.padding_tokens, self.failed_batches),
        )
        for lane in Lane:
            for instrument in by_lane:
                instrument.labels(lane)
            for stage in _STAGES:
                self.stage_seconds.labels(lane, stage)
            for reason in _DROPPED:
                self.dropped_items.labels(lane, reason)
        for outcome in ("hit", "miss"):
            self.cache_lookups.labels(outcome)

    def staged(self, lane: Lane, timings: Timings) -> None:
        """A call went through all stages."""
        seconds = (timings.tokenize_s, timings.queue_s, timings.forward_s, timings.post_s)
        for stage, value in zip(_STAGES, seconds, strict=True):
            self.stage_seconds.labels(lane, stage).observe(value)

    def waiting(self, lane: Lane, tokens: int) -> None:
        """See BatchObserver."""
        self.queue_tokens.labels(lane).set(tokens)

    def refused(self, lane: Lane) -> None:
        """See BatchObserver."""
        self.refusals.labels(lane).inc()

    def dropped(self, lane: Lane, reason: str, items: int) -> None:
        """See BatchObserver."""
        self.dropped_items.labels(lane, reason).inc(items)

    def ran(self, lane: Lane, *, items: int, tokens: int, padded: int, device_s: float) -> None:
        """See BatchObserver."""
        self.batch_seconds.labels(lane).observe(device_s)
        self.batch_items.labels(lane).observe(items)
        self.batch_padded_tokens.labels(lane).observe(padded)
        self.padding_tokens.labels(lane).inc(padded - tokens)

    def failed(self, lane: Lane, *, items: int) -> None:
        """See BatchObserver."""
        self.failed_batches.labels(lane).inc()
