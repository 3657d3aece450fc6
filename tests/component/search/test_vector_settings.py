"""Collections that keep fewer dimensions, in fewer bits, than their model gives."""

import json
from pathlib import Path

import grpc
import pytest

from plumbline.ingest.v1 import ingest_pb2
from plumbline.search.v1 import search_pb2 as pb
from tests.component.search.conftest import Engine
from tests.component.search.searching import RANKING, retrieval
from tests.component.search.shop import open_shop
from tests.fakes.tiny_model import write_tiny_model


def vectors(**settings: object) -> str:
    return json.dumps({"vectors": settings})


async def test_queries_and_passages_are_cut_alike(engine: Engine, tmp_path: Path) -> None:
    model = write_tiny_model(tmp_path, matryoshka_dimensions=[8, 16])
    cut = vectors(dimensions=16, precision="compact")
    async with open_shop(engine.settings, tmp_path, model=str(model), settings_json=cut) as shop:
        await shop.publish("ticket", "The entry ticket costs nine euros.")
        await shop.publish("locker", "A locker is free.")
        request = pb.SearchRequest(
            collection="prices", query="a locker is free", limit=2, mode=pb.MODE_VECTOR,
            retrieval=retrieval(), ranking=RANKING,
        )  # fmt: skip
        found = await shop.search.Search(request, timeout=60)
        assert not found.degraded
        assert [hit.document_id for hit in found.hits] == ["locker", "ticket"]
        again = await shop.ingest.BuildGeneration(ingest_pb2.BuildGenerationRequest(collection="prices"), timeout=60)
        manifest = again.generation.manifest
        assert (manifest.dimensions, manifest.precision) == (16, "compact")


async def test_dimensions_that_the_model_does_not_give_are_refused(tmp_path: Path, engine: Engine) -> None:
    async with open_shop(engine.settings, tmp_path, model="hashing") as shop:
        fewer = ingest_pb2.Collection(name="fewer", profile="docs", locale="en", settings_json=vectors(dimensions=100))
        with pytest.raises(grpc.aio.AioRpcError) as refusal:
            await shop.ingest.CreateCollection(ingest_pb2.CreateCollectionRequest(collection=fewer), timeout=60)
        assert refusal.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert refusal.value.details() == "hashing gives 384 dimensions, not 100"
