"""The page of the studies, over sets that are small enough to rank by hand."""

from loadtests.tune.stage_study import stages
from loadtests.tune.studies import study
from loadtests.tune.study_sets import BY_DEFAULT, PAPERS, STUDY_SETS, TOPICS, TOPICS_MPNET, StudySet
from loadtests.tune.target_study import target_lines
from tests.unit.loadtests.tune.examples import captured, knobs

DATES = {"a": "2001", "b": "2026", "c": "2020", "d": "1999"}
KINDS = {"a": "law", "b": "law", "c": "art", "d": "law"}
TIERS = ((1, 1.2), (5, 1.0), (None, 0.9))


def a_set(name: str, **own: object) -> StudySet:
    """Ten queries, whose first document is right for one half and whose last is for the other."""
    queries = tuple(
        captured("a" if place % 2 else "d", dates=DATES, attributes=KINDS, name=f"q{place}") for place in range(10)
    )
    return StudySet(name, "tiny", "en", queries, knobs(relevance="completed", recency_tiers=TIERS, **own))


def test_every_table_is_there_for_the_sets_that_are() -> None:
    page = study({PAPERS: a_set(PAPERS, diversify_by="kind"), TOPICS: a_set(TOPICS)}, date="2026-11-30")
    for heading in (
        "# Ranking, stage by stage", "## Completed relevance", "## The share of the cosine", "### papers: 10 queries",
        "## Recency by its bound", "the floor of three, by power and w", "by what redundancy is",
        "## Targets on topics", "## Cost",
    ):  # fmt: skip
        assert heading in page
    assert "fewer than three values although the window has them: 0 of 10" in page


def test_a_table_whose_set_is_missing_is_left_out() -> None:
    page = study({"xquad-en": a_set("xquad-en")}, date="2026-11-30")
    assert "| xquad-en" in page
    assert "## Recency by its bound" not in page
    assert "## Targets on topics" not in page


def test_each_stage_is_on_top_of_those_before_it() -> None:
    runs = stages(a_set(PAPERS, diversify_by="kind"))
    assert list(runs) == ["fused", "completed", "+ recency", "+ MMR", "+ floor"]
    assert list(stages(a_set(TOPICS))) == ["fused", "completed", "+ recency", "+ MMR"]
    # Without recency d is last, so the even queries have it at place 4.
    assert runs["fused"].values["MRR@20"] == [0.25, 1.0] * 5


def test_what_is_tuned_and_what_is_not_is_told_on_the_same_half() -> None:
    lines = "\n".join(target_lines([a_set(TOPICS)]))
    assert "tiny, default, the other half" in lines
    assert "tiny, tuned by P@10, the other half" in lines


def test_the_set_whose_vectors_take_long_is_asked_for_by_name() -> None:
    assert set(STUDY_SETS) - set(BY_DEFAULT) == {TOPICS_MPNET}
