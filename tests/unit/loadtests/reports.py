"""A report to change in tests."""

from typing import Any

from loadtests.figures import Figures, Spread
from loadtests.provenance import Machine, Source
from loadtests.report import Generator, KindReport, Report, Setup, Stack
from loadtests.verdict import Check, Counts, Verdict


def figures(p95: float, *, off: float = 5.0, count: int = 400) -> Figures:
    """Figures around a p95, whose quantiles chance may move by `off` to either side."""
    quantiles = {"p50": p95 / 2, "p90": p95 - 1, "p95": p95, "p99": p95 + 10}
    spread = {name: Spread(low=value - off, high=value + off) for name, value in quantiles.items()}
    return Figures(count=count, max=p95 + 20, spread=spread, **quantiles)


MACHINE = Machine(cpu="a CPU", cores=2, memory_gib=23.4, system="Linux", python="3.11.7")
SETUP = Setup(
    mix="everyday",
    environment="laptop",
    budget_scale=1.0,
    arrivals="poisson",
    rate_per_s=4,
    warm_up_s=15,
    duration_s=120,
    processes=1,
    seed=1,
)
KIND = KindReport(
    call="search",
    over="http",
    sent=400,
    answered=399,
    incomplete=2,
    errors={"timeout": 1},
    degraded={"vector": 2},
    measures={"latency": figures(60)},
)


def report(**changes: Any) -> Report:
    """A passing run of one kind, with what a test wants otherwise."""
    parts: dict[str, Any] = {
        "date": "2026-11-30T15:00:00+00:00",
        "machine": MACHINE,
        "load_average": 0.4,
        "source": Source(commit="c0ffee", dirty=False),
        "stack": Stack(started_here=True, model="all-MiniLM-L6-v2", generator="extractive", chunks={"papers": 7}),
        "setup": SETUP,
        "generator": Generator(lag_ms=figures(1.5, off=0.1), offered_per_s=3.4, achieved_per_s=3.3),
        "counts": Counts(sent=400, answered=399, incomplete=2),
        "kinds": {"short": KIND},
        "calls": {"search": {"latency": figures(60)}},
        "verdict": Verdict(
            outcome="pass",
            reasons=[],
            checks=[Check(what="search p95", unit="ms", measured=60, limit=80, kept=True)],
            not_judged=["answer: not measured"],
        ),
    }
    return Report(**(parts | changes))
