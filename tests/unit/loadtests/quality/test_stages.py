from loadtests.quality.stages import Found, stages_of
from tests.unit.loadtests.quality.examples import hit


def ids(found: list[Found]) -> list[str]:
    return [one.document_id for one in found]


def test_a_leg_alone_is_told_in_the_legs_own_order() -> None:
    hits = [hit("exact", keyword=3), hit("first", keyword=1), hit("second", keyword=2)]
    assert {name: ids(found) for name, found in stages_of("keyword", hits, attribute=None).items()} == {
        "keyword": ["first", "second", "exact"]
    }


def test_a_hit_that_the_leg_did_not_find_is_not_the_legs() -> None:
    hits = [hit("other", vector=1), hit("own", keyword=1)]
    assert ids(stages_of("keyword", hits, attribute=None)["keyword"]) == ["own"]


def test_a_hybrid_search_is_told_step_by_step() -> None:
    hits = [
        hit("c", fused_score=0.1, places=(1, 2, 1)),
        hit("a", fused_score=0.3, places=(2, 3, 2)),
        hit("b", fused_score=0.2, places=(3, 1, 3)),
    ]
    stages = stages_of("hybrid", hits, attribute=None)
    assert {name: ids(found) for name, found in stages.items()} == {
        "rrf": ["a", "b", "c"],
        "fused": ["c", "a", "b"],
        "recency": ["b", "c", "a"],
        "ranked": ["c", "a", "b"],
    }
    assert list(stages) == ["rrf", "fused", "recency", "ranked"]


def test_equal_fused_scores_stay_as_the_fusion_put_them() -> None:
    hits = [hit("a", places=(2,)), hit("b", places=(1,))]
    assert ids(stages_of("hybrid", hits, attribute=None)["rrf"]) == ["b", "a"]


def test_a_document_stands_where_the_first_of_its_hits_stands() -> None:
    hits = [hit("a", keyword=1), hit("b", keyword=2), hit("a", keyword=3), hit("c", keyword=4)]
    assert ids(stages_of("keyword", hits, attribute=None)["keyword"]) == ["a", "b", "c"]


def test_attribute_and_age_come_along() -> None:
    hits = [hit("a", keyword=1, department="physics", age=3), hit("b", keyword=2)]
    assert stages_of("keyword", hits, attribute="department")["keyword"] == [
        Found("a", "physics", 3),
        Found("b", None, None),
    ]


def test_nothing_found_is_an_empty_order() -> None:
    assert stages_of("hybrid", [], attribute=None) == {"rrf": [], "ranked": []}
    assert stages_of("vector", [], attribute=None) == {"vector": []}
