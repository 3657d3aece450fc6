"""What a run of kills came to."""

from pydantic import Field

from loadtests.ingest_faults.moments import Victim
from loadtests.provenance import Machine, Source
from loadtests.strict import StrictFile


class Killed(StrictFile):
    """One moment."""

    number: int
    victim: Victim
    at_s: float = Field(description="Seconds after the first write.")
    done: float = Field(description="Share of the changes that had been applied by then.")
    away_s: float = Field(description="Seconds until the process was started again.")
    back_s: float = Field(description="Seconds until it served again.")


class Ingest(StrictFile):
    """One ingest with its moments, and what stood in the stores when everything had ended."""

    moments: list[Killed]
    took_s: float = Field(description="From the first write until the last job had ended.")
    taken_over: int = Field(description="Changes that took more than one attempt.")
    repeated: int = Field(description="Calls that the caller made again.")
    chunks: int
    digest: str = Field(description="SHA-256 over every field and vector of every chunk.")
    problems: list[str] = Field(description="What differs from the undisturbed run, or contradicts itself; none is ok.")

    @property
    def outcome(self) -> str:
        """`same`, or what was lost, doubled or left behind."""
        return "; ".join(self.problems) or "same"


class Report(StrictFile):
    """One run over one pair of engines."""

    date: str
    machine: Machine
    source: Source
    load_average: float
    pair: str
    documents: int
    changes: int
    seed: int
    lease_s: float
    undisturbed_s: float
    undisturbed_chunks: int
    undisturbed_digest: str
    ingests: list[Ingest]

    @property
    def is_kept(self) -> bool:
        """Every ingest ended as the undisturbed one."""
        return not any(ingest.problems for ingest in self.ingests)
