"""The report of a load run, as it stands in `report.json`; `python -m loadtests schema` prints its JSON Schema."""

from typing import Literal

from pydantic import Field

from loadtests.arrivals import Pattern
from loadtests.figures import Figures
from loadtests.provenance import Machine, Source
from loadtests.strict import StrictFile
from loadtests.verdict import Counts, Verdict
from services.local.index_engine import EMBEDDED


class Stack(StrictFile):
    """The stack under load."""

    started_here: bool = Field(description="By this run, on fresh data; else it was running already.")
    model: str
    generator: str
    chunks: dict[str, int] = Field(description="Size of each collection that was searched.")


class Setup(StrictFile):
    """All that makes two runs comparable."""

    mix: str
    environment: str
    budget_scale: float
    arrivals: Pattern
    rate_per_s: float
    warm_up_s: float
    duration_s: float
    processes: int
    seed: int
    index: str = Field(EMBEDDED, description="Engine of the index.")


class Generator(StrictFile):
    """How well the load was offered. Rates are of the recorded time."""

    lag_ms: Figures | None = Field(description="Real less intended start; null when nothing was sent.")
    offered_per_s: float = Field(description="Requests due.")
    achieved_per_s: float = Field(description="Whole answers that came.")


class KindReport(Counts):
    """One kind of request. `measures` are of whole answers; timeouts stand in `latency` at their limit."""

    call: str
    over: str
    errors: dict[str, int]
    degraded: dict[str, int] = Field(description="Answers without a part, by part.")
    measures: dict[str, Figures] = Field(
        description="latency (a write's: until it is applied), accepted, first_token, between_tokens from the intended "
        "start; hops: beyond the server's total; server.<stage>: what the response says, server.legs the slower leg."
    )


class Difference(StrictFile):
    """One quantile of a call's measure now and in the accepted run, milliseconds."""

    what: str
    now: float
    accepted: float
    apart: bool = Field(description="The 95 % intervals do not overlap: more than chance.")


class Comparison(StrictFile):
    """This run beside the last accepted one."""

    accepted_date: str
    accepted_commit: str | None
    unlike: list[str] = Field(description="In what the two runs are not alike, so that differences may come from it.")
    differences: list[Difference]


class Report(StrictFile):
    """One run."""

    schema_version: Literal[1] = 1
    date: str = Field(description="Start of the recorded run, ISO 8601 in UTC.")
    machine: Machine
    load_average: float = Field(description="Of the minute before the run.")
    source: Source
    stack: Stack
    setup: Setup
    generator: Generator
    counts: Counts
    kinds: dict[str, KindReport]
    calls: dict[str, dict[str, Figures]] = Field(description="The same measures by call, over its kinds.")
    verdict: Verdict
    comparison: Comparison | None = None
