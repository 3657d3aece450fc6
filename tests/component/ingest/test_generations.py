"""Generations through the real service: built from the originals, kept in step, judged, switched and switched back."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.search.v1 import search_pb2
from services.ingest.settings import IngestSettings
from services.shared.catalog.judgments import Judgment
from tests.component.ingest.conftest import TIMEOUT_S, Ingest
from tests.fakes.scripted_search import ScriptedSearch, serving_search

LONG = " ".join(f"word{number}" for number in range(300))


class FindsByGeneration(ScriptedSearch):
    """Finds for each generation what `found` says, and what `otherwise` says for one that is not in it."""

    def __init__(self) -> None:
        super().__init__(search_pb2.SearchResponse())
        self.found: dict[str, list[str]] = {}
        self.otherwise: list[str] = []
        self.degraded: list[str] = []

    async def Search(
        self, request: search_pb2.SearchRequest, context: grpc.aio.ServicerContext
    ) -> search_pb2.SearchResponse:
        self.requests.append(request)
        hits = [search_pb2.Hit(document_id=one) for one in self.found.get(request.generation_id, self.otherwise)]
        return search_pb2.SearchResponse(hits=hits, degraded=self.degraded)


@pytest.fixture
async def search() -> AsyncIterator[FindsByGeneration]:
    yield FindsByGeneration()


@pytest.fixture
async def settings(settings: IngestSettings, search: FindsByGeneration) -> AsyncIterator[IngestSettings]:
    async with serving_search(search) as running:
        yield settings.model_copy(update={"search_target": running.target})


def a_note(name: str, text: str = "A short note.") -> pb.Document:
    return pb.Document(id=name, title=name, text=text)


async def build(ingest: Ingest, **changes: str) -> tuple[str, pb.Job]:
    """The built generation and its finished job."""
    request = pb.BuildGenerationRequest(collection="notes", **changes)
    reply = await ingest.stub.BuildGeneration(request, timeout=TIMEOUT_S)
    return reply.generation.generation_id, await ingest.finished(reply.job_id)


async def promote(ingest: Ingest, generation_id: str, *, loss: float = 0.0) -> pb.PromoteGenerationResponse:
    request = pb.PromoteGenerationRequest(collection="notes", generation_id=generation_id, max_ndcg_loss=loss)
    return await ingest.stub.PromoteGeneration(request, timeout=TIMEOUT_S)


async def roll_back(ingest: Ingest) -> pb.RollBackGenerationResponse:
    return await ingest.stub.RollBackGeneration(pb.RollBackGenerationRequest(collection="notes"), timeout=TIMEOUT_S)


async def active(ingest: Ingest) -> str:
    return (await ingest.catalog.collections.get("notes")).active.id


async def test_the_same_built_again_copies_every_vector(ingest: Ingest) -> None:
    await ingest.put(*(a_note(f"n{number}", f"Note {number}. {LONG}") for number in range(5)))
    embedded, first = ingest.embedded(), await active(ingest)

    generation_id, job = await build(ingest)

    assert (job.state, job.total, job.outcomes.reused) == (pb.JOB_STATE_SUCCEEDED, 5, 5)
    assert ingest.embedded() == embedded
    for number in range(5):
        old = await ingest.index.document_chunks(first, f"n{number}", vectors=True)
        new = await ingest.index.document_chunks(generation_id, f"n{number}", vectors=True)
        assert [chunk.chunk_id for chunk in old] == [chunk.chunk_id for chunk in new]
        assert all((one.vectors == other.vectors).all() for one, other in zip(old, new, strict=True))


async def test_another_profile_is_built_from_the_originals_and_serves_after_its_promotion(ingest: Ingest) -> None:
    await ingest.put(a_note("long", LONG))
    before = await ingest.texts("long")

    generation_id, job = await build(ingest, profile="plain")
    assert await ingest.texts("long") == before
    promoted = await promote(ingest, generation_id)

    assert (job.outcomes.embedded, promoted.gate.queries) == (1, 0)
    assert (promoted.generation.state, promoted.generation.lag) == (pb.GENERATION_STATE_ACTIVE, 0)
    after = await ingest.texts("long")
    assert len(after) > len(before)
    assert max(map(len, after)) <= 450


async def test_changes_go_into_what_is_built_and_into_what_served_before(ingest: Ingest) -> None:
    await ingest.put(a_note("kept"), a_note("gone"), a_note("changed"))
    generation_id, _ = await build(ingest)
    await ingest.put(a_note("changed", "It is new."), a_note("added"))
    await promote(ingest, generation_id)
    request = pb.DeleteDocumentsRequest(collection="notes", document_ids=["gone"])
    await ingest.finished((await ingest.stub.DeleteDocuments(request, timeout=TIMEOUT_S)).job_id)

    states = []
    for step in (lambda: None, lambda: roll_back(ingest), lambda: roll_back(ingest)):
        if (done := step()) is not None:
            await done
        states.append({name: await ingest.texts(name) for name in ("kept", "gone", "changed", "added")})

    assert states[0] == {"kept": ["A short note."], "gone": [], "changed": ["It is new."], "added": ["A short note."]}
    assert states[1] == states[2] == states[0]
    assert await active(ingest) == generation_id


async def test_writes_go_on_through_build_promotion_and_rollback(ingest: Ingest) -> None:
    await ingest.put(*(a_note(f"n{number}") for number in range(10)))
    stop, written = asyncio.Event(), dict[str, str]()

    async def write() -> None:
        number = 0
        while not stop.is_set():
            name, text = f"n{number % 15}", f"Text number {number}."
            job = await ingest.put(a_note(name, text))
            assert job.outcomes.failed == 0
            written[name] = text
            number += 1

    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        for step in range(3):
            generation_id, job = await build(ingest)
            assert job.state == pb.JOB_STATE_SUCCEEDED
            await promote(ingest, generation_id)
            if step == 1:
                await roll_back(ingest)
        stop.set()

    for switched in range(2):
        assert {name: await ingest.texts(name) for name in written} == {name: [text] for name, text in written.items()}
        if not switched:
            await roll_back(ingest)


async def test_gate_that_fails_refuses_with_its_figures(ingest: Ingest, search: FindsByGeneration) -> None:
    await ingest.put(a_note("good"), a_note("other"))
    await ingest.catalog.judgments.put("notes", [Judgment("q", "a query", None, None, {"good": 3})])
    first = await active(ingest)
    search.found = {first: ["good"]}
    search.otherwise = ["other", "good"]
    generation_id, _ = await build(ingest)

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await promote(ingest, generation_id, loss=0.36)

    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    # 1 / log2(3) = 0.6309
    assert "over 1 judged queries falls from 1.0000 to 0.6309, more than the 0.36 allowed" in refused.value.details()
    assert await active(ingest) == first
    gate = (await promote(ingest, generation_id, loss=0.37)).gate
    assert (gate.queries, gate.serving_ndcg10, round(gate.candidate_ndcg10, 4)) == (1, 1.0, 0.6309)
    assert await active(ingest) == generation_id


async def test_judged_filter_and_locale_are_asked_with(ingest: Ingest, search: FindsByGeneration) -> None:
    filter_ = {
        "all": [{"field": "year", "op": "in", "value": [2020, 2021]}, {"not": {"field": "draft", "op": "exists"}}]
    }
    await ingest.catalog.judgments.put("notes", [Judgment("q", "a query", "tr", filter_, {"a": 1})])
    generation_id, _ = await build(ingest)

    await promote(ingest, generation_id)

    asked = search.requests[0]
    assert (asked.query, asked.locale, len(asked.filter.all.filters)) == ("a query", "tr", 2)


async def test_gate_compares_nothing_while_search_does_without_a_leg(ingest: Ingest, search: FindsByGeneration) -> None:
    await ingest.catalog.judgments.put("notes", [Judgment("q", "a query", None, None, {"a": 1})])
    generation_id, _ = await build(ingest)
    search.degraded = ["vector"]

    with pytest.raises(grpc.aio.AioRpcError, match="search does without vector"):
        await promote(ingest, generation_id)


@pytest.mark.parametrize("generation_id", ["", "nothing"])
async def test_unknown_generation_is_not_found(ingest: Ingest, generation_id: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await promote(ingest, generation_id)
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


async def test_generation_that_serves_cannot_be_promoted_again(ingest: Ingest) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="is active, not ready"):
        await promote(ingest, await active(ingest))


async def test_rollback_without_a_previous_generation_is_refused(ingest: Ingest) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await roll_back(ingest)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION


@pytest.mark.parametrize(
    ("changes", "code"), [({"profile": "novel"}, "INVALID_ARGUMENT"), ({"model": "x"}, "NOT_FOUND")]
)
async def test_what_cannot_be_built_leaves_no_index(ingest: Ingest, changes: dict[str, str], code: str) -> None:
    before = await ingest.index.generations()

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await build(ingest, **changes)

    assert refused.value.code() is grpc.StatusCode[code]
    assert await ingest.index.generations() == before
