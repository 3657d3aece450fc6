"""`python -m loadtests.quality`, the command behind `make eval`: judged sets through the services, stage by stage.

Exit codes: 0 nothing is worse than the accepted figures, 1 something is, 3 nothing was measured.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from loadtests.quality.evaluation import Stack, evaluate
from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.known_sets import known_sets, set_of_folder
from loadtests.quality.results import RESULTS, accept, beside_accepted, results_of, write
from services.local.failure import Failure
from services.local.index_engine import EMBEDDED, FOLDERS

WORSE, NOTHING_MEASURED = 1, 3


class _Parser(argparse.ArgumentParser):
    """argparse leaves with 2 by itself; whoever asks wrongly has measured nothing."""

    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}; see python -m loadtests.quality --help")


def main(arguments: Sequence[str], *, results: Path = RESULTS) -> int:
    """Measure what the arguments name and compare it with what is accepted in `results`; returns the exit code."""
    try:
        options = _parser().parse_args(arguments)
        if options.accept and options.broken_analyzer:
            raise Failure("figures of a broken analyzer are not accepted")
        stack = Stack(options.url, options.data, options.index, options.broken_analyzer)
        results = results_of(options.index, results)
        folder = options.out or results / "latest"
        figures = asyncio.run(evaluate(_sets(options), stack))
        measured = [beside_accepted(judged, one, results) for judged, one in figures]
        print(write(measured, folder))
        print(f"The report is in {folder}.")
        if new := [one.judged.name for one in measured if not one.comparison]:
            print(f"There are no accepted figures of {', '.join(new)} to compare with; --accept makes these the first.")
        if options.accept:
            accept(measured, results)
            return 0
    except Failure as failure:
        print(failure, file=sys.stderr)
        return NOTHING_MEASURED
    except KeyboardInterrupt:
        return 130
    return WORSE if any(one.is_worse for one in measured) else 0


def _sets(options: argparse.Namespace) -> list[JudgedSet]:
    """What is to be measured, each once, all known sets where nothing is named. Raises Failure for an unknown name."""
    known = known_sets()
    if unknown := [name for name in options.sets if name not in known]:
        raise Failure(f"there is no set {unknown[0]}; there are {', '.join(known)}, and --folder and --collection")
    if options.collection and not options.url:
        raise Failure("--collection needs --url: the gateway of the stack that has it")
    sets = [known[name] for name in options.sets]
    sets += [
        set_of_folder(folder, model=options.model, profile=options.profile, locale=options.locale)
        for folder in options.folder
    ]
    sets += [JudgedSet(name, name, watched=("nDCG@10",)) for name in options.collection]
    return list({judged.name: judged for judged in sets or known.values()}.values())


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m loadtests.quality", description=__doc__)
    option = parser.add_argument
    option("sets", nargs="*", metavar="SET", help=f"{', '.join(known_sets())}; without any, all of them")
    option("--folder", type=Path, action="append", default=[], help="a set in BEIR's or TREC's files")
    option("--model", default="all-MiniLM-L6-v2", help="for --folder: the embedding model (%(default)s)")
    option("--profile", default="docs", help="for --folder: the collection's profile (%(default)s)")
    option("--locale", default="en", help="for --folder: the language of its texts (%(default)s)")
    option("--collection", action="append", default=[], help="a collection at --url, by its own judged queries")
    option("--url", help="gateway of a running stack; without it a stack of this checkout is started and stopped")
    option(
        "--data",
        type=Path,
        help="keep the started stack's data in this folder and go on from there; an index that is there stays as the "
        "code of its time made it (without it, everything is made anew)",
    )
    option(
        "--index",
        choices=FOLDERS,
        default=EMBEDDED,
        help="engine of the index; each has its accepted figures (%(default)s)",
    )
    option("--out", type=Path, help="folder of report and figures (`latest` beside the accepted ones)")
    option("--accept", action="store_true", help="make these the figures that later ones are compared with")
    option("--broken-analyzer", action="store_true", help="prove that a fault is noticed: queries are analysed wrongly")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
