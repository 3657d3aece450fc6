"""What is told of one query's ranking: how well it meets the judgments, how varied and how old it is.

The measures of relevance are those of trec_eval (linear gain), by the library that the field compares by.
"""

from collections.abc import Mapping, Sequence

import ir_measures
from ir_measures import RR, P, Qrel, R, ScoredDoc, nDCG

from loadtests.quality.stages import Found

_OF_RELEVANCE = {"nDCG@10": nDCG @ 10, "nDCG@20": nDCG @ 20, "P@10": P @ 10, "MRR@20": RR @ 20, "recall@100": R @ 100}
DISTINCT, AGE = "distinct@20", "age@20"
MEASURES = (*_OF_RELEVANCE, DISTINCT, AGE)
_SHOWN = 20
_DECIMALS = 4  # as they are kept, so that figures just measured and figures read again are the same


def measure(
    found: Mapping[str, Sequence[Found]], relevance: Mapping[str, Mapping[str, int]], *, attribute: bool
) -> dict[str, list[float | None]]:
    """Values by measure, one for each query of `relevance` in its order; a query that is not in `found` found nothing.

    `distinct@20` counts the different attributes of the first 20 documents, when there is an `attribute`. `age@20` is
    their mean age in whole calendar years over those that have one; None where none has.
    """
    qrels = [Qrel(query, document, grade) for query, grades in relevance.items() for document, grade in grades.items()]
    run = [
        ScoredDoc(query, document.document_id, -place)
        for query, documents in found.items()
        for place, document in enumerate(documents)
    ]
    by_relevance: dict[str, dict[str, float]] = {name: {} for name in _OF_RELEVANCE}
    names = {one: name for name, one in _OF_RELEVANCE.items()}
    for value in ir_measures.iter_calc(list(names), qrels, run):
        by_relevance[names[value.measure]][value.query_id] = value.value
    shown = [found.get(query, ())[:_SHOWN] for query in relevance]
    values: dict[str, list[float | None]] = {
        name: [round(by_query[query], _DECIMALS) for query in relevance] for name, by_query in by_relevance.items()
    }
    if attribute:
        values[DISTINCT] = [float(len({one.attribute for one in first} - {None})) for first in shown]
    ages = [[one.age_years for one in first if one.age_years is not None] for first in shown]
    if any(ages):
        values[AGE] = [round(sum(known) / len(known), _DECIMALS) if known else None for known in ages]
    return values
