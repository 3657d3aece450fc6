"""What a run measured, and what the targets say of it."""

from statistics import median

from pydantic import Field

from loadtests.provenance import Machine, Source
from loadtests.strict import StrictFile

MOST_BESIDE_EMBEDDING = 0.15
MOST_AGAIN = 0.03
MOST_GROWTH_MIB = 200.0
MOST_UNTIL_APPLIED_S = 2.0


class First(StrictFile):
    """Documents that are new, put in portions in turn with the bare embedding of the same texts."""

    wall_s: float = Field(description="From the first call to the last applied document, over all portions.")
    bare_s: float = Field(description="The same texts, embedded by as many callers at once as ingest has workers.")
    stage_s: dict[str, float] = Field(description="What ingest's workers say of themselves; they work side by side.")
    chunks: int
    ingest_cpu_s: float
    embedding_cpu_s: float = Field(description="Of the embedding service, while documents were put.")

    @property
    def beside_embedding(self) -> float:
        """How much longer documents take than their bare embedding, as a share of that."""
        return self.wall_s / self.bare_s - 1

    @property
    def cpu_beside_embedding(self) -> float:
        """Processor time of ingest over that of embedding; other processes hardly change it."""
        return self.ingest_cpu_s / self.embedding_cpu_s


class Memory(StrictFile):
    """Resident memory of ingest while it takes documents, with the hashing encoder."""

    documents: int
    after: list[int] = Field(description="Documents applied at each look.")
    mib: list[float] = Field(description="Resident memory at each look.")

    @property
    def growth_mib(self) -> float:
        """The most that it was over the first look."""
        return max(self.mib) - self.mib[0]


class Check(StrictFile):
    """One target and whether it was reached."""

    what: str
    measured: float
    at_most: float

    @property
    def is_kept(self) -> bool:
        """The target was reached."""
        return self.measured <= self.at_most


class Report(StrictFile):
    """One run."""

    date: str
    machine: Machine
    source: Source
    load_average: float = Field(description="Over the minute before the run.")
    load_average_after: float
    documents: int
    model: str
    first: First
    again_wall_s: float = Field(description="The same documents put once more.")
    again_embedded: int = Field(description="Chunks embedded then.")
    metadata_wall_s: float = Field(description="All documents with another value of one field.")
    metadata_embedded: int
    heading_embedded: int = Field(description="Chunks embedded when one heading of a document of 8 sections changed.")
    until_applied_s: list[float] = Field(description="From the call to applied, one document at a time, sorted.")
    memory: Memory

    @property
    def checks(self) -> list[Check]:
        """The targets."""
        again = self.again_wall_s / self.first.wall_s
        return [
            Check(
                what="everything but embedding, over embedding",
                measured=self.first.beside_embedding,
                at_most=MOST_BESIDE_EMBEDDING,
            ),
            Check(what="the same documents again, over the first time", measured=again, at_most=MOST_AGAIN),
            Check(what="chunks embedded for the same documents", measured=self.again_embedded, at_most=0),
            Check(what="chunks embedded for other metadata", measured=self.metadata_embedded, at_most=0),
            Check(what="chunks embedded for one heading", measured=self.heading_embedded, at_most=1),
            Check(what="memory of ingest grows, MiB", measured=self.memory.growth_mib, at_most=MOST_GROWTH_MIB),
            Check(
                what="from accepted to applied, s, at worst",
                measured=self.until_applied_s[-1],
                at_most=MOST_UNTIL_APPLIED_S,
            ),
        ]


def as_markdown(report: Report) -> str:
    """The run as a page."""
    machine, first = report.machine, report.first
    stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in first.stage_s.items())
    rows = [
        (one.what, f"{one.measured:.3f}", f"at most {one.at_most:g}", "reached" if one.is_kept else "**missed**")
        for one in report.checks
    ]
    commit = f"{report.source.commit}{' and changes' if report.source.dirty else ''}"
    lines = [
        "# Ingest, in ratios",
        "",
        f"{report.date}, {machine.cpu}, {machine.cores} cores, {machine.memory_gib} GiB; commit {commit}. Load average "
        f"{report.load_average:.2f} before and {report.load_average_after:.2f} after the run, which itself makes about "
        f"{machine.cores}.{_beside(report)}",
        f"{report.documents:,} abstracts, {report.model}, embedded index and SQLite, settings as they are by default.",
        "",
        "| target | measured | limit | |",
        "|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
        f"First time {first.wall_s:.1f} s for {first.chunks:,} chunks, their bare embedding {first.bare_s:.1f} s. The "
        f"workers, side by side: {stages}. Processor: ingest "
        f"{first.ingest_cpu_s:.1f} s, embedding {first.embedding_cpu_s:.1f} s, a share of "
        f"{first.cpu_beside_embedding:.3f}, which other work hardly changes. The same again "
        f"{report.again_wall_s:.2f} s; with other metadata {report.metadata_wall_s:.1f} s.",
        f"One document at a time: applied after {median(report.until_applied_s):.3f} s in the middle, "
        f"{report.until_applied_s[-1]:.3f} s at worst of {len(report.until_applied_s)}.",
        "",
        f"Memory of ingest over {report.memory.documents:,} documents with the hashing encoder:",
        "",
        "| documents | MiB |",
        "|---|---|",
        *(f"| {after:,} | {mib:.0f} |" for after, mib in zip(report.memory.after, report.memory.mib, strict=True)),
    ]
    return "\n".join(lines) + "\n"


def _beside(report: Report) -> str:
    """What a busy machine means for the figures."""
    if report.load_average <= report.machine.cores:
        return ""
    return " **Measured beside other work:** seconds are worth nothing, ratios are of what ran in turn."
