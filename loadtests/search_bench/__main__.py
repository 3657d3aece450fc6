"""`python -m loadtests.search_bench`, the command behind `make bench-search`.

Exit codes: 0 every target was reached, 1 one was missed, 3 there was no run.
"""

import argparse
import sys
from pathlib import Path

from loadtests.search_bench.bench import Plan, run
from loadtests.search_bench.engines import ENGINES
from loadtests.search_bench.markdown import as_markdown
from loadtests.search_bench.picture import draw
from services.local.failure import Failure

RESULTS = Path(__file__).resolve().parents[1] / "results" / "search"
PARTS = ("index", "bare", "native")
NO_RUN = 3


def main(arguments: list[str]) -> int:
    """Run the command; returns its exit code."""
    options = _parser().parse_args(arguments)
    plan = Plan(
        chunks=options.chunks,
        ratio_chunks=options.ratio_chunks,
        queries=options.queries,
        dimensions=options.dimensions,
        seed=options.seed,
        engines=tuple(options.engines),
        parts=frozenset(options.parts),
        rate_per_s=options.rate,
        seconds=options.seconds,
    )
    try:
        report = run(plan)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return NO_RUN
    except KeyboardInterrupt:
        return 130
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"{report.chunks}-chunks" if report.engines else f"ratios-{options.ratio_chunks}-chunks"
    page = as_markdown(report)
    (options.out / f"{name}.json").write_text(report.model_dump_json(indent=2) + "\n")
    if report.engines:
        draw(report, options.out / f"{name}.png")
        page += f"\n![recall, filters and stages]({name}.png)\n"
    (options.out / f"{name}.md").write_text(page)
    print(page)
    print(f"The report is in {options.out}.")
    return 0 if all(check.is_kept for check in report.checks) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m loadtests.search_bench", description=__doc__)
    option = parser.add_argument
    option("--chunks", type=int, default=100_000, help="of the large corpus (%(default)s)")
    option("--ratio-chunks", type=int, default=20_000, help="of the corpus of `bare` and `native` (%(default)s)")
    option("--queries", type=int, default=300, help="(%(default)s)")
    option("--dimensions", type=int, default=768, help="(%(default)s)")
    option("--seed", type=int, default=1, help="of the corpus and the arrivals (%(default)s)")
    option("--engines", nargs="+", choices=ENGINES, default=ENGINES, help="(both)")
    option(
        "--parts",
        nargs="+",
        choices=PARTS,
        default=PARTS,
        help="index: recall, filters, stages; bare: against a bare client; native: against Weaviate's own query (all)",
    )
    option("--rate", type=float, default=10.0, help="requests per second of `native` (%(default)s)")
    option("--seconds", type=float, default=30.0, help="recorded of each of three rounds of `native` (%(default)s)")
    option("--out", type=Path, default=RESULTS, help="folder of the report (%(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
