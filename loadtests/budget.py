"""The latency budget of `slo.yaml`: the one place that says how fast is fast enough."""

from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from loadtests.strict import StrictFile
from services.local.failure import Failure

SLO_FILE = Path(__file__).with_name("slo.yaml")

Milliseconds: TypeAlias = Annotated[float, Field(gt=0)]
Share: TypeAlias = Annotated[float, Field(gt=0, lt=1)]


class Limits(StrictFile):
    """The most milliseconds at three quantiles, in rising order."""

    p50: Milliseconds
    p95: Milliseconds
    p99: Milliseconds

    @model_validator(mode="after")
    def _rise(self) -> Self:
        if not self.p50 <= self.p95 <= self.p99:
            raise ValueError("the limits must rise from p50 over p95 to p99")
        return self

    def scaled(self, factor: float) -> "Limits":
        """Each limit times `factor`, over 0."""
        return Limits(p50=self.p50 * factor, p95=self.p95 * factor, p99=self.p99 * factor)


class Stage(StrictFile):
    """A measure of one kind of call, with its limits by environment."""

    says: str
    call: Literal["search", "answer"]
    measure: str
    limits_ms: dict[str, Limits]


class Objectives(StrictFile):
    """Shares of requests."""

    answered: Share
    complete: Share


class Budget(StrictFile):
    """All stages, each with limits for every environment and no other."""

    environments: dict[str, str]
    objectives: Objectives
    stages: dict[str, Stage]

    @model_validator(mode="after")
    def _every_stage_has_every_environment(self) -> Self:
        for name, stage in self.stages.items():
            if wrong := stage.limits_ms.keys() ^ self.environments.keys():
                raise ValueError(f"stage {name} and environments do not agree on {', '.join(sorted(wrong))}")
        return self

    def limits(self, environment: str, *, scale: float = 1.0) -> dict[str, Limits]:
        """The limits of every stage in one environment, each times `scale`. Raises Failure when there is no such."""
        if environment not in self.environments:
            raise Failure(f"there is no environment {environment}; there are {', '.join(self.environments)}")
        return {name: stage.limits_ms[environment].scaled(scale) for name, stage in self.stages.items()}


def read_budget(file: Path = SLO_FILE) -> Budget:
    """The budget. Raises Failure naming the key at fault."""
    return Budget.read(file)
