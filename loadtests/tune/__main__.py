"""`python -m loadtests.tune`, the command behind `make tune` and `make study-ranking`.

Exit codes: 0 it was measured, 3 nothing was.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.known_sets import known_sets, set_of_folder
from loadtests.tune.capture import Captured
from loadtests.tune.native_study import NATIVE_SETS, native_page
from loadtests.tune.picture import draw
from loadtests.tune.replay import Knobs
from loadtests.tune.report import markdown
from loadtests.tune.stores import capture_collection, capture_sets
from loadtests.tune.studies import study
from loadtests.tune.study_sets import BY_DEFAULT, STUDY_SETS, study_set
from loadtests.tune.sweep import Settings
from loadtests.tune.tuning import changed_settings, tune
from loadtests.tune.values import NDCG10, NDCG20, P10
from services.local.failure import Failure
from services.local.progress import ProgressLine

RESULTS = Path(__file__).parents[1] / "results" / "ranking"
NOTHING_MEASURED = 3


class _Parser(argparse.ArgumentParser):
    """argparse leaves with 2 by itself; whoever asks wrongly has measured nothing."""

    def error(self, message: str) -> NoReturn:
        raise Failure(f"{message}; see python -m loadtests.tune --help")


def main(arguments: Sequence[str]) -> int:
    """Tune one collection, or make the tables of the studies; returns the exit code."""
    try:
        options = _parser().parse_args(arguments)
        if options.study:
            _study(options)
        else:
            _tune(options)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return NOTHING_MEASURED
    except KeyboardInterrupt:
        return 130
    return 0


def _tune(options: argparse.Namespace) -> None:
    judged = _judged_set(options)
    with TemporaryDirectory(prefix="plumbline-tune-") as scratch:
        if judged:
            data = options.data or Path(scratch)
            captured = asyncio.run(capture_sets([judged], data))[judged.name]
        elif options.collection:
            data = options.data or Path(".plumbline")
            captured = asyncio.run(capture_collection(options.collection, os.environ, data, Path(scratch)))
        else:
            raise Failure("name what to tune: COLLECTION=<name>, --set or --folder")
    clock = options.clock or (judged.clock if judged else None)
    today = _day(clock) if clock else datetime.now(UTC).date()
    own = captured.declaration.resolved_settings()
    tuning = tune(
        captured,
        Knobs(own.retrieval, own.ranking, today),
        measure=options.measure,
        cost=options.cost,
        tracked=_tracked,
    )
    folder = options.out or RESULTS / "latest" / captured.declaration.name
    folder.mkdir(parents=True, exist_ok=True)
    settings = changed_settings(own, tuning.knobs)
    (folder / "settings.json").write_text(json.dumps({"settings": settings}, indent=2) + "\n")
    draw(tuning, folder / "tuning.png", measure=options.measure, title=_title(captured, options.measure))
    text = markdown(
        captured,
        tuning,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        measure=options.measure,
        cost=options.cost,
        settings=settings,
        picture="tuning.png",
    )
    (folder / "tuning.md").write_text(text)
    print(text)
    print(f"Report, picture and settings.json are in {folder}. No setting was changed.")


def _study(options: argparse.Namespace) -> None:
    names = options.sets or list(NATIVE_SETS if options.native else BY_DEFAULT)
    if unknown := [name for name in names if name not in STUDY_SETS]:
        raise Failure(f"there is no study of {unknown[0]}; there are {', '.join(STUDY_SETS)}")
    judged = {name: STUDY_SETS[name]() for name in names}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with TemporaryDirectory(prefix="plumbline-tune-") as scratch:
        data = options.data or Path(scratch)
        captured = asyncio.run(capture_sets(list(judged.values()), data))
        sets = {name: study_set(one, captured[name]) for name, one in judged.items()}
        if options.native:
            name, text = "native", native_page(sets, captured, data, Path(scratch) / "weaviate", date=now)
        else:
            name, text = "study", study(sets, date=now)
    folder = options.out or RESULTS / "latest"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text)
    print(text)
    print(f"The tables are in {folder}.")


def _judged_set(options: argparse.Namespace) -> JudgedSet | None:
    if options.folder:
        return set_of_folder(options.folder, model=options.model, profile=options.profile, locale=options.locale)
    if not options.set:
        return None
    known = known_sets()
    if options.set not in known:
        raise Failure(f"there is no set {options.set}; there are {', '.join(known)}, and --folder")
    return known[options.set]


def _title(captured: Captured, measure: str) -> str:
    return f"{captured.declaration.name}: {measure} of {len(captured.queries)} judged queries, {captured.model}"


def _tracked(name: str, settings: Sequence[Settings]) -> Iterator[Settings]:
    progress = ProgressLine(f"tried  {name:<16}", len(settings), "settings")
    for number, one in enumerate(settings, start=1):
        yield one
        progress.show(number)
    progress.finish()


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Failure(f"--clock is a day, YYYY-MM-DD, not {text!r}") from None


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("it is from 0 to 1")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m loadtests.tune", description=__doc__)
    option = parser.add_argument
    option("collection", nargs="?", help="a collection that is there, by its own judged queries; its stack may run")
    option("--set", help=f"a known set instead: {', '.join(known_sets())}")
    option("--folder", type=Path, help="a set in BEIR's or TREC's files instead")
    option("--model", default="all-MiniLM-L6-v2", help="for --folder: the embedding model (%(default)s)")
    option("--profile", default="docs", help="for --folder: the collection's profile (%(default)s)")
    option("--locale", default="en", help="for --folder: the language of its texts (%(default)s)")
    option(
        "--data",
        type=Path,
        help="of a collection: the data folder of its `make run` (.plumbline), unless PLUMBLINE_SEARCH_* tell where "
        "catalog, index and embedding are; of a set: keep the started stack's data here and go on from there",
    )
    option("--clock", help="the day from which age is counted, YYYY-MM-DD (the set's own, else today)")
    option("--measure", choices=(NDCG10, NDCG20, P10), default=NDCG10, help="what is to become better (%(default)s)")
    option(
        "--cost",
        type=_share,
        default=0.01,
        help="what freshness and variety may each cost in the mean of that measure (%(default)s)",
    )
    option("--study", action="store_true", help="instead, make the tables that the defaults stand on")
    option("--native", action="store_true", help="for --study: beside Weaviate's own query on a real server instead")
    option("--sets", nargs="*", help=f"for --study: {', '.join(STUDY_SETS)} (all but the last)")
    option("--out", type=Path, help="folder of report, picture and settings file")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
