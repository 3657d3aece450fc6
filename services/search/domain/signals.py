"""Raw evidence about a whole result, for confidence and refusals; fused scores say nothing of relevance."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signals:
    """What the legs saw. None means unknown: the leg did not run, or found too little.

    `best_cosine` and `first_cosine` are in [-1, 1]: of the vector leg's first hit and of the fused first hit.
    `cosine_gap` is the vector leg's first cosine less its second one. `legs_agree` tells that both have the same first
    hit. `idf_coverage` is the largest share of the query's idf mass that one of the first five fused hits holds, and
    `keyword_share` the keyword score of the fused first hit as a share of what no score for the query reaches; both are
    in [0, 1]. `filtered_count` counts the chunks that the filter leaves, where no hit was found. `model` made the
    vectors.
    """

    model: str
    best_cosine: float | None = None
    first_cosine: float | None = None
    cosine_gap: float | None = None
    legs_agree: bool = False
    filtered_count: int | None = None
    idf_coverage: float | None = None
    keyword_share: float | None = None


def signals_of(
    *,
    model: str,
    cosines: Sequence[float],
    first_cosine: float | None,
    leaders: Sequence[str],
    filtered_count: int | None,
    idf_coverage: float | None,
    keyword_share: float | None,
) -> Signals:
    """The signals of a result.

    `cosines` are those of the vector leg, best first; `leaders` holds the first hit of every leg that found one.
    """
    return Signals(
        model=model,
        best_cosine=cosines[0] if cosines else None,
        first_cosine=first_cosine,
        cosine_gap=cosines[0] - cosines[1] if len(cosines) > 1 else None,
        legs_agree=len(leaders) == 2 and leaders[0] == leaders[1],
        filtered_count=filtered_count,
        idf_coverage=idf_coverage,
        keyword_share=keyword_share,
    )
