"""How likely the documents are to answer a question, before anything is generated.

Until it is calibrated it is a map of the best cosine alone: a logistic curve that is 0.5 at the model's threshold. The
thresholds are the cosines under which 5 % of the answerable questions of a refusal set (XQuAD and SQuAD 2.0, 406 such
questions, 2026-11) fell; on its held-out part 1.6 % (all-MiniLM-L6-v2) and 2.5 % (all-mpnet-base-v2) of the answerable
ones are refused, and 59 % and 61 % of those whose paragraph is not there.
"""

import math
from dataclasses import dataclass

from services.answer.domain.found import Evidence

UNCALIBRATED = "uncalibrated"
# A confidence below this is a refusal, unless the collection sets its own bound.
REFUSE_BELOW = 0.5

_THRESHOLDS = {"all-MiniLM-L6-v2": 0.325, "all-mpnet-base-v2": 0.355}
# For a model without a threshold of its own: low, because a needless refusal is worse than a weak answer with sources.
_DEFAULT_THRESHOLD = 0.3
# Steepness of the logistic curve per unit of cosine, fitted on the same questions: 12.9 and 12.8 for the two models.
_STEEPNESS = 13.0


@dataclass(frozen=True, slots=True)
class Confidence:
    """A probability in [0, 1] that the documents answer the question, and how it was fitted."""

    value: float
    calibration: str


def confidence_of(evidence: Evidence) -> Confidence:
    """Rises with the best cosine, 0.5 at the model's threshold; 0 where there is no cosine."""
    if evidence.best_cosine is None:
        return Confidence(0.0, UNCALIBRATED)
    above = evidence.best_cosine - _THRESHOLDS.get(evidence.model, _DEFAULT_THRESHOLD)
    return Confidence(1 / (1 + math.exp(-_STEEPNESS * above)), UNCALIBRATED)
