"""The figures of one set, a value for every query, as they are kept: what intervals and comparisons are made of."""

from pathlib import Path

from pydantic import Field, ValidationError

from loadtests.provenance import Machine, Source
from loadtests.strict import StrictFile
from services.local.failure import Failure
from services.local.index_engine import EMBEDDED


class VectorUse(StrictFile):
    """Where the vectors of a stack's windows came from, over all sets that it was asked in one run."""

    ready: int = Field(description="Windows that had a ready vector.")
    computed: int = Field(description="Windows that the real encoder computed, now or in an earlier run.")
    verified: int = Field(description="Ready vectors that were compared with the real encoder's.")
    least_cosine: float = Field(description="The least cosine between the two.")


class Figures(StrictFile):
    """One set, measured once."""

    name: str
    date: str
    source: Source
    machine: Machine
    judged_sha256: str = Field(description="Of the judged queries with their grades.")
    index: str = Field(EMBEDDED, description="Engine of the index.")
    model: str
    weights_sha256: str
    documents: int
    chunks: int
    put_s: float | None = Field(description="Seconds until all documents were searchable; null when they were before.")
    asked_s: float = Field(description="Seconds for all queries in all modes.")
    vectors: VectorUse | None
    watched: list[str]
    queries: list[str] = Field(description="Ids, in the order of the values.")
    stages: dict[str, dict[str, list[float | None]]] = Field(description="Stage -> measure -> a value for each query.")


def write_figures(figures: Figures, file: Path) -> None:
    """Write them as JSON, in one line: tens of thousands of values are not read by people."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(figures.model_dump_json() + "\n")


def read_figures(file: Path) -> Figures:
    """What was written. Raises Failure when the file holds something else."""
    try:
        return Figures.model_validate_json(file.read_text())
    except (OSError, ValidationError) as error:
        raise Failure(f"{file} holds no figures: {str(error).splitlines()[0]}") from error
