"""`python -m loadtests.embed_bench`: speed side by side (`make bench-embed`), and three proofs on a running service.

Exit codes: 0 every target was reached, 1 one was missed, 3 there was no run.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from loadtests.embed_bench.agreement import agreement, library_vectors, mixed_texts, served_vectors
from loadtests.embed_bench.bench import Plan, run
from loadtests.embed_bench.late_facts import late_facts
from loadtests.embed_bench.memory import memory
from loadtests.embed_bench.peer_environment import lock
from loadtests.embed_bench.picture import draw
from loadtests.embed_bench.report import as_markdown
from loadtests.embed_bench.service import running_service
from services.local.failure import Failure
from services.local.settings import DEFAULT_MODEL, read_settings
from services.local.weights import folder_of

RESULTS = Path(__file__).resolve().parents[1] / "results" / "embed"
NO_RUN = 3
# What vectors in each precision may differ from those of the library in single precision.
LEAST_COSINE = {"float32": 0.9999, "float16": 0.999, "bfloat16": 0.999}
_MOST_GROWTH = 0.05


def main(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    try:
        options = _parser().parse_args(arguments)
        if options.command == "lock":
            lock()
            return 0
        options.folder = folder_of(options.model, read_settings().models_folder)
        commands: dict[str, Callable[[argparse.Namespace], Coroutine[Any, Any, bool]]] = {
            "bench": _bench,
            "agreement": _agreement,
            "late-facts": _late_facts,
            "memory": _memory,
        }
        return 0 if asyncio.run(commands[options.command](options)) else 1
    except Failure as failure:
        print(failure, file=sys.stderr)
        return NO_RUN
    except KeyboardInterrupt:
        return 130


async def _bench(options: argparse.Namespace) -> bool:
    plan = Plan(
        folder=options.folder,
        passages=options.passages,
        clients=tuple(options.clients),
        rounds=options.rounds,
        mixed_queries=options.mixed_queries,
        threads=options.threads,
        with_infinity=not options.without_infinity,
    )
    report = await run(plan, options.out)
    page = as_markdown(report)
    (options.out / f"{report.model}.json").write_text(report.model_dump_json(indent=2) + "\n")
    (options.out / f"{report.model}.md").write_text(page)
    draw(report, options.out / f"{report.model}.png")
    print(page)
    print(f"The report is in {options.out}.")
    return all(check.is_kept for check in report.checks)


async def _agreement(options: argparse.Namespace) -> bool:
    texts = mixed_texts(options.texts)
    theirs = await asyncio.to_thread(library_vectors, options.folder, texts)
    kept = True
    for dtype in options.dtypes:
        async with running_service(str(options.folder), _settings(options, dtype), options.log) as client:
            computes_in = (await client.describe()).dtype
            for batch in (1, 64):
                found = agreement(await served_vectors(client, texts, batch), theirs, batch=batch)
                print(
                    f"{options.folder.name} {computes_in}, {found.texts} texts, {batch} a call: least cosine "
                    f"{found.least_cosine:.6f}, {100 * found.same_top_10:.2f} % of the nearest ten the same",
                    flush=True,
                )
                kept &= found.least_cosine >= LEAST_COSINE[computes_in]
    return kept


async def _late_facts(options: argparse.Namespace) -> bool:
    async with running_service(str(options.folder), _settings(options, "auto"), options.log) as client:
        found = {one.way: one for one in await late_facts(client, options.facts)}
    for one in found.values():
        print(
            f"{options.folder.name}, {len(one.ranks)} facts, {one.way}: {100 * one.within_10:.0f} % among the first "
            f"ten, MRR {one.reciprocal_rank:.3f}, mean rank {one.mean_rank:.1f}"
        )
    return found["windows"].reciprocal_rank > found["mean"].reciprocal_rank > found["cut"].reciprocal_rank


async def _memory(options: argparse.Namespace) -> bool:
    async with running_service(str(options.folder), _settings(options, "auto"), options.log) as client:
        found = await memory(client, options.requests, lambda line: print(line, flush=True))
    print(
        f"{options.folder.name}: {found.settled_mib:.0f} MiB after a tenth of {found.requests} requests, at most "
        f"{found.most_mib:.0f} later, {found.last_mib:.0f} at the end: {100 * found.growth:+.1f} %"
    )
    return abs(found.growth) <= _MOST_GROWTH


def _settings(options: argparse.Namespace, dtype: str) -> dict[str, str]:
    return {"dtype": dtype, "threads": str(options.threads)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m loadtests.embed_bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

    def command(name: str, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text)
        made.add_argument("--model", default=DEFAULT_MODEL, help="a name that `make weights` knows, or a folder")
        made.add_argument("--threads", type=int, default=cores, help="of one forward pass, for all (%(default)s)")
        made.add_argument("--log", type=Path, default=Path(os.devnull), help="file for what the service says")
        return made

    bench = command("bench", "speed of the library, this service and infinity")
    bench.add_argument("--passages", type=int, default=2000, help="(%(default)s)")
    bench.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64], help="(%(default)s)")
    bench.add_argument("--rounds", type=int, default=3, help="(%(default)s)")
    bench.add_argument("--mixed-queries", type=int, default=120, help="queries during ingest, a round (%(default)s)")
    bench.add_argument("--without-infinity", action="store_true", help="leave the peer out")
    bench.add_argument("--out", type=Path, default=RESULTS, help="folder of the report (%(default)s)")
    agree = command("agreement", "vectors against those of the library")
    agree.add_argument("--texts", type=int, default=500, help="(%(default)s)")
    agree.add_argument("--dtypes", nargs="+", default=["float32", "auto"], help="(%(default)s)")
    late = command("late-facts", "facts that stand after word piece 450")
    late.add_argument("--facts", type=int, default=60, help="(%(default)s)")
    many = command("memory", "memory over many requests")
    many.add_argument("--requests", type=int, default=50_000, help="(%(default)s)")
    commands.add_parser("lock", help="resolve infinity's environment again")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
