"""`python -m loadtests load`, the command behind `make load`, and `python -m loadtests schema`.

Exit codes of `load`: 0 the budget was kept, 1 it was broken, 2 the run is invalid and says nothing, 3 there was no run.
"""

import argparse
import asyncio
import json
import secrets
import sys
from pathlib import Path
from typing import NoReturn

from loadtests.arrivals import ARRIVALS
from loadtests.load import LATEST, accept, accepted_file, beside_accepted, run, write
from loadtests.loopback_only import loopback_target, loopback_url
from loadtests.mix import read_mix
from loadtests.report import Report, Setup
from loadtests.stack import Address
from services.local.failure import Failure
from services.local.index_engine import EMBEDDED, FOLDERS

EXIT_CODES = {"pass": 0, "fail": 1, "invalid": 2}
NO_RUN = 3
_MOST = 1e6


class _Parser(argparse.ArgumentParser):
    """argparse leaves with 2 by itself, which here means an invalid run."""

    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}; see python -m loadtests load --help")


def main(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    try:
        options = _parser().parse_args(arguments)
        if options.command == "schema":
            print(json.dumps(Report.model_json_schema(), indent=2))
            return 0
        return EXIT_CODES[_load(options)]
    except Failure as failure:
        print(failure, file=sys.stderr)
        return NO_RUN
    except KeyboardInterrupt:
        return 130


def _load(options: argparse.Namespace) -> str:
    running = None
    if options.url:
        targets = {name: loopback_target(target) for name, target in options.target}
        running = Address(loopback_url(options.url), targets)
    mix = read_mix(options.mix)
    setup = Setup(
        mix=Path(options.mix).stem,
        environment=options.environment,
        budget_scale=options.budget_scale,
        arrivals=options.arrivals,
        rate_per_s=options.rate or mix.rate_per_s,
        warm_up_s=options.warm_up,
        duration_s=options.duration,
        processes=options.processes,
        seed=options.seed,
        index=options.index,
    )
    report = beside_accepted(asyncio.run(run(mix, setup, running)), accepted_file(setup))
    print(write(report, options.out, "report"))
    print(f"The report is in {options.out}.")
    if options.accept:
        accept(report)
    return report.verdict.outcome


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m loadtests")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("schema", help="print the JSON Schema of report.json")
    load = commands.add_parser("load", help="offer a load and judge it by slo.yaml", epilog=__doc__)
    option = load.add_argument
    option("--url", help="gateway of a running stack on 127.0.0.1; without it a fresh stack is started and stopped")
    option(
        "--target",
        action="append",
        default=[],
        type=_target,
        metavar="SERVICE=127.0.0.1:PORT",
        help="a service of that stack, for mixes that call services over gRPC; its log says its port",
    )
    option("--mix", default="everyday", help="name of a file in loadtests/mixes, or a path (%(default)s)")
    option("--environment", default="laptop", help="column of slo.yaml (%(default)s)")
    option("--budget-scale", type=_positive, default=1.0, help="factor on every limit in milliseconds (%(default)s)")
    option("--arrivals", choices=ARRIVALS, default="poisson", help="(%(default)s)")
    option("--index", choices=FOLDERS, default=EMBEDDED, help="engine of the stack's index (%(default)s)")
    option("--rate", type=_positive, help="requests per second, all kinds together (what the mix says)")
    option("--warm-up", type=_positive, default=15.0, help="seconds that are sent and not recorded (%(default)s)")
    option("--duration", type=_positive, default=120.0, help="seconds that are recorded (%(default)s)")
    option("--processes", type=int, choices=range(1, 65), default=1, metavar="N", help="generators (%(default)s)")
    option("--seed", type=int, default=secrets.randbelow(2**31), help="of arrivals and words (another every time)")
    option("--out", type=Path, default=LATEST, help="folder of report.json, report.md and report.png (%(default)s)")
    option("--accept", action="store_true", help="make this run, when it passes, what later ones are compared with")
    return parser


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < _MOST:
        raise argparse.ArgumentTypeError(f"{text} is not over 0")
    return value


def _target(text: str) -> tuple[str, str]:
    service, found, target = text.partition("=")
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is not SERVICE=127.0.0.1:PORT")
    return service, target


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
