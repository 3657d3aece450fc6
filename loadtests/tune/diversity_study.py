"""What MMR costs and gives: by the share of the cosine on papers, by lambda and by other redundancies on topics."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadtests.quality.chance import change_of
from loadtests.quality.measures import DISTINCT
from loadtests.quality.stages import Found
from loadtests.quality.table import change, number, table
from loadtests.tune.captured import CapturedQuery
from loadtests.tune.forms import LARGEST, MEAN, Likeness, beyond_the_window, cosine, picks, squared
from loadtests.tune.replay import SHOWN, Knobs, Replayed, mean_similarity, ranking_window, window_of
from loadtests.tune.study_sets import StudySet
from loadtests.tune.sweep import ALONE
from loadtests.tune.values import MRR, NDCG10, NDCG20, P10, SIMILARITY, Run, mean, measured, run
from services.ranking.pipeline import rank

# By the power of relevance.
_SHARES = {1.0: (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.0), 2.0: (1.0, 0.8, 0.7, 0.6, 0.5), 3.0: (0.7,)}
_LAMBDAS = {1.0: (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3), 2.0: (0.8, 0.7, 0.6, 0.5), 3.0: (0.8, 0.7, 0.6, 0.5)}
_FINE = tuple(round(0.30 + 0.02 * step, 2) for step in range(36))
_MMR = "cosine, largest (MMR)"
# Likeness, what counts of it, and the power of relevance.
_FORMS: Mapping[str, tuple[Likeness, str, float]] = {
    _MMR: (cosine, LARGEST, 1.0),
    "cosine, mean": (cosine, MEAN, 1.0),
    "cosine beyond the window's, largest": (beyond_the_window, LARGEST, 1.0),
    "cosine beyond the window's, mean": (beyond_the_window, MEAN, 1.0),
    "cosine squared, largest": (squared, LARGEST, 1.0),
    "cosine squared, mean": (squared, MEAN, 1.0),
    "MMR, relevance to the power of 2": (cosine, LARGEST, 2.0),
    "MMR, relevance to the power of 3": (cosine, LARGEST, 3.0),
    "cosine, mean, relevance to the power of 2": (cosine, MEAN, 2.0),
    "cosine, mean, relevance to the power of 3": (cosine, MEAN, 3.0),
}


def share_lines(one: StudySet) -> Iterator[str]:
    """By the power of relevance and by w, at lambda 0.6 with the floor, after the default's recency."""
    before = one.own.changed(mmr=False, min_distinct=0)
    base = run(one.queries, before)
    names = (MRR, NDCG10, DISTINCT, SIMILARITY)
    rows = [("no MMR, no floor", *(number(name, mean(base.values[name])) for name in names), _least(base), "")]
    for power, share in ((power, share) for power, shares in _SHARES.items() for share in shares):
        diverse = {"mmr": True, "mmr_lambda": 0.6, "mmr_relevance_power": power, "mmr_cosine_share": share}
        tried = run(one.queries, before.changed(**diverse, min_distinct=3))
        rows.append(
            (
                f"power {power:g}, w {share:g}",
                *(number(name, mean(tried.values[name])) for name in names),
                _least(tried),
                change(MRR, change_of(tried.values[MRR], base.values[MRR])),
            )
        )
    yield f"### {one.name}: {len(one.queries)} queries, lambda 0.6 and the floor of three, by power and w"
    yield ""
    yield from table(("", *names, "least distinct", f"change of {MRR}"), rows)


def _least(run_: Run) -> str:
    return f"{min(value or 0 for value in run_.values[DISTINCT]):.0f}"


def lambda_lines(one: StudySet) -> Iterator[str]:
    """By power and lambda with the cosine alone, after nothing but completed relevance."""
    before = one.own.changed(**ALONE)
    base = run(one.queries, before)
    names = (P10, NDCG20, MRR, SIMILARITY)
    rows = [("no MMR", *(number(name, mean(base.values[name])) for name in names), "")]
    for power, trade_off in ((power, trade_off) for power, lambdas in _LAMBDAS.items() for trade_off in lambdas):
        diverse = {"mmr": True, "mmr_lambda": trade_off, "mmr_relevance_power": power, "mmr_cosine_share": 1.0}
        tried = run(one.queries, before.changed(**diverse))
        lost = change(P10, change_of(tried.values[P10], base.values[P10]))
        rows.append(
            (
                f"power {power:g}, lambda {trade_off:g}",
                *(number(name, mean(tried.values[name])) for name in names),
                lost,
            )
        )
    yield f"### {one.name}: {len(one.queries)} queries, the cosine alone, by power and lambda"
    yield ""
    yield from table(("", *names, f"change of {P10}"), rows)


@dataclass(frozen=True, slots=True)
class _Ordered:
    """A query's window by completed relevance."""

    query: CapturedQuery
    relevance: Sequence[float]
    documents: Sequence[str]
    rows: Sequence[int]


def form_lines(one: StudySet) -> Iterator[str]:
    """Other redundancies at the same mean similarity: what each costs where MMR's own stands at lambda 0.8 to 0.5.

    Each form is tried at 36 lambdas and told at the one whose similarity is the nearest.
    """
    before = one.own.changed(**ALONE)
    ordered = [_ordered(query, before) for query in one.queries]
    base = run(one.queries, before)
    runs = {
        label: {trade_off: _picked(ordered, *form, trade_off) for trade_off in _FINE} for label, form in _FORMS.items()
    }
    own = runs[_MMR]
    at = {trade_off: mean(own[trade_off].values[SIMILARITY]) for trade_off in (0.8, 0.7, 0.6, 0.5)}
    rows = []
    for label, by_lambda in runs.items():
        cells = []
        for similarity in at.values():
            nearest = min(by_lambda.values(), key=lambda run_: abs(mean(run_.values[SIMILARITY]) - similarity))
            lost = [change_of(nearest.values[name], base.values[name]) for name in (P10, NDCG20)]
            cells.append(f"{change(P10, lost[0])}, {change(NDCG20, lost[1])}")
        rows.append((label, *cells))
    yield f"### {one.name}: change of {P10} and of {NDCG20} at the same mean similarity, by what redundancy is"
    yield ""
    head = [f"similarity {similarity:.3f} (MMR's at lambda {trade_off:g})" for trade_off, similarity in at.items()]
    yield from table(("redundancy", *head), rows)


def _ordered(query: CapturedQuery, knobs: Knobs) -> _Ordered:
    window = ranking_window(query, window_of(query, knobs.retrieval), knobs.retrieval)
    hits = rank(window, knobs.policy, today=knobs.today).hits
    chunks = [query.chunks[hit.candidate.id] for hit in hits]
    documents, rows = [chunk.document_id for chunk in chunks], [chunk.row for chunk in chunks]
    return _Ordered(query, [hit.relevance for hit in hits], documents, rows)


def _picked(ordered: Sequence[_Ordered], likeness: Likeness, against: str, power: float, trade_off: float) -> Run:
    replayed = []
    for one in ordered:
        vectors = one.query.vectors[np.asarray(one.rows, dtype=int)]
        relevance = [value**power for value in one.relevance]
        places = picks(relevance, likeness(vectors), trade_off=trade_off, against=against, limit=SHOWN)
        shown = tuple(Found(one.documents[place], None, None) for place in places)
        replayed.append(Replayed(shown, mean_similarity(vectors[places]), 0))
    return measured([one.query for one in ordered], replayed)
