import pytest

from loadtests.mix import Call, Request
from loadtests.recording import Recording
from loadtests.reply import Reply, Times
from loadtests.summary import summarise


def count(recording: Recording, kind: str, call: Call, latency_s: float, reply: Reply | None = None) -> None:
    request = Request(kind, call, "http", {}, timeout_s=10.0)
    recording.count(request, reply or Reply(), Times(intended=5.0, started=5.001, ended=5.0 + latency_s))


def test_kinds_are_told_apart_and_calls_pool_theirs() -> None:
    recording = Recording(completed=3)
    count(recording, "short", "search", 0.1)
    count(recording, "long", "search", 0.3, Reply(degraded=["vector"]))
    count(recording, "answers", "answer", 2.0)
    count(recording, "answers", "answer", 0.1, Reply(error="http 503"))
    summary = summarise(recording, duration_s=2.0)
    assert list(summary.kinds) == ["answers", "long", "short"]
    assert (summary.counts.sent, summary.counts.answered, summary.counts.incomplete) == (4, 3, 1)
    assert summary.kinds["answers"].errors == {"http 503": 1}
    assert summary.calls["search"]["latency"].count == 2
    assert summary.calls["search"]["latency"].max == pytest.approx(300, rel=1e-3)
    assert (summary.generator.offered_per_s, summary.generator.achieved_per_s) == (2.0, 1.5)
    assert summary.generator.lag_ms is not None
    assert summary.generator.lag_ms.p99 == pytest.approx(1, rel=1e-2)


def test_a_measure_that_only_one_kind_has_is_of_its_call() -> None:
    recording = Recording()
    count(recording, "no_hit", "search", 0.1, Reply(stages_ms={"keyword": 3.0}))
    count(recording, "short", "search", 0.1, Reply(stages_ms={"keyword": 5.0, "embed": 9.0}))
    calls = summarise(recording, duration_s=1.0).calls
    assert calls["search"]["server.keyword"].count == 2
    assert calls["search"]["server.embed"].count == 1


def test_an_empty_recording_has_no_figures() -> None:
    summary = summarise(Recording(), duration_s=1.0)
    assert (summary.generator.lag_ms, summary.counts.sent, summary.kinds, summary.calls) == (None, 0, {}, {})
