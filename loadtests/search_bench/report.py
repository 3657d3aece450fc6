"""What a run measured, and what the targets say of it."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from loadtests.provenance import Machine, Source
from loadtests.search_bench.against_bare import AgainstBare
from loadtests.search_bench.against_native import AgainstNative
from loadtests.search_bench.engines import JUDGED_EFFORT
from loadtests.search_bench.loading import Import
from loadtests.search_bench.quantiles import Times
from loadtests.strict import StrictFile

LEAST_RECALL_AT_10 = 0.97
LEAST_RECALL_WITH_FILTER = 0.95
MOST_OVER_BARE, MOST_MS_OVER_BARE = 1.15, 6.0
MOST_OVER_NATIVE = 1.3


class Effort(StrictFile):
    """One effort: what the vector leg finds of what an exact search finds, and how long the legs take."""

    effort: int
    recall_at_10: float
    recall_at_100: float
    keyword_ms: Times
    vector_ms: Times
    both_ms: Times = Field(description="Both legs side by side.")
    client_mib: float = Field(description="Resident memory of a process that only searches.")
    server_mib: float = Field(description="Resident memory of the engine's own process; 0 where it has none.")


class Filtered(StrictFile):
    """A filter and what the vector leg finds through it, at the default effort."""

    what: str
    share: float
    recall_at_100: float
    vector_ms: Times


class EngineReport(StrictFile):
    """One engine over the large corpus."""

    engine: str
    imported: Import
    efforts: list[Effort]
    filters: list[Filtered]
    stages_ms: dict[str, Times] = Field(description="Of whole searches through the service, at the default effort.")


class Check(StrictFile):
    """One target, and whether it was reached."""

    what: str
    measured: float
    limit: float
    at_least: bool

    @property
    def is_kept(self) -> bool:
        """The target was reached."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


class Report(StrictFile):
    """One run."""

    date: str
    machine: Machine
    source: Source
    load_average: float = Field(description="Over the minute before the run; much over 0 makes the times worthless.")
    chunks: int
    dimensions: int
    queries: int
    seed: int
    engines: list[EngineReport]
    against_bare: list[AgainstBare]
    against_native: AgainstNative | None
    checks: list[Check]


def checks(
    engines: Sequence[EngineReport], bare: Sequence[AgainstBare], native: AgainstNative | None
) -> Iterator[Check]:
    """The targets that this run says something about."""
    for engine in engines:
        at_default = next(effort for effort in engine.efforts if effort.effort == JUDGED_EFFORT)
        yield _floor(f"{engine.engine}: recall@10 at {JUDGED_EFFORT}", at_default.recall_at_10, LEAST_RECALL_AT_10)
        first, *_, last = engine.efforts
        what = f"{engine.engine}: recall@100 gained from effort {first.effort} to {last.effort}"
        yield Check(what=what, measured=last.recall_at_100 - first.recall_at_100, limit=0.001, at_least=True)
        for one in engine.filters:
            yield _floor(f"{engine.engine}: recall@100, {one.what}", one.recall_at_100, LEAST_RECALL_WITH_FILTER)
    for pair in bare:
        for quantile in ("p50", "p95"):
            ours, theirs = getattr(pair.search, quantile), getattr(pair.bare, quantile)
            what = f"{pair.engine}: search without embedding, {quantile} ms"
            limit = MOST_OVER_BARE * theirs + MOST_MS_OVER_BARE
            yield Check(what=what, measured=ours, limit=limit, at_least=False)
    if native is not None:
        what = f"search over Weaviate's own hybrid query with MMR and boost, p95 at {native.rate_per_s:g}/s"
        ratio = native.search.p95 / native.native.p95
        yield Check(what=what, measured=ratio, limit=MOST_OVER_NATIVE, at_least=False)
        if native.quality is not None:
            what = f"nDCG@10 on {native.quality.judged_set} against Weaviate's ranked fusion"
            yield _floor(what, native.quality.search, native.quality.native_ranked)


def _floor(what: str, measured: float, limit: float) -> Check:
    return Check(what=what, measured=measured, limit=limit, at_least=True)
