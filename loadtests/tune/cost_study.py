"""What each stage of ranking takes of one core."""

import statistics
import time
from collections.abc import Iterator

from loadtests.quality.table import table
from loadtests.tune.replay import SHOWN, Knobs, ranking_window, window_of
from loadtests.tune.study_sets import StudySet
from loadtests.tune.sweep import ALONE
from services.ranking.pipeline import rank

_ROUNDS = 5


def cost_lines(one: StudySet) -> Iterator[str]:
    """Milliseconds of processor time for a window, the median over queries; what else runs on the machine adds none."""
    alone = one.own.changed(**ALONE, relevance="fused")
    completed = alone.changed(relevance="completed")
    recency = completed.changed(recency_tiers=one.own.ranking.recency_tiers)
    mmr = recency.changed(mmr=True)
    steps = {"fused": alone, "completed": completed, "+ recency": recency, "+ MMR": mmr}
    if one.own.ranking.diversify_by:
        steps["+ floor"] = mmr.changed(min_distinct=3)
    completion = statistics.median(query.completion_s for query in one.queries) * 1000
    rows = [("keyword scores of those that the keyword leg missed, in search", f"{completion:.2f}")]
    rows += [(f"ranking, {label}", f"{_median_ms(one, knobs):.2f}") for label, knobs in steps.items()]
    window = statistics.median(len(window_of(query, alone.retrieval)) for query in one.queries)
    dimensions = one.queries[0].vectors.shape[1]
    yield f"### {one.name}: windows of {window:.0f} in the median, {dimensions} dimensions"
    yield ""
    yield from table(("", "ms"), rows)


def _median_ms(one: StudySet, knobs: Knobs) -> float:
    windows = [ranking_window(query, window_of(query, knobs.retrieval), knobs.retrieval) for query in one.queries]
    taken = []
    for window in windows:
        times = []
        for _ in range(_ROUNDS):
            began = time.thread_time()
            rank(window, knobs.policy, today=knobs.today, limit=SHOWN)
            times.append(time.thread_time() - began)
        taken.append(min(times))
    return statistics.median(taken) * 1000
