"""`python -m services.ingest <command>`: what an operator or a job of the cluster runs beside the service.

Commands take the service's settings from the same variables. Reports go to stdout, the log to stderr. Exit codes: 0
done, 1 something is left that needs a person, 2 wrong settings or options, 3 it could not be done now.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime

from services.ingest.bulk import Shard
from services.ingest.garbage import Garbage
from services.ingest.reconcile import GenerationReport, Reconciliation, Report
from services.ingest.settings import CommandSettings
from services.ingest.wiring import Stores, bulk, record_file, stores
from services.shared.runtime.errors import InvalidInput, PlumblineError
from services.shared.runtime.logs import configure_logs
from services.shared.runtime.settings import read_settings
from services.shared.runtime.telemetry import build_telemetry
from services.shared.runtime.version import VERSION

LEFT, NOT_NOW = 1, 3
_LETTERS_PER_PAGE = 500


def main(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    options = _parser().parse_args(arguments)
    settings = read_settings(CommandSettings)
    configure_logs("ingest", settings.log_level)
    try:
        return asyncio.run(_run(options, settings))
    except PlumblineError as error:
        print(error.message, file=sys.stderr)
        return NOT_NOW


async def _run(options: argparse.Namespace, settings: CommandSettings) -> int:
    command: Callable[[argparse.Namespace, CommandSettings, Stores], Awaitable[int]] = options.run
    async with stores(settings, build_telemetry("ingest", VERSION, processor=None)) as opened:
        return await command(options, settings, opened)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services.ingest", description=__doc__)
    commands = parser.add_subparsers(required=True)
    reconcile = commands.add_parser("reconcile", help="after a restore: bring the index to what the catalog says")
    reconcile.add_argument("--dry-run", action="store_true", help="only say what differs")
    reconcile.set_defaults(run=_reconcile)
    garbage = commands.add_parser("collect-garbage", help="one round of what the service does four times a day")
    garbage.set_defaults(run=_collect_garbage)
    dead = commands.add_parser("dead-letters", help="documents whose last change failed for good, and why")
    dead.add_argument("--collection", help="only of this one (all)")
    dead.add_argument("--retry", action="store_true", help="also put them back into the queue")
    dead.set_defaults(run=_dead_letters)
    load = commands.add_parser("bulk", help="load one shard of a large file of records into a collection")
    load.add_argument(
        "--input", required=True, metavar="FILE", help="JSON lines, plain or compressed; a path or address"
    )
    load.add_argument("--collection", required=True, help="it exists already")
    load.add_argument("--shards", type=int, default=1, metavar="N", help="parts of the input, the same for all (1)")
    load.add_argument(
        "--shard", type=int, metavar="I", help="which one, from 0 (the pod's JOB_COMPLETION_INDEX, else 0)"
    )
    load.set_defaults(run=_bulk)
    return parser


async def _reconcile(options: argparse.Namespace, _: CommandSettings, opened: Stores) -> int:
    reconciliation = Reconciliation(
        opened.catalog, opened.blobs, opened.index, opened.writer, dry_run=options.dry_run, clock=time.time
    )
    report = await reconciliation.run()
    for line in _told(report, dry_run=options.dry_run):
        print(line)
    return 0 if (report.is_clean if options.dry_run else report.is_mended) else LEFT


async def _collect_garbage(_: argparse.Namespace, settings: CommandSettings, opened: Stores) -> int:
    garbage = Garbage(opened.catalog, opened.blobs, opened.index, keep_s=settings.keep_unnamed_s, clock=time.time)
    collected = await garbage.collect()
    print(
        f"originals that no revision names: {collected.set_aside} set aside, {collected.put_back} put back, "
        f"{collected.removed} removed"
    )
    return 0


async def _dead_letters(options: argparse.Namespace, _: CommandSettings, opened: Stores) -> int:
    dead_letters = opened.catalog.dead_letters
    found = revived = after = 0
    while page := await dead_letters.list(collection=options.collection, after=after, limit=_LETTERS_PER_PAGE):
        after = page[-1].id
        found += len(page)
        for letter in page:
            print(
                f"{_day(letter.accepted_at)} {letter.collection} '{letter.document_id}' revision {letter.revision}, "
                f"job {letter.job_id}, {letter.attempts} attempts: {letter.reason}"
            )
        if options.retry:
            revived += await dead_letters.retry(page, now=time.time())
    print(f"{found} dead letters{f', {revived} put back into the queue' if options.retry else ''}")
    return LEFT if found > revived else 0


async def _bulk(options: argparse.Namespace, settings: CommandSettings, opened: Stores) -> int:
    given = settings.job_completion_index if options.shard is None else options.shard
    shard = Shard(given or 0, options.shards)
    if not 0 <= shard.index < shard.count:
        raise InvalidInput(f"shard {shard.index} is none of {shard.count}; they count from 0", field="shard")
    if given is None and shard.count > 1:
        raise InvalidInput(f"which of {shard.count} shards is this? give --shard", field="shard")
    name = options.input.rsplit("/", 1)[-1]
    async with bulk(settings, opened) as loading:
        report = await loading.load(options.collection, record_file(settings, options.input), shard, name=name)
    for failure in report.failures:
        print(f"failed: {failure.document_id}: {failure.reason}")
    print(
        f"shard {shard.index} of {shard.count}: {report.records} records, {report.embedded} embedded, "
        f"{report.reused} reused, {report.failed} failed"
    )
    return LEFT if report.failed else 0


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _told(report: Report, *, dry_run: bool) -> Iterator[str]:
    for one in report.generations:
        yield _told_of_generation(one, dry_run=dry_run)
        for document in one.unmended:
            yield f"  not mended: document '{document.document_id}': {document.reason}"
    for generation_id in report.unknown_generations:
        yield f"index of unknown generation {generation_id}{'' if dry_run else ': dropped'}"
    for original in report.missing_originals:
        yield (
            f"original missing: document '{original.document_id}' of '{original.collection}', "
            f"revision {original.revision}, blob {original.blob}"
        )
    if report.waiting:
        yield f"{report.waiting} accepted changes wait; ingest applies them when it runs"
    yield "nothing differs" if report.is_clean else "dry run: nothing was changed" if dry_run else "done"


def _told_of_generation(one: GenerationReport, *, dry_run: bool) -> str:
    held = (
        f"collection {one.collection}, generation {one.generation_id}: {one.documents} documents, {one.chunks} chunks"
    )
    if one.is_clean:
        return held
    mended = "" if dry_run else f"; {one.mended_documents} documents mended"
    rechunked = f", {one.rechunked} of them into other chunks: build a new generation" if one.rechunked else ""
    return (
        f"{held}; chunks: {one.missing_chunks} missing, {one.stale_chunks} of another revision, "
        f"{one.orphan_chunks} of no document{mended}{rechunked}"
    )
