"""All instruments of the answer service."""

from prometheus_client import CollectorRegistry, Counter, Histogram

from services.answer.domain.question import Mode
from services.answer.domain.refusal import RefusalReason
from services.answer.events import Citation, Done, Event, Refusal, Unsupported
from services.shared.runtime.rpc_metrics import SECONDS_BUCKETS, RpcMetrics

# How an answer can end; `cancelled` by its caller, or by its deadline.
OUTCOMES = ("answered", "refused", "failed", "cancelled")


class AnswerMetrics:
    """Calls, how answers end, how far they can be trusted, and what they cost."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.rpc = RpcMetrics("answer", registry)
        self.answers = Counter(
            "plumbline_answer_answers", "Answers, by how they ended.", ["mode", "outcome"], registry=registry
        )
        self.refusals = Counter("plumbline_answer_refusals", "Refusals, by reason.", ["reason"], registry=registry)
        self.confidence = Histogram(
            "plumbline_answer_confidence",
            "Confidence that the documents answer the question, refused or not.",
            buckets=[tenth / 10 for tenth in range(1, 11)],
            registry=registry,
        )
        self.citations = Counter("plumbline_answer_citations", "Citations of sources.", registry=registry)
        self.unsupported = Counter(
            "plumbline_answer_unsupported", "Citations that their source does not bear out.", registry=registry
        )
        self.dropped_markers = Counter(
            "plumbline_answer_dropped_markers", "Markers that named no source.", registry=registry
        )
        self.fallbacks = Counter(
            "plumbline_answer_fallbacks", "Answers quoted because the language model failed.", registry=registry
        )
        self.first_token_seconds = Histogram(
            "plumbline_answer_first_token_seconds",
            "Time to the first piece of an answer's text.",
            buckets=SECONDS_BUCKETS,
            registry=registry,
        )
        self.generator_tokens = Counter(
            "plumbline_answer_generator_tokens", "Tokens of the language model.", ["kind"], registry=registry
        )
        for mode in Mode:
            for outcome in OUTCOMES:
                self.answers.labels(mode.value, outcome)
        for reason in RefusalReason:
            self.refusals.labels(reason.value)
        for kind in ("prompt", "completion"):
            self.generator_tokens.labels(kind)

    def count(self, event: Event) -> None:
        """Count what an event tells; how the answer ended is counted in `answers`."""
        match event:
            case Citation():
                self.citations.inc()
            case Unsupported():
                self.unsupported.inc()
            case Refusal():
                self.refusals.labels(event.reason.value).inc()
            case Done():
                self._count_done(event)

    def _count_done(self, done: Done) -> None:
        self.dropped_markers.inc(done.dropped_markers)
        self.fallbacks.inc("generator" in done.degraded)
        self.generator_tokens.labels("prompt").inc(done.usage.prompt_tokens)
        self.generator_tokens.labels("completion").inc(done.usage.completion_tokens)
        if done.confidence:
            self.confidence.observe(done.confidence.value)
        if done.timings.first_token_s:
            self.first_token_seconds.observe(done.timings.first_token_s)
