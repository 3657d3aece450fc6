"""Documents that are published again while others read: ingest and search over one index and one catalog."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from plumbline.ingest.v1 import ingest_pb2
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceStub
from plumbline.search.v1 import search_pb2 as pb
from plumbline.search.v1.search_pb2_grpc import SearchServiceStub
from services.embedding.settings import EmbeddingSettings
from services.embedding.wiring import build as build_embedding
from services.ingest.settings import IngestSettings
from services.ingest.wiring import build as build_ingest
from services.search.settings import SearchSettings
from services.search.wiring import build as build_search
from tests.component.search.conftest import Engine
from tests.component.search.searching import RANKING, retrieval, serving_real_ranking
from tests.fakes.serving import channel_to, recorded_telemetry, served

TIMES = 50


@dataclass(frozen=True, slots=True)
class Shop:
    """One collection, `prices`, that is written and read."""

    ingest: IngestServiceStub
    search: SearchServiceStub

    async def accept(self, document_id: str, markdown: str) -> str:
        """The job of a document that is accepted."""
        document = ingest_pb2.Document(id=document_id, title="Prices", markdown=markdown)
        request = ingest_pb2.PutDocumentsRequest(collection="prices", documents=[document])
        return (await self.ingest.PutDocuments(request, timeout=60)).job_id

    async def publish(self, document_id: str, markdown: str) -> None:
        """Returns once the document is applied."""
        job_id = await self.accept(document_id, markdown)
        async for response in self.ingest.WatchJob(ingest_pb2.WatchJobRequest(job_id=job_id), timeout=60):
            job = response.job
        assert job.state == ingest_pb2.JOB_STATE_SUCCEEDED

    async def read(self, query: str) -> list[str]:
        """The texts of the hits."""
        request = pb.SearchRequest(
            collection="prices", query=query, limit=20, retrieval=retrieval(), ranking=RANKING
        )  # fmt: skip
        response = await self.search.Search(request, timeout=60)
        assert not response.degraded
        return [hit.text for hit in response.hits]


@pytest.fixture
async def shop(engine: Engine, tmp_path: Path) -> AsyncIterator[Shop]:
    stores = {
        "index_folder": engine.settings.index_folder,
        "weaviate_nodes": engine.settings.weaviate_nodes,
        "weaviate_api_key": engine.settings.weaviate_api_key,
        "catalog_url": f"sqlite:///{tmp_path / 'catalog.db'}",
    }
    async with AsyncExitStack() as stack:
        telemetry = {name: recorded_telemetry(name).telemetry for name in ("embedding", "ingest", "search")}
        embedding_settings = EmbeddingSettings(port=0, model="hashing")
        embedding = await stack.enter_async_context(
            served(
                await build_embedding(embedding_settings, telemetry["embedding"]),
                embedding_settings,
                telemetry["embedding"],
            )
        )
        ingest_settings = IngestSettings(
            port=0, embedding_target=embedding.target, blobs_url=str(tmp_path / "blobs"), **stores
        )  # fmt: skip
        ingest = await stack.enter_async_context(
            served(await build_ingest(ingest_settings, telemetry["ingest"]), ingest_settings, telemetry["ingest"])
        )
        search_settings = SearchSettings(
            port=0,
            embedding_target=embedding.target,
            ranking_target=await stack.enter_async_context(serving_real_ranking()),
            # All services share one process here: nothing is to be left out because another is at work.
            **dict.fromkeys(("embed_timeout_s", "keyword_timeout_s", "vector_timeout_s", "rank_timeout_s"), 30.0),
            catalog_timeout_s=10.0,
            **stores,
        )
        search = await stack.enter_async_context(
            served(await build_search(search_settings, telemetry["search"]), search_settings, telemetry["search"])
        )
        shop = Shop(
            IngestServiceStub(await stack.enter_async_context(channel_to(ingest.target))),
            SearchServiceStub(await stack.enter_async_context(channel_to(search.target))),
        )
        prices = ingest_pb2.Collection(name="prices", profile="docs", locale="en")
        await shop.ingest.CreateCollection(ingest_pb2.CreateCollectionRequest(collection=prices), timeout=60)
        yield shop
        await shop.ingest.DeleteCollection(ingest_pb2.DeleteCollectionRequest(name="prices"), timeout=60)


async def test_a_text_and_the_one_it_replaces_are_never_seen_together_and_never_both_missed(shop: Shop) -> None:
    await shop.publish("ticket", "The entry ticket costs 0 euros.")
    published, took_s = asyncio.Event(), []

    async def publish() -> None:
        for euros in range(1, TIMES + 1):
            text = f"The entry ticket costs {euros} euros."
            await shop.accept("ticket", text)
            accepted = time.perf_counter()
            while await shop.read("entry ticket") != [text]:
                pass
            took_s.append(time.perf_counter() - accepted)
        published.set()

    async def read() -> int:
        reads, newest = 0, 0
        while not published.is_set():
            (text,) = await shop.read("what does the entry ticket cost")
            euros = int(text.removeprefix("The entry ticket costs ").removesuffix(" euros."))
            assert euros >= newest
            newest, reads = euros, reads + 1
        return reads

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(publish())
        readers = [tasks.create_task(read()) for _ in range(2)]
    reads = sum(reader.result() for reader in readers)
    middle_s, longest_s = statistics.median(took_s), max(took_s)
    print(f"{TIMES} publications amid {reads} reads, each applied after {middle_s:.3f} s, {longest_s:.3f} s at most")
    assert reads > TIMES


def price_list(euros: int) -> str:
    return f"# Prices\n\n## Ticket\n\nA ticket costs {euros} euros.\n\n## Locker\n\nA locker is free of any cost.\n"


async def test_what_stays_of_a_document_is_seen_all_the_time_while_the_rest_is_replaced(shop: Shop) -> None:
    await shop.publish("list", price_list(0))
    assert len(await shop.read("cost")) == 2
    published = asyncio.Event()

    async def publish() -> None:
        for euros in range(1, TIMES // 2 + 1):
            await shop.publish("list", price_list(euros))
        published.set()

    async def read() -> int:
        reads = 0
        while not published.is_set():
            texts = sorted(await shop.read("what does a ticket or a locker cost"))
            assert len(texts) == 2, texts
            assert texts[0] == "A locker is free of any cost."
            reads += 1
        return reads

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(publish())
        readers = [tasks.create_task(read()) for _ in range(2)]
    assert sum(reader.result() for reader in readers) > TIMES // 2


async def test_what_a_document_no_longer_says_is_not_found(shop: Shop) -> None:
    await shop.publish("list", price_list(7) + "\n## Refunds\n\nNobody gets a refund for zebras.\n")
    assert any("zebras" in text for text in await shop.read("zebras"))
    await shop.publish("list", price_list(7))
    assert not any("zebras" in text for text in await shop.read("zebras"))
