"""`python -m loadtests.ingest_bench`, the command behind `make bench-ingest`.

Exit codes: 0 every target was reached, 1 one was missed, 3 there was no run.
"""

import argparse
import asyncio
import sys
from pathlib import Path

from loadtests.ingest_bench.bench import Plan, run
from loadtests.ingest_bench.report import as_markdown
from services.local.failure import Failure
from services.local.settings import DEFAULT_MODEL, read_settings
from services.local.weights import folder_of

_ROOT = Path(__file__).resolve().parents[2]
RESULTS = _ROOT / "loadtests" / "results" / "ingest"
ABSTRACTS = _ROOT.parent / "shared" / "data" / "papers" / "papers.jsonl.gz"
NO_RUN = 3


def main(arguments: list[str]) -> int:
    """Run the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        model = folder_of(options.model, read_settings().models_folder)
        plan = Plan(options.file, model, documents=options.documents, memory_documents=options.memory_documents)
        report = asyncio.run(run(plan))
    except Failure as failure:
        print(failure, file=sys.stderr)
        return NO_RUN
    except KeyboardInterrupt:
        return 130
    page = as_markdown(report)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "report.json").write_text(report.model_dump_json(indent=2) + "\n")
    (options.out / "report.md").write_text(page)
    print(page)
    print(f"The report is in {options.out}.")
    return 0 if all(check.is_kept for check in report.checks) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m loadtests.ingest_bench", description=__doc__)
    option = parser.add_argument
    option("--file", type=Path, default=ABSTRACTS, help="records {id, title, abstract, department, year} (%(default)s)")
    option("--model", default=DEFAULT_MODEL, help="of the timed part (%(default)s)")
    option("--documents", type=int, default=5_000, help="of the timed part (%(default)s)")
    option("--memory-documents", type=int, default=20_000, help="of the part on memory (%(default)s)")
    option("--out", type=Path, default=RESULTS, help="folder of report.json and report.md (%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
