"""Embedding, ingest and search over one index and one catalog, with a collection `prices` that is written and read."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from services.shared.index.settings import IndexSettings
from tests.component.search.searching import PATIENT, RANKING, retrieval, serving_real_ranking
from tests.fakes.serving import channel_to, recorded_telemetry, served


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


@asynccontextmanager
async def open_shop(
    index: IndexSettings, folder: Path, *, settings_json: str = "", **embedding_knobs: Any
) -> AsyncIterator[Shop]:
    """The shop over this index, with its catalog and originals in `folder`; the collection is deleted at the end."""
    stores = {
        "index_folder": index.index_folder,
        "weaviate_nodes": index.weaviate_nodes,
        "weaviate_api_key": index.weaviate_api_key,
        "catalog_url": f"sqlite:///{folder / 'catalog.db'}",
    }
    async with AsyncExitStack() as stack:
        telemetry = {name: recorded_telemetry(name).telemetry for name in ("embedding", "ingest", "search")}
        embedding_settings = EmbeddingSettings(port=0, **embedding_knobs)
        embedding = await stack.enter_async_context(
            served(
                await build_embedding(embedding_settings, telemetry["embedding"]),
                embedding_settings,
                telemetry["embedding"],
            )
        )
        ingest_settings = IngestSettings(
            port=0, embedding_target=embedding.target, blobs_url=str(folder / "blobs"), **stores
        )  # fmt: skip
        ingest = await stack.enter_async_context(
            served(await build_ingest(ingest_settings, telemetry["ingest"]), ingest_settings, telemetry["ingest"])
        )
        search_settings = SearchSettings(
            port=0,
            embedding_target=embedding.target,
            ranking_target=await stack.enter_async_context(serving_real_ranking()),
            **PATIENT,
            **stores,
        )
        search = await stack.enter_async_context(
            served(await build_search(search_settings, telemetry["search"]), search_settings, telemetry["search"])
        )
        shop = Shop(
            IngestServiceStub(await stack.enter_async_context(channel_to(ingest.target))),
            SearchServiceStub(await stack.enter_async_context(channel_to(search.target))),
        )
        prices = ingest_pb2.Collection(name="prices", profile="docs", locale="en", settings_json=settings_json)
        await shop.ingest.CreateCollection(ingest_pb2.CreateCollectionRequest(collection=prices), timeout=60)
        yield shop
        await shop.ingest.DeleteCollection(ingest_pb2.DeleteCollectionRequest(name="prices"), timeout=60)
