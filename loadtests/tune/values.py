"""The values of every judged query at one setting, by measure. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from loadtests.quality.measures import AGE, DISTINCT, measure
from loadtests.tune.captured import CapturedQuery
from loadtests.tune.replay import Knobs, Replayed, replay

NDCG10, NDCG20, P10, MRR = "nDCG@10", "nDCG@20", "P@10", "MRR@20"
SIMILARITY = "similarity@20"
MEASURES = (NDCG10, NDCG20, P10, MRR, DISTINCT, AGE, SIMILARITY)

Values: TypeAlias = Mapping[str, Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class Run:
    """All queries at one setting: their values by measure, in the order of the queries, and what was shown."""

    values: Values
    replayed: tuple[Replayed, ...]


def run(queries: Sequence[CapturedQuery], knobs: Knobs) -> Run:
    """Rank all queries with these settings.

    `similarity@20` is the mean cosine of two of the first 20 documents, None where there are fewer than two.
    """
    return measured(queries, [replay(query, knobs) for query in queries])


def measured(queries: Sequence[CapturedQuery], replayed: Sequence[Replayed]) -> Run:
    """The values of what was shown for each of the queries."""
    values = measure(
        {query.id: one.shown for query, one in zip(queries, replayed, strict=True)},
        {query.id: query.relevance for query in queries},
        attribute=any(one.window_values for one in replayed),
    )
    values[SIMILARITY] = [one.similarity for one in replayed]
    # Further places than those shown were not replayed, so no measure that looks there is told.
    return Run({name: values[name] for name in MEASURES if name in values}, tuple(replayed))


def mean(values: Sequence[float | None]) -> float:
    """The mean of the values that there are, at least one."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known)
