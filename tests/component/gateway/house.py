"""The gateway before five scripted services and a real catalog: everything but what the services do is real."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import httpx

from plumbline.answer.v1 import answer_pb2
from plumbline.answer.v1.answer_pb2_grpc import AnswerServiceServicer, add_AnswerServiceServicer_to_server
from plumbline.embedding.v1 import embedding_pb2
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceServicer, add_EmbeddingServiceServicer_to_server
from plumbline.ingest.v1 import ingest_pb2
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceServicer, add_IngestServiceServicer_to_server
from plumbline.ranking.v1.ranking_pb2_grpc import RankingServiceServicer, add_RankingServiceServicer_to_server
from plumbline.search.v1 import filter_pb2, search_pb2
from plumbline.search.v1.search_pb2_grpc import SearchServiceServicer, add_SearchServiceServicer_to_server
from services.gateway.server import RunningGateway
from services.gateway.settings import GatewaySettings
from services.gateway.wiring import build
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.collections import Collection
from services.shared.catalog.declaration import declare
from services.shared.catalog.documents import Put
from services.shared.catalog.manifest import Manifest
from services.shared.clients import answer, embedding, ingest, ranking, search
from services.shared.runtime.errors import PlumblineError
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import App
from services.shared.runtime.settings import RpcSettings
from tests.fakes.serving import RecordedTelemetry, recorded_telemetry, served

Context = grpc.aio.ServicerContext

HIT = search_pb2.Hit(
    rank=1,
    score=0.9,
    chunk_id="c1",
    document_id="d1",
    title="Solar cells",
    uri="https://example.org/d1",
    heading_path=["Methods", "Cells"],
    pages=[3, 4],
    text="Perovskite cells …",
    metadata={"department": filter_pb2.Value(text="physics"), "year": filter_pb2.Value(integer=2021)},
    locale="en",
    date="2021-03",
)
PAGE = search_pb2.SearchResponse(
    generation=search_pb2.Generation(id="g1", revision=7),
    degraded=["ranking"],
    hits=[HIT],
    next="cursor-2",
    window=12,
    timings=search_pb2.SearchTimings(embed_ms=1, keyword_ms=2, vector_ms=3, fuse_ms=4, rank_ms=5, total_ms=6),
)
SOURCE = answer_pb2.Source(
    number=1, document_id="d1", chunk_ids=["c1", "c2"], title="Leave", heading_path=["Time"], text="TOIL is time off."
)
DONE = answer_pb2.Done(
    finish_reason=answer_pb2.FINISH_REASON_STOP,
    confidence=0.8,
    calibration="uncalibrated",
    generator="extractive",
    generation=search_pb2.Generation(id="g1", revision=7),
    timings=answer_pb2.AnswerTimings(search_ms=1, first_token_ms=2, generate_ms=3, total_ms=4),
)


def event(mode: int = answer_pb2.MODE_DOCUMENTS, **kind: Any) -> answer_pb2.AnswerResponse:
    """One event of an answer."""
    return answer_pb2.AnswerResponse(mode=mode, **kind)


ANSWER = (
    event(sources=answer_pb2.Sources(sources=[SOURCE], generation=search_pb2.Generation(id="g1", revision=7))),
    event(delta=answer_pb2.Delta(text="TOIL is time off ")),
    event(delta=answer_pb2.Delta(text="[Source 1].")),
    event(citation=answer_pb2.Citation(source=1, start=0, end=27, support=0.9, supported=True)),
    event(done=DONE),
)


@dataclass
class Scripted:
    """What a scripted service does next, and what it was asked."""

    error: PlumblineError | None = None
    requests: list[Any] = field(default_factory=list)
    metadata: list[dict[str, Any]] = field(default_factory=list)
    seconds_left: list[float] = field(default_factory=list)

    def note(self, request: Any, context: Context) -> None:
        """Keep the request; fail when the script says so."""
        self.requests.append(request)
        self.metadata.append(dict(context.invocation_metadata() or ()))
        self.seconds_left.append(context.time_remaining())
        if self.error is not None:
            raise self.error


class ScriptedSearch(SearchServiceServicer):
    """One page, and the chunks of one document."""

    def __init__(self) -> None:
        self.script = Scripted()
        self.page = PAGE
        self.chunks = [search_pb2.Chunk(chunk_id="c1", heading_path=["A"], text="one", tokens=1, pages=[2])]

    async def Search(self, request: search_pb2.SearchRequest, context: Context) -> search_pb2.SearchResponse:
        self.script.note(request, context)
        return self.page

    async def ListChunks(
        self, request: search_pb2.ListChunksRequest, context: Context
    ) -> search_pb2.ListChunksResponse:
        self.script.note(request, context)
        return search_pb2.ListChunksResponse(chunks=self.chunks)


class ScriptedAnswer(AnswerServiceServicer):
    """Streams `events`; `silence` holds the stream before its end, `ended` tells that the call is over."""

    def __init__(self) -> None:
        self.script = Scripted()
        self.events: Iterable[answer_pb2.AnswerResponse] = ANSWER
        self.error_after: Exception | None = None
        self.silence: asyncio.Event | None = None
        self.begun = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def Answer(
        self, request: answer_pb2.AnswerRequest, context: Context
    ) -> AsyncIterator[answer_pb2.AnswerResponse]:
        self.script.note(request, context)
        self.begun.set()
        try:
            for one in self.events:
                yield one
            if self.silence is not None:
                await self.silence.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        if self.error_after is not None:
            raise self.error_after

    async def DescribeGenerator(
        self, request: answer_pb2.DescribeGeneratorRequest, context: Context
    ) -> answer_pb2.DescribeGeneratorResponse:
        return answer_pb2.DescribeGeneratorResponse(generator="extractive")


class ScriptedIngest(IngestServiceServicer):
    """Accepts everything; `files` holds the uploaded bytes by file name."""

    def __init__(self) -> None:
        self.script = Scripted()
        self.created = True
        self.on_create: Callable[[ingest_pb2.Collection], Awaitable[None]] | None = None
        self.refuses_after_s = 0.0
        self.files: dict[str, bytes] = {}
        self.uploaded_bytes = 0
        self.upload_ended = asyncio.Event()
        self.progress: list[ingest_pb2.Job] = []

    async def CreateCollection(
        self, request: ingest_pb2.CreateCollectionRequest, context: Context
    ) -> ingest_pb2.CreateCollectionResponse:
        self.script.note(request, context)
        if self.on_create is not None:
            await self.on_create(request.collection)
        return ingest_pb2.CreateCollectionResponse(
            collection=request.collection, generation_id=f"g-{request.collection.name}", created=self.created
        )

    async def UpdateCollection(
        self, request: ingest_pb2.UpdateCollectionRequest, context: Context
    ) -> ingest_pb2.UpdateCollectionResponse:
        self.script.note(request, context)
        return ingest_pb2.UpdateCollectionResponse()

    async def DeleteCollection(
        self, request: ingest_pb2.DeleteCollectionRequest, context: Context
    ) -> ingest_pb2.DeleteCollectionResponse:
        self.script.note(request, context)
        return ingest_pb2.DeleteCollectionResponse()

    async def PutDocuments(
        self, request: ingest_pb2.PutDocumentsRequest, context: Context
    ) -> ingest_pb2.PutDocumentsResponse:
        self.script.note(request, context)
        return ingest_pb2.PutDocumentsResponse(job_id="j1")

    async def DeleteDocuments(
        self, request: ingest_pb2.DeleteDocumentsRequest, context: Context
    ) -> ingest_pb2.DeleteDocumentsResponse:
        self.script.note(request, context)
        return ingest_pb2.DeleteDocumentsResponse(job_id="j2")

    async def BuildGeneration(
        self, request: ingest_pb2.BuildGenerationRequest, context: Context
    ) -> ingest_pb2.BuildGenerationResponse:
        self.script.note(request, context)
        return ingest_pb2.BuildGenerationResponse(generation=ingest_pb2.GenerationInfo(generation_id="g2"), job_id="j4")

    async def PromoteGeneration(
        self, request: ingest_pb2.PromoteGenerationRequest, context: Context
    ) -> ingest_pb2.PromoteGenerationResponse:
        self.script.note(request, context)
        return ingest_pb2.PromoteGenerationResponse(
            generation=ingest_pb2.GenerationInfo(generation_id=request.generation_id),
            gate=ingest_pb2.GateFigures(queries=2, serving_ndcg10=0.5, candidate_ndcg10=0.75),
        )

    async def RollBackGeneration(
        self, request: ingest_pb2.RollBackGenerationRequest, context: Context
    ) -> ingest_pb2.RollBackGenerationResponse:
        self.script.note(request, context)
        return ingest_pb2.RollBackGenerationResponse(generation=ingest_pb2.GenerationInfo(generation_id="g1"))

    async def UploadFiles(
        self, requests: AsyncIterator[ingest_pb2.UploadFilesRequest], context: Context
    ) -> ingest_pb2.UploadFilesResponse:
        name = ""
        try:
            async for request in requests:
                match request.WhichOneof("part"):
                    case "upload":
                        await asyncio.sleep(self.refuses_after_s)
                        self.script.note(request.upload, context)
                    case "file":
                        name = request.file.name
                        self.files[name] = b""
                    case "data":
                        self.uploaded_bytes += len(request.data)
                        if self.uploaded_bytes < 2_000_000:
                            self.files[name] += request.data
        finally:
            self.upload_ended.set()
        return ingest_pb2.UploadFilesResponse(job_id="j3")

    async def WatchJob(
        self, request: ingest_pb2.WatchJobRequest, context: Context
    ) -> AsyncIterator[ingest_pb2.WatchJobResponse]:
        self.script.note(request, context)
        for job in self.progress:
            yield ingest_pb2.WatchJobResponse(job=job)

    async def CancelJob(self, request: ingest_pb2.CancelJobRequest, context: Context) -> ingest_pb2.CancelJobResponse:
        self.script.note(request, context)
        return ingest_pb2.CancelJobResponse(
            job=ingest_pb2.Job(job_id=request.job_id, collection="papers", state=ingest_pb2.JOB_STATE_CANCELLED)
        )


class ScriptedEmbedding(EmbeddingServiceServicer):
    """Describes one model."""

    async def DescribeModel(
        self, request: embedding_pb2.DescribeModelRequest, context: Context
    ) -> embedding_pb2.DescribeModelResponse:
        return embedding_pb2.DescribeModelResponse(
            model=embedding_pb2.ModelIdentity(name="all-MiniLM-L6-v2", weights_sha256="ab", dimensions=384),
            max_tokens=256,
            languages=["en"],
            device="cpu",
            dtype="float32",
            kind="sentence-transformers",
        )


@dataclass
class House:
    """A running gateway and what stands behind it."""

    http: httpx.AsyncClient
    port: int
    gateway: RunningGateway
    catalog: Catalog
    catalog_path: Path
    search: ScriptedSearch
    answer: ScriptedAnswer
    ingest: ScriptedIngest
    telemetry: RecordedTelemetry
    service_telemetry: dict[str, RecordedTelemetry]
    targets: dict[str, str]
    _running: dict[str, AsyncExitStack]

    def as_new(self) -> "House":
        """The same house with every script as it was in the beginning; what the catalog holds stays."""
        for servicer in (self.search, self.answer, self.ingest):
            servicer.__init__()
        return self

    async def stop(self, service: str) -> None:
        """Take one service away."""
        await self._running.pop(service).aclose()

    async def declare(self, name: str = "papers", **parts: Any) -> Collection:
        """A collection with an empty generation, as ingest would make it."""
        declared = {"profile": "paper", "locale": "en", "fields": {"department": "keyword", "year": "integer"}}
        return await self.catalog.collections.create(
            declare(name, **{**declared, "settings": {}, **parts}),
            generation_id=f"g-{name}",
            manifest=Manifest("all-MiniLM-L6-v2", "ab", 384, "paper", 600, 100, 100, "1"),
            now=1_700_000_000.0,
        )

    async def accept(self, *ids: str, job_id: str = "j1") -> None:
        """Documents as ingest would accept them."""
        puts = [
            Put(
                id=one,
                title=f"Title of {one}",
                uri=None,
                locale="en",
                date="2021",
                metadata={"year": 2021},
                media_type="text/plain",
                blob="00",
                content_digest="00",
            )
            for one in ids
        ]
        await self.catalog.jobs.accept("papers", puts, job_id=job_id, now=1_700_000_000.0)


@asynccontextmanager
async def open_house(folder: Path, **settings: Any) -> AsyncIterator[House]:
    """All of it, with a collection `papers` that declares `department` and `year`."""
    searcher, answerer, ingester = ScriptedSearch(), ScriptedAnswer(), ScriptedIngest()
    services = {
        "search": (add_SearchServiceServicer_to_server, searcher, search.SERVICE),
        "answer": (add_AnswerServiceServicer_to_server, answerer, answer.SERVICE),
        "ingest": (add_IngestServiceServicer_to_server, ingester, ingest.SERVICE),
        "embedding": (add_EmbeddingServiceServicer_to_server, ScriptedEmbedding(), embedding.SERVICE),
        "ranking": (add_RankingServiceServicer_to_server, RankingServiceServicer(), ranking.SERVICE),
    }
    running: dict[str, AsyncExitStack] = {}
    targets: dict[str, str] = {}
    telemetries = {name: recorded_telemetry(name) for name in (*services, "gateway")}
    catalog_path = folder / "catalog.db"
    async with AsyncExitStack() as stack:
        for name, (add, servicer, descriptor) in services.items():
            telemetry = telemetries[name].telemetry
            app = App(
                register=lambda server, add=add, servicer=servicer: add(servicer, server),
                services=[descriptor],
                metrics=RpcMetrics(name, telemetry.registry),
            )
            running[name] = await stack.enter_async_context(AsyncExitStack())
            one = await running[name].enter_async_context(served(app, RpcSettings(port=0, grace_s=0), telemetry))
            targets[f"{name}_target"] = one.target
        catalog = await Catalog.open(f"sqlite:///{catalog_path}")
        stack.push_async_callback(catalog.close)
        knobs = {"grace_s": 0, "status_timeout_s": 0.5, "catalog_timeout_s": 1, **settings}
        gateway_settings = GatewaySettings(port=0, catalog_url=f"sqlite:///{catalog_path}", **targets, **knobs)
        telemetry = telemetries["gateway"].telemetry
        gateway = RunningGateway(gateway_settings, await build(gateway_settings, telemetry), telemetry)
        await gateway.start()
        stack.push_async_callback(gateway.stop)
        await gateway.become_ready()
        http = await stack.enter_async_context(
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{gateway.port}", timeout=20)
        )
        house = House(
            http=http,
            port=gateway.port,
            gateway=gateway,
            catalog=catalog,
            catalog_path=catalog_path,
            search=searcher,
            answer=answerer,
            ingest=ingester,
            telemetry=telemetries["gateway"],
            service_telemetry=telemetries,
            targets=targets,
            _running=running,
        )
        await house.declare()
        yield house


def read_events(body: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of an SSE body, comments left out."""
    events = []
    for block in body.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            events.append((fields["event"], json.loads(fields["data"])))
    return events


def assert_problem(response: httpx.Response, status: int, *, field: str | None = None) -> dict[str, Any]:
    """Check what holds for every problem document; returns it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["type"].startswith("urn:plumbline:problem:")
    assert problem["title"] and problem["detail"]
    assert problem["request_id"] == response.headers["x-request-id"]
    assert problem.get("field") == field, problem
    for inside in ("Traceback", "grpc", "127.0.0.1", "sqlite", "pydantic", ".py"):
        assert inside not in response.text
    return problem
