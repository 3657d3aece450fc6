"""Reads recorded spans and prints the trace of one request as a tree over all services. Pure but for `read_spans`."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

REQUEST_ID = "plumbline.request_id"


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work of one service. Ids are lower-case hex; `parent_id` is empty for the first span of a trace."""

    trace_id: str
    span_id: str
    parent_id: str
    service: str
    name: str
    start_ns: int
    end_ns: int
    status: str
    attributes: Mapping[str, str]


def to_line(span: Span) -> str:
    """The span as one line of JSON, without the line's end."""
    return json.dumps(asdict(span), ensure_ascii=False)


def read_spans(files: Iterable[Path]) -> list[Span]:
    """All spans in those of `files` that exist; a last line that is not whole yet is left out."""
    spans = []
    for file in files:
        if file.is_file():
            spans += [Span(**json.loads(line)) for line in file.read_text().split("\n")[:-1]]
    return spans


def trace_of(spans: Sequence[Span], request_id: str | None) -> list[Span]:
    """The spans of the newest trace, or of the newest with this request id; empty when there is none."""
    of_request = [span for span in spans if request_id in (None, span.attributes.get(REQUEST_ID))]
    if not of_request:
        return []
    newest = max(of_request, key=lambda span: span.start_ns).trace_id
    return [span for span in spans if span.trace_id == newest]


def render_tree(trace: Sequence[Span]) -> str:
    """One line a span: its start in ms from the trace's, its duration in ms, its service and name, its failure if any.

    Children stand under their parent in order of start, then of id; a span whose parent is not there stands at the top.
    """
    known = {span.span_id for span in trace}
    children: dict[str, list[Span]] = defaultdict(list)
    for span in sorted(trace, key=lambda span: (span.start_ns, span.span_id)):
        children[span.parent_id if span.parent_id in known else ""].append(span)
    began = min(span.start_ns for span in trace)
    request_ids = sorted({span.attributes[REQUEST_ID] for span in trace if REQUEST_ID in span.attributes})
    lines = [f"trace {trace[0].trace_id}  request {', '.join(request_ids) or 'unknown'}"]

    def add(span: Span, depth: int) -> None:
        at_ms, took_ms = (span.start_ns - began) / 1e6, (span.end_ns - span.start_ns) / 1e6
        failed = "" if span.status in ("UNSET", "OK") else f"  {span.status}"
        lines.append(f"{at_ms:9.1f} {took_ms:9.1f} ms  {'  ' * depth}{span.service}  {span.name}{failed}")
        for child in children[span.span_id]:
            add(child, depth + 1)

    for top in children[""]:
        add(top, 0)
    return "\n".join(lines)
