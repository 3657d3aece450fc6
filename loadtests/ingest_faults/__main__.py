"""`python -m loadtests.ingest_faults`, the command behind `make faults-ingest`.

Exit codes: 0 every ingest ended as the undisturbed one, 1 one did not, 3 there was no run.
"""

import argparse
import sys
from pathlib import Path

from loadtests.ingest_faults.markdown import as_markdown
from loadtests.ingest_faults.pair import PAIRS
from loadtests.ingest_faults.run import Plan, run
from services.local.failure import Failure

RESULTS = Path(__file__).resolve().parents[1] / "results" / "ingest-faults"
NO_RUN = 3


def main(arguments: list[str]) -> int:
    """Run the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    kept = True
    try:
        for pair in options.pairs:
            plan = Plan(
                pair,
                documents=options.documents,
                moments=options.moments,
                per_ingest=options.per_ingest,
                seed=options.seed,
            )
            print(f"{pair}: {plan.moments} moments, {plan.documents} documents each", flush=True)
            report = run(plan, lambda line: print(line, flush=True))
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"{pair}.json").write_text(report.model_dump_json(indent=2) + "\n")
            (options.out / f"{pair}.md").write_text(as_markdown(report))
            kept = kept and report.is_kept
    except Failure as failure:
        print(failure, file=sys.stderr)
        return NO_RUN
    except KeyboardInterrupt:
        return 130
    print(f"The reports are in {options.out}.")
    return 0 if kept else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m loadtests.ingest_faults", description=__doc__)
    option = parser.add_argument
    option("--pairs", nargs="+", choices=PAIRS, default=PAIRS, help="of engines (both)")
    option("--moments", type=int, default=50, help="in which a process is killed, of each pair (%(default)s)")
    option("--documents", type=int, default=2000, help="of each ingest (%(default)s)")
    option("--per-ingest", type=int, default=5, help="moments in one ingest (%(default)s)")
    option("--seed", type=int, default=1, help="of the documents and the moments (%(default)s)")
    option("--out", type=Path, default=RESULTS, help="folder of the reports (%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
