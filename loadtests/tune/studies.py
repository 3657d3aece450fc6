"""All tables that the defaults of ranking stand on, as one page."""

from collections.abc import Iterable, Mapping, Sequence

from loadtests.quality.chance import CONFIDENCE
from loadtests.tune.cost_study import cost_lines
from loadtests.tune.diversity_study import form_lines, lambda_lines, share_lines
from loadtests.tune.recency_study import recency_lines
from loadtests.tune.relevance_study import relevance_lines
from loadtests.tune.relevance_study import share_lines as cosine_share_lines
from loadtests.tune.report import provenance
from loadtests.tune.stage_study import stage_lines
from loadtests.tune.study_sets import MODELS_LANGUAGE, PAPERS, TOPICS, TOPICS_MPNET, StudySet
from loadtests.tune.target_study import target_lines


def study(sets: Mapping[str, StudySet], *, date: str) -> str:
    """The tables of these sets, in the order of the stages; a table whose set is missing is left out.

    The share of the cosine is told of the sets in the models' language only.
    """
    dated = [sets[name] for name in (PAPERS, TOPICS) if name in sets]
    topics = [sets[name] for name in (TOPICS, TOPICS_MPNET) if name in sets]
    spoken = [one for one in sets.values() if one.locale == MODELS_LANGUAGE]
    papers = [sets[name] for name in (PAPERS,) if name in sets]
    parts = [
        [
            "# Ranking, stage by stage",
            "",
            f"{date}, {provenance()}. Means over queries with {CONFIDENCE:.0%} bootstrap intervals; changes are of "
            "paired queries. Every query was asked once; all tables rank what both legs found for it again.",
        ],
        [
            "## Completed relevance",
            "",
            "Each leg alone with exact hits first; `p` is adjusted for all that the table compares.",
            "",
            *relevance_lines(list(sets.values())),
        ],
        ["## The share of the cosine", "", *cosine_share_lines(spoken)],
        *_section("From the fused order to the floor", map(stage_lines, dated)),
        *_section("Recency by its bound", map(recency_lines, dated)),
        *_section(
            "Diversity", [*map(share_lines, papers), *map(lambda_lines, topics[:1]), *map(form_lines, topics[:1])]
        ),
        *([["## Targets on topics", "", *target_lines(topics)]] if topics else []),
        *_section("Cost", map(cost_lines, dated)),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _section(title: str, tables: Iterable[Iterable[str]]) -> Sequence[Sequence[str]]:
    parts = [list(lines) for lines in tables]
    return [[f"## {title}"], *parts] if parts else []
