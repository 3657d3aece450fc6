"""The figures of a set beside the accepted ones: in which it became worse by more than chance explains."""

from collections.abc import Iterator
from dataclasses import dataclass

from loadtests.quality.chance import Change, adjusted, change_of
from loadtests.quality.figures import Figures
from services.local.failure import Failure

# A set is called worse by mistake once in twenty times, over all its stages and watched measures together.
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """One watched measure at one stage; `p` is adjusted for all that were looked at. A lost stage has no change."""

    stage: str
    measure: str
    accepted: float
    change: Change | None
    p: float

    @property
    def is_worse(self) -> bool:
        """Lower by more than chance explains, or gone."""
        return self.change is None or (self.change.mean.value < 0 and self.p < SIGNIFICANT)

    @property
    def is_better(self) -> bool:
        """Higher by more than chance explains."""
        return self.change is not None and self.change.mean.value > 0 and self.p < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Comparison:
    """Differences in the order of stages; `unlike` names what else changed and may be the cause."""

    accepted: Figures
    differences: tuple[Difference, ...]
    unlike: tuple[str, ...]

    @property
    def is_worse(self) -> bool:
        """Whether anything is."""
        return any(difference.is_worse for difference in self.differences)


def compare(now: Figures, accepted: Figures) -> Comparison:
    """Query by query, what `accepted` watches. Raises Failure when the two are of other judged queries."""
    if (now.judged_sha256, now.queries) != (accepted.judged_sha256, accepted.queries):
        raise Failure(
            f"{now.name}: the accepted figures of {accepted.date} are of other judged queries and cannot be compared; "
            "accept new ones with --accept"
        )
    pairs = [
        (stage, measure)
        for stage, values in accepted.stages.items()
        for measure in accepted.watched
        if measure in values
    ]
    changes = [_change(now, accepted, stage, measure) for stage, measure in pairs]
    chances = adjusted([change.p if change else 0.0 for change in changes])
    differences = [
        Difference(stage, measure, _mean(accepted.stages[stage][measure]), change, p)
        for (stage, measure), change, p in zip(pairs, changes, chances, strict=True)
    ]
    return Comparison(accepted, tuple(differences), tuple(_unlike(now, accepted)))


def _change(now: Figures, accepted: Figures, stage: str, measure: str) -> Change | None:
    values = now.stages.get(stage, {}).get(measure)
    return None if values is None else change_of(values, accepted.stages[stage][measure])


def _mean(values: list[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known)


def _unlike(now: Figures, accepted: Figures) -> Iterator[str]:
    for fact in ("model", "weights_sha256", "documents", "chunks"):
        before, after = getattr(accepted, fact), getattr(now, fact)
        if before != after:
            yield f"{fact}: {after}, accepted {before}"
