"""What bounded recency costs and gives by its bound, with the leader of both legs protected and without."""

from collections.abc import Iterator
from itertools import product

from loadtests.quality.chance import change_of
from loadtests.quality.measures import AGE
from loadtests.quality.table import change, number, table
from loadtests.tune.study_sets import StudySet
from loadtests.tune.sweep import ALONE, UNBOUNDED
from loadtests.tune.values import MRR, NDCG20, P10, mean, run

_PLACES = (0, 3, 5, 10, UNBOUNDED)
_MEASURES = (MRR, P10, NDCG20, AGE)


def recency_lines(one: StudySet) -> Iterator[str]:
    """The table of a set, on fused and on completed relevance."""
    tiers = one.own.ranking.recency_tiers
    yield f"### {one.name}: {len(one.queries)} queries"
    yield ""
    rows = []
    for relevance in ("fused", "completed"):
        before = one.own.changed(**ALONE, relevance=relevance)
        base = run(one.queries, before)
        rows.append((f"{relevance}, no recency", *(number(name, mean(base.values[name])) for name in _MEASURES), ""))
        for protected, places in product((False, True), _PLACES):
            tried = run(
                one.queries, before.changed(recency_tiers=tiers, recency_places=places, protect_leader=protected)
            )
            bound = "unbounded" if places == UNBOUNDED else f"L {places}"
            lost = change_of(tried.values[MRR], base.values[MRR])
            rows.append(
                (
                    f"{relevance}, {bound}{', leader kept' if protected else ''}",
                    *(number(name, mean(tried.values[name])) for name in _MEASURES),
                    change(MRR, lost),
                )
            )
    yield from table(("", *_MEASURES, f"change of {MRR}"), rows)
