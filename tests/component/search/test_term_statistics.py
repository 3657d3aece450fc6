"""What search makes of term statistics (the gate, completed scores, coverage), and how it does without them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import search_pb2 as pb
from services.search.domain.bm25 import Bm25
from services.search.domain.keywords import keyword_tokens
from services.search.domain.term_statistics import TermStatistics
from services.shared.index.chunk import IndexedChunk
from services.shared.runtime.errors import DependencyUnavailable
from tests.component.search.searching import COLLECTION, Searching, a_chunk, documents, retrieval, rows, searching
from tests.fakes.fake_index import hangs, raises


def statistics_of(*chunks: IndexedChunk) -> TermStatistics:
    held = [chunk.analysed.split() for chunk in chunks]
    return TermStatistics(len(held), sum(map(len, held)), Counter(token for tokens in held for token in set(tokens)))


STATISTICS = statistics_of(*COLLECTION)
# `solar` holds both words, `wind` only the second, which two of the four chunks hold.
QUERY = "solar current"
VECTORS = {query: rows([1, 0.1, 0, 0]) for query in (QUERY, "solar", "solar zeppelins", "zeppelins")}
VECTORS |= {"current from solar": rows([0.6, 0.8, 0, 0]), "???": rows([1, 0, 0, 0])}


@pytest.fixture
async def service() -> AsyncIterator[Searching]:
    async with searching(vectors=VECTORS) as running:
        running.catalog.statistics["g1"] = STATISTICS
        yield running


async def ledgers(service: Searching, query: str = QUERY, **changes: Any) -> dict[str, ranking_pb2.Ledger]:
    response = await service.search(query, explain=True, **changes)
    return {hit.document_id: hit.ledger for hit in response.hits}


async def test_a_hit_of_the_vector_leg_alone_gets_the_score_that_the_engine_would_give(service: Searching) -> None:
    both = (await ledgers(service))["wind"]
    assert (both.keyword.rank, both.keyword.completed) == (2, False)
    # With one hit from each leg, `wind` is the vector leg's.
    near_wind = await ledgers(service, "current from solar", retrieval=retrieval(depth=1))
    assert set(near_wind) == {"solar", "wind"}
    keyword = near_wind["wind"].keyword
    assert (keyword.rank, keyword.completed, keyword.fused_share) == (0, True, 0)
    assert keyword.score == pytest.approx(both.keyword.score, abs=1e-6)


async def test_a_hit_below_the_gate_earns_no_keyword_rank(service: Searching) -> None:
    without = await ledgers(service)
    assert (without["solar"].keyword.rank, without["wind"].keyword.rank) == (1, 2)
    gated = await ledgers(service, retrieval=retrieval(keyword_gate=0.5))
    assert gated["solar"].keyword.rank == 1
    assert (gated["wind"].keyword.rank, gated["wind"].keyword.fused_share) == (0, 0)
    assert gated["wind"].keyword.completed
    assert gated["wind"].keyword.score == pytest.approx(without["wind"].keyword.score)


async def test_a_hit_at_the_gate_passes(service: Searching) -> None:
    share = STATISTICS.idf("s:current") / (STATISTICS.idf("s:current") + STATISTICS.idf("s:solar"))
    found = {gate: await ledgers(service, retrieval=retrieval(keyword_gate=gate)) for gate in (share, share + 0.01, 1)}
    assert [ledger["wind"].keyword.rank for ledger in found.values()] == [2, 0, 0]
    assert found[1]["solar"].keyword.rank == 1


async def test_keyword_mode_leaves_out_what_is_below_the_gate(service: Searching) -> None:
    keyword = {"mode": pb.MODE_KEYWORD}
    assert await service.found(QUERY, **keyword) == ["solar", "wind"]
    assert await service.found(QUERY, **keyword, retrieval=retrieval(keyword_gate=0.5)) == ["solar"]


async def test_chunks_without_the_words_have_a_completed_score_of_nothing(service: Searching) -> None:
    keyword = (await ledgers(service))["bread"].keyword
    assert (keyword.rank, keyword.score, keyword.completed) == (0, 0, True)


async def test_signals_tell_what_of_the_query_the_hits_hold(service: Searching) -> None:
    signals = (await service.search(QUERY)).signals
    bm25 = Bm25.of(keyword_tokens(QUERY, "en", {}), STATISTICS)
    assert signals.idf_coverage == 1
    assert signals.keyword_share == pytest.approx(bm25.score(COLLECTION[0].analysed) / bm25.highest)
    half = (await service.search("solar zeppelins")).signals
    solar, zeppelins = STATISTICS.idf("s:solar"), STATISTICS.idf("s:zeppelin")
    assert half.idf_coverage == pytest.approx(solar / (solar + zeppelins))
    assert 0 < half.keyword_share < signals.keyword_share


async def test_a_search_without_any_hit_covers_nothing(service: Searching) -> None:
    signals = (await service.search("zeppelins", mode=pb.MODE_KEYWORD)).signals
    assert (signals.idf_coverage, signals.keyword_share) == (0, 0)


@pytest.mark.parametrize(
    "changes", [{"mode": pb.MODE_VECTOR}, {"query": "", "like_document_id": "solar"}, {"query": "???"}]
)
async def test_nothing_is_looked_up_where_no_word_is_looked_for(service: Searching, changes: dict[str, Any]) -> None:
    response = await service.search(**({"query": QUERY} | changes))
    assert service.catalog.looked_up == []
    assert not response.signals.HasField("idf_coverage")
    assert not response.signals.HasField("keyword_share")
    assert list(response.degraded) == []


async def test_the_catalog_is_asked_for_the_tokens_of_the_query_at_once(service: Searching) -> None:
    await service.search(QUERY)
    assert service.catalog.looked_up == [("w:solar", "s:solar", "w:current", "s:current")]


async def test_a_generation_without_statistics_is_searched_without_them(service: Searching) -> None:
    del service.catalog.statistics["g1"]
    gated = await service.search(QUERY, explain=True, retrieval=retrieval(keyword_gate=1))
    by_document = {hit.document_id: hit.ledger.keyword for hit in gated.hits}
    assert by_document["wind"].rank == 2
    assert not by_document["bread"].HasField("score")
    assert not gated.signals.HasField("idf_coverage")
    assert list(gated.degraded) == []


@pytest.mark.parametrize("fault", [hangs, raises(DependencyUnavailable("the database is locked"))])
async def test_a_catalog_that_fails_at_the_statistics_costs_only_them(fault: Any) -> None:
    async with searching(vectors=VECTORS, catalog_timeout_s=0.05) as service:
        service.catalog.statistics["g1"] = STATISTICS
        service.catalog.statistics_fault = fault
        response = await service.search(QUERY, retrieval=retrieval(keyword_gate=1))
        assert set(documents(response)) == {chunk.document_id for chunk in COLLECTION}
        assert list(response.degraded) == ["catalog"]
        assert not response.signals.HasField("idf_coverage")


async def test_a_catalog_that_just_failed_is_not_asked_for_statistics() -> None:
    async with searching(vectors=VECTORS, catalog_timeout_s=0.05) as service:
        await service.search(QUERY)
        service.catalog.fault = hangs
        service.catalog.looked_up.clear()
        assert list((await service.search(QUERY)).degraded) == ["catalog"]
        assert service.catalog.looked_up == []


async def test_the_legs_do_not_wait_for_the_statistics(service: Searching) -> None:
    legs_began = asyncio.Event()

    async def answers_once_the_legs_began() -> None:
        async with asyncio.timeout(5):
            await legs_began.wait()

    async def tells() -> None:
        legs_began.set()

    service.catalog.statistics_fault = answers_once_the_legs_began
    service.index.faults["keyword"] = tells
    assert list((await service.search(QUERY)).degraded) == []


async def test_no_lookup_is_left_when_the_legs_fail() -> None:
    over = asyncio.Event()

    async def never_answers() -> None:
        try:
            await hangs()
        finally:
            over.set()

    async with searching(vectors=VECTORS, catalog_timeout_s=10) as service:
        service.catalog.statistics_fault = never_answers
        service.index.faults["keyword"] = raises(DependencyUnavailable("the index is gone"))
        async with asyncio.timeout(5):
            code, _ = await service.refused(QUERY, mode=pb.MODE_KEYWORD)
        assert code is grpc.StatusCode.UNAVAILABLE
        assert over.is_set()


async def test_nothing_is_completed_when_the_keyword_leg_failed(service: Searching) -> None:
    service.index.faults["keyword"] = raises(DependencyUnavailable("the index is gone"))
    response = await service.search(QUERY, explain=True)
    assert list(response.degraded) == ["keyword"]
    assert not any(hit.ledger.keyword.completed for hit in response.hits)
    assert not response.signals.HasField("keyword_share")
    assert response.signals.idf_coverage == 1


async def test_an_engine_that_is_behind_is_given_the_scores_of_now(service: Searching) -> None:
    # The index scores with the frequencies that it has; by those of the catalog `current` is the rarer word.
    rarer = {**STATISTICS.frequencies, "w:solar": 90, "s:solar": 90}
    service.catalog.statistics["g1"] = now = TermStatistics(100, 100 * 12, rarer)
    await service.index.upsert("g1", [a_chunk("current", "Current.", [0, 0, 1, 0])])
    assert (await ledgers(service, mode=pb.MODE_KEYWORD))["solar"].keyword.rank == 2

    keyword = (await ledgers(service))["solar"].keyword

    assert not keyword.completed
    assert keyword.score == pytest.approx(Bm25.of(keyword_tokens(QUERY, "en", {}), now).score(COLLECTION[0].analysed))


@pytest.mark.parametrize("gate", [-0.1, 1.1, float("nan")])
async def test_a_gate_is_a_share(service: Searching, gate: float) -> None:
    refused = await service.refused(QUERY, retrieval=retrieval(keyword_gate=gate))
    assert refused == (grpc.StatusCode.INVALID_ARGUMENT, "retrieval.keyword_gate")
