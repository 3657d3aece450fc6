from dataclasses import replace
from pathlib import Path

from services.local.trace_tree import Span, read_spans, render_tree, to_line, trace_of

MS = 1_000_000


def span(span_id: str, parent_id: str = "", *, trace_id: str = "t1", at: int = 0, took: int = 1, **more: str) -> Span:
    """A span that starts `at` ms and takes `took` ms."""
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        service=more.get("service", "gateway"),
        name=more.get("name", span_id),
        start_ns=at * MS,
        end_ns=(at + took) * MS,
        status=more.get("status", "UNSET"),
        attributes={"plumbline.request_id": more["request_id"]} if "request_id" in more else {},
    )


def test_children_stand_under_their_parent_in_order_of_start() -> None:
    spans = [
        span("keyword", "search", at=3, took=4, service="search"),
        span("embed", "search", at=2, took=7, service="embedding"),
        span("search", "root", at=1, took=10, service="search", status="UNAVAILABLE"),
        span("root", at=0, took=12, name="POST /v1/search", request_id="r1"),
    ]
    assert render_tree(spans) == (
        "trace t1  request r1\n"
        "      0.0      12.0 ms  gateway  POST /v1/search\n"
        "      1.0      10.0 ms    search  search  UNAVAILABLE\n"
        "      2.0       7.0 ms      embedding  embed\n"
        "      3.0       4.0 ms      search  keyword"
    )


def test_siblings_that_start_together_are_in_order_of_their_id() -> None:
    lines = render_tree([span("b", "root", at=1), span("a", "root", at=1), span("root")]).splitlines()
    assert [line.split()[-1] for line in lines[1:]] == ["root", "a", "b"]


def test_a_span_whose_parent_was_not_recorded_stands_at_the_top() -> None:
    assert render_tree([span("lost", "unknown")]) == "trace t1  request unknown\n      0.0       1.0 ms  gateway  lost"


def test_without_a_request_id_the_newest_trace_is_taken_whole() -> None:
    older = [span("a", trace_id="t1", at=1), span("b", "a", trace_id="t1", at=2)]
    newer = [span("c", trace_id="t2", at=5), span("d", "c", trace_id="t2", at=6)]
    assert trace_of([*newer, *older], None) == newer
    assert trace_of([], None) == []


def test_a_request_id_finds_its_trace_with_the_spans_that_do_not_carry_it() -> None:
    wanted = [span("a", trace_id="t1", at=1, request_id="r1"), span("b", "a", trace_id="t1", at=2)]
    other = [span("c", trace_id="t2", at=5, request_id="r2")]
    assert trace_of([*wanted, *other], "r1") == wanted
    assert trace_of([*wanted, *other], "r3") == []


def test_of_two_traces_of_one_request_id_the_newer_is_taken() -> None:
    first = span("a", trace_id="t1", at=1, request_id="r1")
    second = replace(first, trace_id="t2", start_ns=9 * MS, end_ns=10 * MS)
    assert trace_of([first, second], "r1") == [second]


def test_spans_are_read_back_as_written_and_a_cut_last_line_is_left_out(tmp_path: Path) -> None:
    spans = [span("a", request_id="ü1"), span("b", "a")]
    file = tmp_path / "traces.jsonl"
    file.write_text("".join(f"{to_line(one)}\n" for one in spans) + to_line(span("c"))[:20])
    assert read_spans([tmp_path / "missing.jsonl", file]) == spans
