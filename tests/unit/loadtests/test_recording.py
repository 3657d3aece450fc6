import pickle
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loadtests.mix import Request
from loadtests.recording import Recording, histogram, record
from loadtests.reply import Reply, Times

REQUEST = Request("short", "search", "http", {}, timeout_s=10.0)


def recorded(latencies_s: Iterable[float], reply: Reply | None = None, request: Request = REQUEST) -> Recording:
    recording = Recording()
    for latency_s in latencies_s:
        recording.count(request, reply or Reply(), Times(intended=100, started=100, ended=100 + latency_s))
    return recording


def content(recording: Recording, measure: str = "latency") -> bytes:
    """Every value and count of a histogram."""
    encoded: bytes = recording.kinds["short"].measures[measure].encode()
    return encoded


@settings(deadline=None)
@given(st.lists(st.floats(0, 100), min_size=1), st.lists(st.floats(0, 100), min_size=1))
def test_merged_parts_are_what_one_process_would_have_recorded(first: list[float], second: list[float]) -> None:
    merged = recorded(first)
    merged.add(recorded(second))
    assert content(merged) == content(recorded(first + second))
    assert merged.kinds["short"].sent == len(first) + len(second)


def test_merging_adds_up_counts_and_keeps_kinds_that_only_one_part_has() -> None:
    merged = recorded([1.0], Reply(degraded=["vector"]))
    merged.add(recorded([1.0, 2.0], Reply(degraded=["ranking", "vector"])))
    merged.add(recorded([1.0], Reply(error="http 503")))
    merged.add(recorded([1.0], request=Request("long", "search", "http", {}, 10.0)))
    short = merged.kinds["short"]
    assert (short.sent, short.answered, short.incomplete) == (4, 3, 3)
    assert short.degraded == {"vector": 3, "ranking": 2}
    assert short.errors == {"http 503": 1}
    assert merged.kinds["long"].sent == 1
    assert merged.lag.get_total_count() == 5


def test_merging_leaves_the_part_as_it_was() -> None:
    part, total = recorded([1.0]), recorded([2.0])
    before = content(part)
    total.add(part)
    total.add(recorded([3.0]))
    assert content(part) == before


def test_a_recording_survives_the_way_from_its_process() -> None:
    recording = recorded([0.001, 0.5, 12.0], Reply(degraded=["vector"], stages_ms={"embed": 3.5}))
    arrived = pickle.loads(pickle.dumps(recording))
    assert content(arrived) == content(recording)
    assert content(arrived, measure="server.embed") == content(recording, measure="server.embed")
    assert arrived.kinds["short"].degraded == {"vector": 3}
    arrived.add(recording)
    assert arrived.kinds["short"].sent == 6


def test_a_fast_failure_does_not_stand_among_the_latencies() -> None:
    recording = recorded([0.001], Reply(error="http 503"))
    assert recording.kinds["short"].measures == {}


@pytest.mark.parametrize("error", ["timeout", "http 504", "DEADLINE_EXCEEDED"])
def test_a_timeout_of_either_side_stands_there_at_its_limit(error: str) -> None:
    recording = recorded([2.0], Reply(error=error))
    latency = recording.kinds["short"].measures["latency"]
    assert (latency.get_max_value(), latency.get_total_count()) == (pytest.approx(10_000_000, rel=1e-3), 1)
    assert recording.kinds["short"].errors == {error: 1}


def test_one_measure_is_pooled_over_the_kinds_of_a_call() -> None:
    recording = recorded([1.0, 1.0])
    recording.add(recorded([2.0], request=Request("long", "search", "http", {}, 10.0)))
    recording.add(recorded([3.0], request=Request("answers", "answer", "http", {}, 10.0)))
    assert recording.pooled("search", "latency").get_total_count() == 3
    assert recording.pooled("search", "first_token").get_total_count() == 0


@given(st.floats(0, 3600))
def test_a_duration_is_kept_to_three_digits(seconds: float) -> None:
    counted = histogram()
    record(counted, seconds)
    assert counted.get_max_value() == pytest.approx(max(1, seconds * 1e6), rel=1e-3, abs=0.5)


def test_what_lasts_longer_than_an_hour_counts_as_an_hour() -> None:
    counted = histogram()
    record(counted, 1e9)
    assert counted.get_max_value() == pytest.approx(3600e6, rel=1e-3)
