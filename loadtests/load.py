"""`make load`: one run against one stack, from its set-up to the verdict."""

import asyncio
import os
from contextlib import AsyncExitStack, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from loadtests.budget import Budget, read_budget
from loadtests.comparison import compare
from loadtests.generator import Load, generate
from loadtests.grpc_sender import SERVICES
from loadtests.markdown import markdown
from loadtests.mix import Mix
from loadtests.picture import draw
from loadtests.provenance import this_machine, this_source
from loadtests.report import Report, Setup
from loadtests.stack import Address, describe, own_stack, scratch_collection
from loadtests.summary import Summary, summarise
from loadtests.verdict import Verdict, judge
from services.local.failure import Failure
from services.local.index_engine import EMBEDDED

RESULTS = Path(__file__).with_name("results") / "load"
LATEST = RESULTS / "latest"


async def run(mix: Mix, setup: Setup, running: Address | None) -> Report:
    """Offer the load to the stack at `running`, else to one of its own, and judge it.

    Raises Failure when there is no run to make.
    """
    budget = read_budget()
    budget.limits(setup.environment)  # an unknown environment is told before anything is started
    async with AsyncExitStack() as until_done:
        address = await until_done.enter_async_context(nullcontext(running) if running else own_stack(mix, setup.index))
        _require_targets(mix, address)
        stack = await describe(address.url, mix, started_here=running is None)
        await until_done.enter_async_context(scratch_collection(address.url, mix))
        date, load_average = datetime.now(UTC), os.getloadavg()[0]
        seconds = setup.warm_up_s + setup.duration_s
        print(f"load       {setup.rate_per_s:g}/s to {address.url} for {seconds:g} s", flush=True)
        recording = await asyncio.to_thread(generate, Load(address.url, address.targets, mix, setup))

    measured = summarise(recording, setup.duration_s)
    return Report(
        date=date.isoformat(timespec="seconds"),
        machine=this_machine(),
        load_average=load_average,
        source=this_source(),
        stack=stack,
        setup=setup,
        generator=measured.generator,
        counts=measured.counts,
        kinds=measured.kinds,
        calls=measured.calls,
        verdict=_verdict(budget, setup, measured),
    )


def beside_accepted(report: Report, file: Path) -> Report:
    """The report with its comparison to the accepted run in `file`, where there is one."""
    if not file.is_file():
        return report
    accepted = Report.model_validate_json(file.read_text())
    return report.model_copy(update={"comparison": compare(report, accepted)})


def accepted_file(setup: Setup) -> Path:
    """The report that runs of this mix, environment and engine are compared with."""
    engine = "" if setup.index == EMBEDDED else f"-{setup.index}"
    return RESULTS / f"{setup.mix}-{setup.environment}{engine}.json"


def accept(report: Report) -> None:
    """Make this the accepted run of its mix, environment and engine. Raises Failure unless it kept the whole budget."""
    if report.verdict.outcome != "pass" or report.setup.budget_scale != 1:
        raise Failure("only a run that keeps the whole budget can be accepted")
    write(report, RESULTS, accepted_file(report.setup).stem)


def write(report: Report, folder: Path, name: str) -> str:
    """Write JSON, Markdown and picture of this name; returns the Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(report.model_dump_json(indent=2) + "\n")
    draw(report, folder / f"{name}.png")
    text = markdown(report, picture=f"{name}.png")
    (folder / f"{name}.md").write_text(text)
    return text


def _require_targets(mix: Mix, address: Address) -> None:
    needed = {SERVICES[kind.call] for kind in mix.kinds.values() if kind.over == "grpc"}
    if missing := sorted(needed - address.targets.keys()):
        raise Failure(f"this mix calls services over gRPC; say where: --target {missing[0]}=127.0.0.1:PORT")


def _verdict(budget: Budget, setup: Setup, measured: Summary) -> Verdict:
    stages = {
        name: measured.calls[stage.call][stage.measure]
        for name, stage in budget.stages.items()
        if stage.measure in measured.calls.get(stage.call, {})
    }
    lag = measured.generator.lag_ms
    return judge(
        budget.limits(setup.environment, scale=setup.budget_scale),
        budget.objectives,
        stages,
        measured.counts,
        lag_p99_ms=lag.p99 if lag else 0.0,
    )
