"""A collection moves to another embedding model and back, while it is written and searched with the real services."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.search.v1.search_pb2_grpc import SearchServiceStub
from services.embedding.settings import EmbeddingSettings
from services.embedding.wiring import build as build_embedding
from services.ingest import convert
from services.ingest.settings import IngestSettings
from services.ranking.settings import RankingServiceSettings
from services.ranking.wiring import build as build_ranking
from services.search.settings import SearchSettings
from services.search.wiring import build as build_search
from services.shared.catalog.judgments import Judgment
from tests.component.ingest.conftest import TIMEOUT_S, Ingest
from tests.fakes.serving import channel_to, recorded_telemetry, served
from tests.fakes.tiny_model import write_tiny_model

DOCUMENTS = 12
QUERY = Judgment("q", "herons in shallow water", None, None, {"herons": 3})


@pytest.fixture
async def embedding_target(tmp_path: Path) -> AsyncIterator[str]:
    """An embedding service with two models: `hashing` of 384 dimensions, which finds words, and a random one of 32."""
    tiny = await asyncio.to_thread(write_tiny_model, tmp_path / "models")
    telemetry = recorded_telemetry("embedding").telemetry
    settings = EmbeddingSettings(port=0, model="hashing", second_model=str(tiny), device="cpu", threads=1)
    async with served(await build_embedding(settings, telemetry), settings, telemetry) as running:
        yield running.target


@pytest.fixture
async def search_target(tmp_path: Path, embedding_target: str) -> AsyncIterator[str]:
    """The search and ranking services over the same stores."""
    ranking_settings = RankingServiceSettings(port=0)
    ranking_telemetry = recorded_telemetry("ranking").telemetry
    ranking = await build_ranking(ranking_settings, ranking_telemetry)
    async with served(ranking, ranking_settings, ranking_telemetry) as running_ranking:
        settings = SearchSettings(
            port=0,
            embedding_target=embedding_target,
            ranking_target=running_ranking.target,
            catalog_url=f"sqlite:///{tmp_path / 'catalog.db'}",
            index_folder=str(tmp_path / "index"),
        )
        telemetry = recorded_telemetry("search").telemetry
        async with served(await build_search(settings, telemetry), settings, telemetry) as running:
            yield running.target


@pytest.fixture
def settings(tmp_path: Path, embedding_target: str, search_target: str) -> IngestSettings:
    return IngestSettings(
        port=0,
        embedding_target=embedding_target,
        search_target=search_target,
        catalog_url=f"sqlite:///{tmp_path / 'catalog.db'}",
        blobs_url=str(tmp_path / "blobs"),
        index_folder=str(tmp_path / "index"),
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """One search: the model of the generation that answered, the parts it did without, and the first document."""

    model: str
    degraded: tuple[str, ...]
    first: str


@dataclass(slots=True)
class Searching:
    """Searches of the collection as a user has them."""

    ingest: Ingest
    stub: SearchServiceStub

    async def once(self) -> Seen:
        collection = await self.ingest.catalog.collections.get("notes")
        request = convert.judged_search_to_proto(collection, QUERY, "")
        reply = await self.stub.Search(request, timeout=TIMEOUT_S)
        answered = await self.ingest.catalog.generations.get(reply.generation.id)
        return Seen(answered.manifest.model, tuple(reply.degraded), reply.hits[0].document_id)


@pytest.fixture
async def searching(ingest: Ingest, search_target: str) -> AsyncIterator[Searching]:
    """A collection of documents about other things and one about herons."""
    others = (pb.Document(id=f"other-{n}", text=f"Text number {n} of a quiet office.") for n in range(DOCUMENTS))
    await ingest.put(pb.Document(id="herons", text="Herons stand in shallow water."), *others)
    async with channel_to(search_target) as channel:
        yield Searching(ingest, SearchServiceStub(channel))


async def build_with(ingest: Ingest, model: str) -> str:
    request = pb.BuildGenerationRequest(collection="notes", model=model)
    begun = await ingest.stub.BuildGeneration(request, timeout=TIMEOUT_S)
    job = await ingest.finished(begun.job_id)
    assert job.state == pb.JOB_STATE_SUCCEEDED
    return begun.generation.generation_id


async def test_another_model_is_promoted_and_rolled_back_without_a_failed_query(
    ingest: Ingest, searching: Searching
) -> None:
    seen: list[Seen] = []
    over = asyncio.Event()

    async def search_on() -> None:
        while not over.is_set():
            seen.append(await searching.once())

    async def write_on() -> None:
        number = 0
        while not over.is_set():
            job = await ingest.put(pb.Document(id=f"written-{number % 5}", text=f"Version {number} of an office."))
            assert (job.state, job.outcomes.failed) == (pb.JOB_STATE_SUCCEEDED, 0)
            number += 1

    serving = []
    async with asyncio.TaskGroup() as group:
        group.create_task(search_on())
        group.create_task(write_on())
        generation_id = await build_with(ingest, "tiny")
        serving.append((await searching.once()).model)
        request = pb.PromoteGenerationRequest(collection="notes", generation_id=generation_id)
        await ingest.stub.PromoteGeneration(request, timeout=TIMEOUT_S)
        serving.append((await searching.once()).model)
        for _ in range(2):
            await ingest.stub.RollBackGeneration(pb.RollBackGenerationRequest(collection="notes"), timeout=TIMEOUT_S)
            serving.append((await searching.once()).model)
        over.set()

    assert serving == ["hashing", "tiny", "hashing", "tiny"]
    assert {(one.degraded, one.first) for one in seen} == {((), "herons")}
    assert {one.model for one in seen} == {"hashing", "tiny"}
    # What was written meanwhile is in both, under the dimensions of each.
    live = await ingest.catalog.generations.live("notes")
    assert {one.manifest.dimensions for one in live} == {384, 32}
    counts = {one.id: await ingest.index.count(one.id) for one in live}
    assert len(set(counts.values())) == 1 and set(counts) == {one.id for one in live}
