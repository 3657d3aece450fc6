"""`python -m services.ingest <command>`: what an operator or a job of the cluster runs beside the service.

Commands take the service's settings from the same variables. Reports go to stdout, the log to stderr. Exit codes: 0
done, 1 something is left that needs a person, 2 wrong settings or options, 3 it could not be done now.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator

from services.ingest.reconcile import GenerationReport, Reconciliation, Report
from services.ingest.settings import CommandSettings
from services.ingest.wiring import Stores, stores
from services.shared.runtime.errors import PlumblineError
from services.shared.runtime.logs import configure_logs
from services.shared.runtime.settings import read_settings
from services.shared.runtime.telemetry import build_telemetry
from services.shared.runtime.version import VERSION

LEFT, NOT_NOW = 1, 3


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
    return parser


async def _reconcile(options: argparse.Namespace, _: CommandSettings, opened: Stores) -> int:
    reconciliation = Reconciliation(
        opened.catalog, opened.blobs, opened.index, opened.writer, dry_run=options.dry_run, clock=time.time
    )
    report = await reconciliation.run()
    for line in _told(report, dry_run=options.dry_run):
        print(line)
    return 0 if (report.is_clean if options.dry_run else report.is_mended) else LEFT


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
