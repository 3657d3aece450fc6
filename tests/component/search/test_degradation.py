"""What a caller gets while a part of search is slow, refuses, drops its connection or is broken."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from plumbline.embedding.v1 import embedding_pb2
from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import search_pb2 as pb
from services.search.settings import SearchSettings
from services.search.wiring import search_app
from services.shared.runtime.errors import DependencyUnavailable, Internal, NotFound, Overloaded
from services.shared.runtime.server import RunningServer
from tests.component.search.searching import (
    VECTORS,
    WEIGHTS,
    Searching,
    a_request,
    documents,
    only,
    rows,
    searching,
    serving_real_ranking,
)
from tests.fakes.fake_catalog import FakeCatalog
from tests.fakes.fake_index import FakeIndex, hangs, raises
from tests.fakes.faulty_peers import Wire, dropping, garbling, refusing, wire_to
from tests.fakes.query_embedding import QueryEmbedding, embeds, serving_query_embedding
from tests.fakes.scripted_ranking import ScriptedRanking, answers, serving_ranking
from tests.fakes.scripted_ranking import raises as ranking_raises
from tests.fakes.serving import channel_to, recorded_telemetry

UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
HYBRID, KEYWORD, VECTOR = pb.MODE_HYBRID, pb.MODE_KEYWORD, pb.MODE_VECTOR
Address = Callable[[], AbstractAsyncContextManager[str]]


@pytest.fixture
async def service() -> AsyncIterator[Searching]:
    async with searching() as running:
        yield running


def retry_after_s(error: grpc.aio.AioRpcError) -> float:
    return int(dict(tuple(error.trailing_metadata()))["plumbline-retry-after-ms"]) / 1000


async def stalls(_: Any) -> Any:
    await asyncio.Event().wait()


def embedding_raises(error: Exception) -> Any:
    async def fail(_: embedding_pb2.EmbedRequest) -> embedding_pb2.EmbedResponse:
        raise error

    return fail


async def without_vector_leg(service: Searching) -> None:
    """Hybrid is answered by the keyword leg alone, vector mode not at all."""
    response = await service.search()
    assert (documents(response), list(response.degraded)) == (["solar"], ["vector"])
    assert not response.signals.HasField("best_cosine")
    error = await service.failure(mode=VECTOR)
    assert (error.code(), retry_after_s(error) > 0) == (UNAVAILABLE, True)
    assert service.telemetry.sample("plumbline_search_degraded_total", part="vector") == 1


@pytest.mark.parametrize("address", [refusing, dropping, garbling])
async def test_without_embedding_the_keyword_leg_answers(address: Address) -> None:
    async with address() as target, searching(embedding_target=target) as service:
        await without_vector_leg(service)


@asynccontextmanager
async def embedding_behind_a_wire() -> AsyncIterator[Wire]:
    embedding = QueryEmbedding(embeds(VECTORS, weights_sha256=WEIGHTS))
    async with serving_query_embedding(embedding) as running, wire_to(running.target) as wire:
        yield wire


@pytest.mark.parametrize("fault", ["stalls", "cuts"])
async def test_embedding_whose_connection_stalls_or_breaks_inside_a_message_costs_the_vector_leg(fault: str) -> None:
    async with (
        embedding_behind_a_wire() as wire,
        searching(embedding_target=wire.target, embed_timeout_s=0.3) as service,
    ):
        assert not (await service.search()).degraded
        wire.fault = fault
        await without_vector_leg(service)
        assert bool(wire.cut) == (fault == "cuts")
        wire.fault = ""
        await until_whole_again(service)


async def test_a_connection_to_embedding_that_breaks_once_costs_nothing() -> None:
    async with embedding_behind_a_wire() as wire, searching(embedding_target=wire.target) as service:
        wire.fault = "cuts once"
        assert not (await service.search()).degraded
        assert wire.cut == 1


async def until_whole_again(service: Searching) -> None:
    """Searches until no part is missing."""
    async with asyncio.timeout(10):
        while (await service.search()).degraded:
            pass


@pytest.mark.parametrize(
    "behaviour",
    [
        stalls,
        embedding_raises(NotFound("the model is not loaded")),
        embedding_raises(Internal("a vector is not finite")),
        embedding_raises(ValueError("a bug")),
        embeds(VECTORS, weights_sha256="b" * 64),
        embeds({"solar cells": rows([1, 0, 0])}, weights_sha256=WEIGHTS),
        embeds({"solar cells": np.full((1, 4), np.nan, dtype=np.float32)}, weights_sha256=WEIGHTS),
        embeds({"solar cells": np.zeros((1, 4), dtype=np.float32)}, weights_sha256=WEIGHTS),
        embeds({"solar cells": np.zeros((0, 4), dtype=np.float32)}, weights_sha256=WEIGHTS),
    ],
    ids=[
        "stalls",
        "model not loaded",
        "internal",
        "bug",
        "other weights",
        "other dimensions",
        "NaN",
        "no direction",
        "no vector",
    ],
)
async def test_without_a_usable_query_vector_the_keyword_leg_answers(behaviour: Any) -> None:
    async with searching(embed_timeout_s=0.1) as service:
        service.embedding.behaviour = behaviour
        await without_vector_leg(service)


@pytest.mark.parametrize("fault", [hangs, raises(DependencyUnavailable("the index is broken"))])
async def test_without_vector_search_the_keyword_leg_answers(fault: Any) -> None:
    async with searching(vector_timeout_s=0.1) as service:
        service.index.faults["nearest"] = fault
        await without_vector_leg(service)


@pytest.mark.parametrize("fault", [hangs, raises(DependencyUnavailable("the index is broken"))])
async def test_without_the_keyword_leg_the_vector_leg_answers(fault: Any) -> None:
    async with searching(keyword_timeout_s=0.1) as service:
        service.index.faults["keyword"] = fault
        response = await service.search()
        assert list(response.degraded) == ["keyword"]
        assert documents(response)[:2] == ["solar", "wind"]
        assert response.signals.HasField("best_cosine")
        error = await service.failure(mode=KEYWORD)
        assert (error.code(), retry_after_s(error) > 0) == (UNAVAILABLE, True)


@pytest.mark.parametrize("mode", [HYBRID, KEYWORD, VECTOR])
@pytest.mark.parametrize("fault", [hangs, raises(DependencyUnavailable("the index is broken"))])
async def test_without_the_index_there_is_no_answer_and_no_empty_list(fault: Any, mode: int) -> None:
    async with searching(keyword_timeout_s=0.1, vector_timeout_s=0.1, embed_timeout_s=0.1) as service:
        service.index.faults = dict.fromkeys(("keyword", "nearest", "fetch", "document_chunks", "count"), fault)
        for request in (a_request(mode=mode), a_request("", like_document_id="solar", mode=HYBRID)):
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await service.stub.Search(request, timeout=5)
            assert (error.value.code(), retry_after_s(error.value) > 0) == (UNAVAILABLE, True)
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await service.stub.ListChunks(pb.ListChunksRequest(collection="c", document_id="solar"), timeout=5)
        assert (error.value.code(), retry_after_s(error.value) > 0) == (UNAVAILABLE, True)


async def test_a_generation_that_the_index_lacks_is_unavailable_and_not_empty(service: Searching) -> None:
    await service.index.drop_generation("g1")
    error = await service.failure()
    assert (error.code(), retry_after_s(error) > 0) == (UNAVAILABLE, True)


async def test_a_page_by_cursor_without_the_index_is_unavailable(service: Searching) -> None:
    page = await service.search(limit=1)
    service.index.faults["fetch"] = raises(DependencyUnavailable("the index is broken"))
    error = await service.failure(limit=1, cursor=page.next)
    assert (error.code(), retry_after_s(error) > 0) == (UNAVAILABLE, True)


async def test_both_legs_down_is_unavailable(service: Searching) -> None:
    service.index.faults["keyword"] = raises(DependencyUnavailable("the index is broken"))
    service.embedding.behaviour = embedding_raises(DependencyUnavailable("embedding is down"))
    error = await service.failure()
    assert (error.code(), retry_after_s(error) > 0) == (UNAVAILABLE, True)


async def test_a_query_without_words_needs_the_vector_leg(service: Searching) -> None:
    service.embedding.behaviour = embedding_raises(DependencyUnavailable("embedding is down"))
    assert (await service.failure("???")).code() is UNAVAILABLE


async def test_a_full_embedding_service_costs_hybrid_its_vectors_and_is_told_in_vector_mode(service: Searching) -> None:
    service.embedding.behaviour = embedding_raises(Overloaded("the lane is full", retry_after_s=0.25))
    assert list((await service.search()).degraded) == ["vector"]
    error = await service.failure(mode=VECTOR)
    assert (error.code(), retry_after_s(error)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, 0.25)


async def as_fused(service: Searching) -> None:
    response = await service.search("turbine", explain=True)
    assert list(response.degraded) == ["ranking"]
    scores = [hit.score for hit in response.hits]
    assert documents(response)[0] == "wind"
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == response.hits[0].ledger.fused_score == pytest.approx(2 / 61)
    assert response.hits[0].ledger.keyword.rank == response.hits[0].ledger.vector.rank == 1
    assert service.telemetry.sample("plumbline_search_degraded_total", part="ranking") == 1


@pytest.mark.parametrize("address", [refusing, dropping, garbling])
async def test_without_ranking_the_fused_order_stands(address: Address) -> None:
    async with address() as target, searching(ranking_target=target) as service:
        await as_fused(service)


@pytest.mark.parametrize("fault", ["stalls", "cuts"])
async def test_ranking_whose_connection_stalls_or_breaks_inside_a_message_leaves_the_fused_order(fault: str) -> None:
    async with (
        serving_real_ranking() as target,
        wire_to(target) as wire,
        searching(ranking_target=wire.target, rank_timeout_s=0.3) as service,
    ):
        assert not (await service.search()).degraded
        wire.fault = fault
        await as_fused(service)
        assert bool(wire.cut) == (fault == "cuts")
        wire.fault = ""
        await until_whole_again(service)


def ranking_gives(*ranked: tuple[int, float]) -> Any:
    """A behaviour: these places of the window, each with a score."""

    async def give(request: ranking_pb2.RankRequest) -> ranking_pb2.RankResponse:
        ids = [*(candidate.id for candidate in request.candidates), "another"]
        return ranking_pb2.RankResponse(
            ranked=[ranking_pb2.Ranked(id=ids[place], score=score) for place, score in ranked]
        )

    return give


@pytest.mark.parametrize(
    "behaviour",
    [
        stalls,
        ranking_raises(Internal("a bug")),
        ranking_raises(Overloaded("full")),
        ranking_gives(),
        ranking_gives((0, 1), (1, 1), (2, 1)),
        ranking_gives((0, 1), (0, 1), (1, 1), (2, 1), (3, 1)),
        ranking_gives((0, 1), (1, 1), (2, 1), (3, 1), (-1, 1)),
        ranking_gives((0, 1), (1, math.nan), (2, 1), (3, 1)),
    ],
    ids=["stalls", "internal", "full", "nothing", "one lost", "one twice", "one that was not given", "NaN"],
)
async def test_when_ranking_s_budget_is_spent_or_it_fails_the_fused_order_stands(behaviour: Any) -> None:
    async with (
        serving_ranking(ScriptedRanking(behaviour), recorded_telemetry("ranking")) as ranking,
        searching(ranking_target=ranking.target, rank_timeout_s=0.1) as service,
    ):
        await as_fused(service)


async def test_an_empty_window_is_not_ranked() -> None:
    ranking = ScriptedRanking(answers)
    async with (
        serving_ranking(ranking, recorded_telemetry("ranking")) as running,
        searching(ranking_target=running.target) as service,
    ):
        assert not (await service.search("???", mode=KEYWORD)).hits
        assert ranking.calls == 0


async def test_a_failing_count_leaves_the_signal_unset(service: Searching) -> None:
    service.index.faults["count"] = raises(DependencyUnavailable("the index is broken"))
    response = await service.search(mode=KEYWORD, filter=only("kind", "recipe"))
    assert not response.signals.HasField("filtered_count")


@pytest.mark.parametrize("fault", [raises(DependencyUnavailable("the database is locked")), hangs])
async def test_without_the_catalog_the_last_known_generation_serves(service: Searching, fault: Any) -> None:
    await service.search()
    service.catalog.fault = fault
    response = await service.search()
    assert (list(response.degraded), response.generation.revision) == (["catalog"], 7)
    assert documents(response)[0] == "solar"
    service.catalog.fault = None
    await until_whole_again(service)


async def test_a_catalog_that_does_not_answer_is_not_asked_at_every_search(service: Searching) -> None:
    await service.search()
    service.catalog.fault = hangs
    before = service.catalog.calls
    for _ in range(20):
        assert list((await service.search()).degraded) == ["catalog"]
    # Asked by each, it would stall each of them for its whole timeout.
    assert service.catalog.calls - before < 20


async def test_a_collection_never_seen_needs_the_catalog(service: Searching) -> None:
    service.catalog.fault = raises(DependencyUnavailable("the database is locked"))
    error = await service.failure()
    assert (error.code(), retry_after_s(error) > 0) == (UNAVAILABLE, True)


async def test_a_deleted_collection_is_forgotten(service: Searching) -> None:
    await service.search()
    del service.catalog.active["c"]
    assert (await service.refused())[0] is grpc.StatusCode.NOT_FOUND
    service.catalog.fault = raises(DependencyUnavailable("the database is locked"))
    assert (await service.failure()).code() is UNAVAILABLE


@pytest.mark.parametrize(
    ("stalled", "missing"),
    [("keyword", "keyword"), ("nearest", "vector"), ("embedding", "vector"), ("ranking", "ranking"),
     ("catalog", "catalog"), ("statistics", "catalog")],
)  # fmt: skip
async def test_a_part_that_stalls_costs_a_call_of_50_ms_what_it_would_have_given_and_not_the_answer(
    stalled: str, missing: str
) -> None:
    async with (
        serving_real_ranking() as target,
        wire_to(target) as wire,
        searching(ranking_target=wire.target) as service,
    ):
        await service.search()  # connections are open
        match stalled:
            case "embedding":
                service.embedding.behaviour = stalls
            case "ranking":
                wire.fault = "stalls"
            case "catalog":
                service.catalog.fault = hangs
            case "statistics":
                service.catalog.statistics_fault = hangs
            case _:
                service.index.faults[stalled] = hangs
        before = asyncio.all_tasks()
        began = time.perf_counter()
        response = await answered_or_out_of_time(service)
        took_s = time.perf_counter() - began
        print(f"{stalled} stalls, deadline 50 ms: {'answered' if response else 'out of time'} after {took_s:.4f} s")
        assert took_s < 0.5
        if response:  # on a busy machine 50 ms may be over before the answer is out
            assert missing in response.degraded
            assert documents(response)[0] == "solar"
        await no_task_but(before)
        assert service.index.in_flight == 0


async def answered_or_out_of_time(service: Searching) -> pb.SearchResponse | None:
    try:
        return await service.search(timeout=0.05)
    except grpc.aio.AioRpcError as error:
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        return None


async def test_a_call_whose_time_is_up_leaves_no_task(service: Searching) -> None:
    await service.search()
    service.index.faults = {"keyword": hangs, "nearest": hangs}
    before = asyncio.all_tasks()
    error = await service.failure(timeout=0.05)
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await no_task_but(before)
    assert service.index.in_flight == 0


async def test_a_caller_that_goes_away_stops_both_legs(service: Searching) -> None:
    await service.search()
    both_began = asyncio.Barrier(3)
    cancelled: list[str] = []

    def stalled(leg: str) -> Any:
        async def stall() -> None:
            try:
                await both_began.wait()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(leg)
                raise

        return stall

    service.index.faults = {"keyword": stalled("keyword"), "nearest": stalled("nearest")}
    before = asyncio.all_tasks()
    call = service.stub.Search(a_request(), timeout=10)
    await both_began.wait()
    call.cancel()
    await no_task_but(before)
    assert sorted(cancelled) == ["keyword", "nearest"]
    assert service.index.in_flight == 0


async def no_task_but(before: set[asyncio.Task[Any]]) -> None:
    """Waits until every task that is not in `before` has ended, but for the waiting one itself."""
    async with asyncio.timeout(2):
        while left := asyncio.all_tasks() - before - {asyncio.current_task()}:
            await asyncio.wait(left)


async def test_search_is_ready_without_embedding_and_ranking_but_not_without_catalog_or_index() -> None:
    index, catalog = FakeIndex(), FakeCatalog()
    async with AsyncExitStack() as stack:
        nobody = await stack.enter_async_context(refusing())
        settings = SearchSettings(
            port=0, embedding_target=nobody, ranking_target=nobody, catalog_url="unused", index_folder="unused"
        )
        telemetry = recorded_telemetry("search").telemetry
        server = RunningServer(settings, search_app(settings, telemetry, catalog=catalog, index=index), telemetry)
        await server.start()
        stack.push_async_callback(server.stop)
        channel = await stack.enter_async_context(channel_to(f"127.0.0.1:{server.port}"))
        tried = asyncio.Event()

        async def broken() -> None:
            tried.set()
            raise DependencyUnavailable("not there yet")

        catalog.fault = broken
        becoming_ready = asyncio.ensure_future(server.become_ready())
        await tried.wait()
        assert await health(channel) == health_pb2.HealthCheckResponse.NOT_SERVING
        tried.clear()
        catalog.fault, index.faults["generations"] = None, broken
        await tried.wait()
        assert await health(channel) == health_pb2.HealthCheckResponse.NOT_SERVING
        index.faults.clear()
        await becoming_ready
        assert await health(channel) == health_pb2.HealthCheckResponse.SERVING


async def health(channel: grpc.aio.Channel) -> int:
    request = health_pb2.HealthCheckRequest(service="plumbline.search.v1.SearchService")
    return (await health_pb2_grpc.HealthStub(channel).Check(request, timeout=5)).status
