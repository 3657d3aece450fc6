"""One collection, tuned: relevance, then recency, then diversity, each on top of what was chosen before it. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from loadtests.quality.measures import AGE, DISTINCT
from loadtests.tune.capture import Captured
from loadtests.tune.replay import Knobs
from loadtests.tune.sweep import (
    ALONE,
    Choice,
    Rule,
    Settings,
    Trial,
    best,
    choose,
    diversity_grid,
    most_varied_within,
    newest_within,
    recency_grid,
    relevance_grid,
    trials,
)
from loadtests.tune.values import Run, run
from services.local.failure import Failure
from services.search.domain.query import Mode
from services.shared.catalog.collection_settings import CollectionSettings

# With fewer, a fold of them is a single query, which chooses by luck.
LEAST_QUERIES = 10


@dataclass(frozen=True, slots=True)
class Step:
    """One part of the settings: what was tried on top of `base`, and what the rule chose of it, if anything.

    `taken` tells whether the choice goes into the settings file: better relevance has to be more than chance on queries
    that did not choose it; freshness and variety were chosen within what they may cost.
    """

    name: str
    base: Run
    tried: tuple[Trial, ...]
    choice: Choice | None
    taken: bool


@dataclass(frozen=True, slots=True)
class Tuning:
    """All steps, what the collection's own settings give (`now`), and what the chosen ones do (`tuned`)."""

    now: Run
    steps: tuple[Step, ...]
    tuned: Run
    knobs: Knobs


# Goes through the settings of a step, of which it is told the name, and shows how far it has come.
Tracked: TypeAlias = Callable[[str, Sequence[Settings]], Iterable[Settings]]


def tune(captured: Captured, now: Knobs, *, measure: str, cost: float, tracked: Tracked) -> Tuning:
    """Try the grids on the collection's judged queries; `cost` is what each of freshness and variety may cost in the
    mean of `measure`. A step that nothing was gained in leaves what the collection has. Raises Failure for fewer than
    LEAST_QUERIES queries.
    """
    queries = captured.queries
    if len(queries) < LEAST_QUERIES:
        raise Failure(
            f"{captured.declaration.name} has {len(queries)} judged queries; from fewer than {LEAST_QUERIES} nothing "
            "can be told"
        )
    own = run(queries, now)

    def step(name: str, base: Knobs, grid: Iterator[Settings], rule: Rule) -> tuple[Step, Knobs]:
        base_run = run(queries, base)
        tried = trials(queries, base, tracked(name, list(grid)))
        choice = choose(base_run, tried, rule, measure=measure)
        taken = choice is not None and (name != "relevance" or choice.held_out.mean.low > 0)
        own_settings = {key: _value_of(now, key) for one in tried for key in one.settings}
        chosen = base.changed(**(choice.trial.settings if choice and taken else own_settings))
        return Step(name, base_run, tuple(tried), choice, taken), chosen

    both_legs = all(set(query.legs) == {Mode.KEYWORD, Mode.VECTOR} for query in queries)
    relevance, tuned = step("relevance", now.changed(**ALONE), relevance_grid(both_legs=both_legs), best(measure))
    steps = [relevance]
    if AGE in own.values:
        recency, tuned = step("recency", tuned.changed(**ALONE), recency_grid(), newest_within(measure, cost))
        steps.append(recency)
    # Without an attribute variety is told by the mean cosine alone, which nobody asked for: it is shown, not chosen.
    attribute = DISTINCT in own.values
    rule = most_varied_within(measure, cost) if attribute else _none
    diversity, tuned = step("diversity", tuned, diversity_grid(attribute=attribute), rule)
    if AGE not in own.values:
        tuned = tuned.changed(recency_tiers=now.ranking.recency_tiers)
    tuned = tuned.changed(min_distinct=now.ranking.min_distinct)
    return Tuning(own, (*steps, diversity), run(queries, tuned), tuned)


def _value_of(knobs: Knobs, name: str) -> object:
    return getattr(knobs.retrieval if hasattr(knobs.retrieval, name) else knobs.ranking, name)


def _none(_: Mapping[str, float], __: object) -> None:
    return None


def changed_settings(before: CollectionSettings, knobs: Knobs) -> dict[str, dict[str, Any]]:
    """What a collection has to be told to have these settings: only what differs, by group."""
    groups = {"retrieval": (before.retrieval, knobs.retrieval), "ranking": (before.ranking, knobs.ranking)}
    different = {
        group: {name: value for name, value in asdict(now).items() if value != getattr(old, name)}  # type: ignore[call-overload]
        for group, (old, now) in groups.items()
    }
    return {group: values for group, values in different.items() if values}
