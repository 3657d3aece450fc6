"""The judged sets that the defaults of ranking stand on, and the knobs by which each is ranked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.known_sets import known_sets
from loadtests.tune.capture import Captured
from loadtests.tune.captured import CapturedQuery
from loadtests.tune.replay import Knobs

PAPERS, TOPICS, TOPICS_MPNET = "papers", "pubmedqa-topics", "pubmedqa-topics-mpnet"
_MINILM, _MPNET = "all-MiniLM-L6-v2", "all-mpnet-base-v2"
# What both models were trained on: in another language their vectors say little.
MODELS_LANGUAGE = "en"
# A set without a clock has no dates either.
_ANY_DAY = date(2026, 12, 31)


def _with_vectors(name: str) -> JudgedSet:
    """A set of which only the keyword leg is measured elsewhere, with both legs."""
    return replace(known_sets()[name], model=_MINILM, modes=("keyword", "vector", "hybrid"))


def _topics_mpnet() -> JudgedSet:
    """The topics with the larger model, whose vectors are computed: nobody has them ready."""
    return replace(known_sets()[TOPICS], name=TOPICS_MPNET, model=_MPNET, ready=())


STUDY_SETS: Mapping[str, Callable[[], JudgedSet]] = {
    PAPERS: lambda: known_sets()[PAPERS],
    TOPICS: lambda: known_sets()[TOPICS],
    "scifact": lambda: known_sets()["scifact"],
    "english-at-work": lambda: known_sets()["english-at-work"],
    **{f"xquad-{language}": partial(_with_vectors, f"xquad-{language}") for language in ("en", "tr", "hi", "zh")},
    TOPICS_MPNET: _topics_mpnet,
}
# The vectors of the last one take two cores 12 minutes.
BY_DEFAULT = tuple(name for name in STUDY_SETS if name != TOPICS_MPNET)


@dataclass(frozen=True, slots=True)
class StudySet:
    """A captured set; `own` are the settings that its collection has, `locale` is its language."""

    name: str
    model: str
    locale: str
    queries: tuple[CapturedQuery, ...]
    own: Knobs


def study_set(judged: JudgedSet, captured: Captured) -> StudySet:
    """The set with its collection's settings and its clock."""
    settings = captured.declaration.resolved_settings()
    today = date.fromisoformat(judged.clock) if judged.clock else _ANY_DAY
    knobs = Knobs(settings.retrieval, settings.ranking, today)
    return StudySet(judged.name, captured.model, captured.declaration.locale, captured.queries, knobs)
