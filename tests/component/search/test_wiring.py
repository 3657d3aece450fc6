"""Search as `build` makes it, over a real index folder and a real catalog."""

from contextlib import AsyncExitStack
from pathlib import Path

import grpc
import pytest

from plumbline.search.v1.search_pb2_grpc import SearchServiceStub
from services.search.settings import SearchSettings
from services.search.wiring import build
from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.declaration import declare
from services.shared.catalog.manifest import Manifest
from services.shared.catalog.term_statistics import DocumentTerms
from services.shared.index.lance_index import LanceIndex
from tests.component.search.searching import (
    COLLECTION,
    FIELDS,
    MODEL,
    PATIENT,
    VECTORS,
    WEIGHTS,
    a_chunk,
    a_request,
    documents,
    id_of,
    only,
    refusal,
    retrieval,
    serving_real_ranking,
)
from tests.contract.catalog.examples import a_page
from tests.fakes.query_embedding import QueryEmbedding, embeds, serving_query_embedding
from tests.fakes.serving import channel_to, recorded_telemetry, served

MANIFEST = Manifest(
    model=MODEL,
    weights_sha256=WEIGHTS,
    dimensions=4,
    profile="docs",
    chunk_target=400,
    chunk_overlap=50,
    chunk_minimum=100,
    analyzer_version="1",
)


async def test_a_real_index_and_catalog_are_searched(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    catalog, index = await Catalog.open(url), await LanceIndex.open(tmp_path / "index")
    fields = {name: str(declared) for name, declared in FIELDS.items()}
    declaration = declare("c", profile="docs", locale="en", fields=fields, settings={})
    await catalog.collections.create(declaration, generation_id="g1", manifest=MANIFEST, now=0.0)
    await catalog.jobs.accept("c", [a_page()], job_id="job", now=0.0)
    (page,) = await catalog.work.claim(owner="w", now=0.0, lease_s=60.0)
    await catalog.work.commit_applied(page, chunk_ids={"g1": ["c"]}, outcome=Outcome.EMBEDDED, now=0.0)
    await catalog.builds.start("c", generation_id="g2", manifest=MANIFEST, job_id="build", now=1.0)
    for generation_id in ("g1", "g2"):
        await index.create_generation(generation_id, 4, FIELDS)
    await index.upsert("g1", COLLECTION)
    await index.upsert("g2", [a_chunk("new", "Solar cells, improved.", [1, 0, 0, 0])])

    async with AsyncExitStack() as stack:
        embedding = await stack.enter_async_context(
            serving_query_embedding(QueryEmbedding(embeds(VECTORS, weights_sha256=WEIGHTS)))
        )
        settings = SearchSettings(
            port=0,
            embedding_target=embedding.target,
            ranking_target=await stack.enter_async_context(serving_real_ranking()),
            catalog_url=url,
            index_folder=str(tmp_path / "index"),
            **PATIENT,
        )
        telemetry = recorded_telemetry("search").telemetry
        running = await stack.enter_async_context(served(await build(settings, telemetry), settings, telemetry))
        stub = SearchServiceStub(await stack.enter_async_context(channel_to(running.target)))

        whole = await stub.Search(a_request("turbine"), timeout=10)
        assert documents(whole)[:2] == ["wind", "solar"]
        assert (len(whole.hits), list(whole.degraded), whole.generation.id) == (4, [], "g1")
        assert whole.hits[1].metadata["year"].integer == 2021

        first = await stub.Search(a_request("turbine", limit=1), timeout=10)
        second = await stub.Search(a_request("turbine", limit=3, cursor=first.next), timeout=10)
        assert [hit.chunk_id for hit in (*first.hits, *second.hits)] == [hit.chunk_id for hit in whole.hits]

        filtered = await stub.Search(a_request(filter=only("kind", "recipe")), timeout=10)
        assert documents(filtered) == ["bread"]
        like = await stub.Search(a_request("", like_document_id="solar"), timeout=10)
        assert documents(like)[0] == "wind"
        collapsed = await stub.Search(a_request(retrieval=retrieval(collapse_by_document=True)), timeout=10)
        assert collapsed.hits[0].chunk_id == id_of("solar")

        # Half-built generations are never served; ready ones to those who name them.
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.Search(a_request(generation_id="g2"), timeout=10)
        assert refusal(error.value) == (grpc.StatusCode.NOT_FOUND, "generation_id")
        (last,) = await catalog.builds.claim(owner="b", now=2.0, lease_s=60.0, limit=9)
        await catalog.builds.commit(last, chunk_ids=["c"], terms=DocumentTerms(), outcome=Outcome.EMBEDDED, now=2.0)
        ready = await stub.Search(a_request(generation_id="g2"), timeout=10)
        assert (documents(ready), ready.generation.id) == (["new"], "g2")
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.Search(a_request(collection="other"), timeout=10)
        assert refusal(error.value) == (grpc.StatusCode.NOT_FOUND, "collection")
    await catalog.close()
    await index.close()


async def test_an_address_that_no_catalog_can_have_refuses_to_start(tmp_path: Path) -> None:
    settings = SearchSettings(
        port=0,
        embedding_target="127.0.0.1:1",
        ranking_target="127.0.0.1:1",
        catalog_url="mysql://nowhere",
        index_folder=str(tmp_path / "index"),
    )
    app = await build(settings, recorded_telemetry("search").telemetry)
    with pytest.raises(SystemExit, match="refusing to start: catalog_url"):
        await app.become_ready()
    for closable in app.closables:
        await closable.close()
