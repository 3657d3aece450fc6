from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.quality import asking, measuring
from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.measuring import measure_set
from services.local.failure import Failure
from services.local.sample_collections import SampleCollection
from tests.unit.loadtests.quality.examples import FakeGateway

WORDS = ("tea", "coal", "ships", "bread", "sand")
FILTER = {"field": "unit", "op": "eq", "value": "1"}
CONTENT = SampleCollection(
    "goods",
    "docs",
    lambda: [{"id": f"d-{word}", "text": word} for word in WORDS],
    judgments=lambda: [
        {"id": f"q-{word}", "query": word, "relevance": {f"d-{word}": 1}, "filter": FILTER} for word in WORDS
    ],
)
GOODS = JudgedSet("goods", "goods", ("nDCG@10",), CONTENT, clock="2026-01-01")


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_PAUSE_S", 0.0)
    monkeypatch.setattr(measuring, "_LOOK_AGAIN_S", 0.0)


async def test_every_judged_query_is_measured_at_every_stage(tmp_path: Path) -> None:
    gateway = FakeGateway(wrong={"coal"})
    async with gateway.client() as client:
        figures = await measure_set(client, GOODS, tmp_path)
    assert figures.queries == ["q-bread", "q-coal", "q-sand", "q-ships", "q-tea"]
    assert list(figures.stages) == ["keyword", "vector", "rrf", "fused", "ranked"]
    for values in figures.stages.values():
        assert values["MRR@20"] == [1.0, 0.2, 1.0, 1.0, 1.0]
    assert (figures.documents, figures.model, figures.watched) == (5, "all-MiniLM-L6-v2", ["nDCG@10"])


async def test_a_query_is_asked_with_its_filter_its_clock_and_ledgers(tmp_path: Path) -> None:
    gateway = FakeGateway()
    async with gateway.client() as client:
        await measure_set(client, GOODS, tmp_path)
    first = gateway.searches[0]
    assert [body["mode"] for body in gateway.searches[:3]] == ["keyword", "vector", "hybrid"]
    assert (first["filter"], first["ranking"], first["explain"], first["limit"]) == (
        FILTER,
        {"clock_date": "2026-01-01"},
        True,
        100,
    )


async def test_an_unfiltered_set_is_asked_without_filters(tmp_path: Path) -> None:
    gateway = FakeGateway()
    async with gateway.client() as client:
        await measure_set(client, replace(GOODS, filtered=False, modes=("keyword",)), tmp_path)
    assert {body["filter"] for body in gateway.searches} == {None}
    assert {body["mode"] for body in gateway.searches} == {"keyword"}


async def test_a_collection_that_is_there_is_measured_by_its_own_judged_queries(tmp_path: Path) -> None:
    gateway = FakeGateway()
    async with gateway.client() as client:
        await measure_set(client, GOODS, tmp_path)
        figures = await measure_set(client, JudgedSet("goods", "goods", ("P@10",)), tmp_path)
    assert (figures.put_s, len(figures.queries)) == (None, 5)


async def test_nothing_is_asked_before_the_index_was_tended(tmp_path: Path) -> None:
    gateway = FakeGateway(untended=3)
    async with gateway.client() as client:
        await measure_set(client, GOODS, tmp_path)
    assert gateway.untended <= 0
    assert len(gateway.searches) == 3 * 5


async def test_an_index_that_is_never_tended_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_LONGEST_UPKEEP_S", 0.0)
    gateway = FakeGateway(untended=10_000_000)
    async with gateway.client() as client:
        with pytest.raises(Failure, match="goods: the index was not optimized"):
            await measure_set(client, GOODS, tmp_path)
    assert gateway.searches == []


async def test_an_answer_that_lacks_a_part_is_asked_for_again(tmp_path: Path) -> None:
    gateway = FakeGateway(degraded=[["ranking"], ["vector"]])
    async with gateway.client() as client:
        figures = await measure_set(client, GOODS, tmp_path)
    assert figures.stages["keyword"]["MRR@20"] == [1.0] * 5
    assert len(gateway.searches) == 3 * 5 + 2


async def test_a_part_that_stays_away_ends_the_run(tmp_path: Path) -> None:
    gateway = FakeGateway(degraded=[["ranking"]] * 3)
    async with gateway.client() as client:
        with pytest.raises(Failure, match=r"^goods: query q-bread was answered 3 times without ranking$"):
            await measure_set(client, GOODS, tmp_path)


async def test_lost_documents_end_the_run(tmp_path: Path) -> None:
    async with FakeGateway(loses=2).client() as client:
        with pytest.raises(Failure, match=r"^goods: 3 of 5 documents are searchable"):
            await measure_set(client, GOODS, tmp_path)


async def test_another_model_is_not_measured_in_the_sets_name(tmp_path: Path) -> None:
    async with FakeGateway(model="another").client() as client:
        with pytest.raises(Failure, match="measured with all-MiniLM-L6-v2, and this stack has another"):
            await measure_set(client, GOODS, tmp_path)
    async with FakeGateway(model="another").client() as client:
        figures = await measure_set(client, replace(GOODS, modes=("keyword",)), tmp_path)
    assert figures.model == "another"


async def test_a_collection_without_judged_queries_is_one_sentence(tmp_path: Path) -> None:
    async with FakeGateway(exists=True).client() as client:
        with pytest.raises(Failure, match="collection goods has no judged queries"):
            await measure_set(client, JudgedSet("goods", "goods", ("P@10",)), tmp_path)
