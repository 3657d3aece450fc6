"""Several models in one service: encoders that come and go, a cross-encoder, an endpoint, vectors that are cut."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder

from plumbline.embedding.v1 import embedding_pb2 as pb
from services.shared.runtime.metadata import error_from_rpc
from tests.component.embedding.house import House, house, refused, rows
from tests.fakes.embeddings_endpoint import embeddings_endpoint
from tests.fakes.tiny_model import write_tiny_cross_encoder, write_tiny_model


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three small models with weights of their own."""
    folder = tmp_path_factory.mktemp("models")
    for seed, name in enumerate(("first", "second", "third")):
        write_tiny_model(folder, seed=seed, name=name, matryoshka_dimensions=[8, 16, 32])
    return folder


def two_models(models: Path) -> Any:
    return house(model="first", second_model="second", models=models, dtype="float32", threads=1)


async def test_each_call_names_its_model_and_an_unnamed_one_means_the_first(models: Path) -> None:
    async with two_models(models) as here:
        unnamed, first, second = [await here.embed("time off", model=name) for name in ("", "first", "second")]
        described = await here.stub.DescribeModel(pb.DescribeModelRequest(model="second"), timeout=5)
    assert rows(unnamed) == pytest.approx(rows(first))
    assert np.abs(rows(first) - rows(second)).max() > 0.01
    assert [reply.model.name for reply in (unnamed, second)] == ["first", "second"]
    assert first.model.weights_sha256 != second.model.weights_sha256 == described.model.weights_sha256
    assert list(described.loaded) == ["first", "second"]


async def test_one_model_is_dropped_and_another_takes_its_place_without_an_error_for_the_one_that_stays(
    models: Path,
) -> None:
    async with two_models(models) as here:
        expected = rows(await here.embed("the query", model="second"))
        stop, replies = asyncio.Event(), 0

        async def ask() -> None:
            nonlocal replies
            while not stop.is_set():
                # A fresh text beside the known one, so that no reply comes from the cache alone.
                reply = await here.embed("the query", f"call {replies}", model="second")
                assert rows(reply)[0] == pytest.approx(expected[0], abs=1e-6)
                replies += 1

        callers = [asyncio.ensure_future(ask()) for _ in range(4)]
        dropped = await here.stub.DropModel(pb.DropModelRequest(model="first"), timeout=30)
        gone = await refused(here.embed("a", model="first"))
        loaded = await here.stub.LoadModel(pb.LoadModelRequest(model="third"), timeout=60)
        third = await here.embed("a", model="third")
        before = replies
        while replies < before + 20:
            await asyncio.sleep(0.005)
        stop.set()
        await asyncio.gather(*callers)
        assert here.sample("rpc_requests_total", method="Embed", code="INTERNAL") == 0
    assert list(dropped.loaded) == ["second"]
    assert gone.code() is grpc.StatusCode.NOT_FOUND
    assert list(loaded.loaded) == ["second", "third"]
    assert third.model.weights_sha256 == loaded.model.weights_sha256


@pytest.mark.parametrize(
    ("name", "sha256", "code"),
    [
        ("../first", "", grpc.StatusCode.INVALID_ARGUMENT),
        ("some-lab/some-model", "", grpc.StatusCode.INVALID_ARGUMENT),
        ("", "", grpc.StatusCode.INVALID_ARGUMENT),
        ("third", "not a hash", grpc.StatusCode.INVALID_ARGUMENT),
        ("third", "0" * 64, grpc.StatusCode.FAILED_PRECONDITION),
        ("not-there", "", grpc.StatusCode.FAILED_PRECONDITION),
    ],
)
async def test_a_model_that_must_not_or_cannot_be_loaded_is_refused_and_the_others_stay(
    models: Path, name: str, sha256: str, code: grpc.StatusCode
) -> None:
    async with house(models=models) as here:
        request = pb.LoadModelRequest(model=name, weights_sha256=sha256)
        error = await refused(here.stub.LoadModel(request, timeout=60))
        assert error.code() is code
        assert (await here.embed("a")).model.name == "hashing"


async def test_a_vector_is_cut_to_what_its_model_allows_and_has_unit_length_again(models: Path) -> None:
    async with two_models(models) as here:
        whole = await here.embed("time off")
        cut = await here.embed("time off", dimensions=8)
        described = await here.stub.DescribeModel(pb.DescribeModelRequest(), timeout=5)
        error = await refused(here.embed("time off", dimensions=9))
    assert list(described.shorter_dimensions) == [8, 16]
    assert (cut.vectors.dimensions, cut.model.dimensions) == (8, 8)
    first = rows(whole)[:, :8]
    assert rows(cut) == pytest.approx(first / np.linalg.norm(first), abs=1e-6)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "8 or 16 or 32" in str(error.details())


async def score(here: House, *pairs: tuple[str, str], **fields: Any) -> Any:
    sent = [pb.ScorePair(query=query, passage=passage) for query, passage in pairs]
    return await here.stub.Score(pb.ScoreRequest(pairs=sent, **fields), timeout=30)


@pytest.fixture(scope="module")
def pairs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_cross_encoder(tmp_path_factory.mktemp("pairs"))


async def test_pairs_are_scored_as_the_library_scores_them_and_long_passages_by_their_best_window(
    pairs_folder: Path,
) -> None:
    pairs = [("time off", "a day in lieu"), ("q", "abc " * 60), ("time off", "x")]
    async with house(cross_encoder=str(pairs_folder), dtype="float32", threads=1) as here:
        reply = await score(here, *pairs)
        named = await score(here, pairs[0], model="tiny-pairs")
        assert here.sample("pairs_total") == 4
    library = CrossEncoder(str(pairs_folder), device="cpu", local_files_only=True)
    theirs = library.predict([pairs[0], pairs[2]], activation_fn=torch.nn.Identity())
    assert [reply.scores[0], reply.scores[2]] == pytest.approx(theirs.tolist(), abs=1e-5)
    assert named.scores[0] == pytest.approx(reply.scores[0], abs=1e-5)
    assert reply.windows[0] == reply.windows[2] == 1 < reply.windows[1]
    assert (reply.model.name, len(reply.model.weights_sha256), reply.model.dimensions) == ("tiny-pairs", 64, 0)
    assert reply.timings.forward_ms > 0


@pytest.mark.parametrize(
    ("pair", "field"),
    [
        (("", "passage"), "pairs[1].query"),
        (("query", " \n"), "pairs[1].passage"),
        (("q " * 40, "passage"), "pairs[1]"),
    ],
)
async def test_a_pair_that_cannot_be_scored_is_refused_by_its_index(
    pairs_folder: Path, pair: tuple[str, str], field: str
) -> None:
    async with house(cross_encoder=str(pairs_folder), dtype="float32", threads=1) as here:
        error = await refused(score(here, ("a", "b"), pair))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error_from_rpc(error, peer="embedding").field == field


async def test_a_cross_encoder_of_another_name_is_not_found(pairs_folder: Path) -> None:
    async with house(cross_encoder=str(pairs_folder), dtype="float32", threads=1) as here:
        error = await refused(score(here, ("a", "b"), model="other"))
    assert error.code() is grpc.StatusCode.NOT_FOUND


async def test_vectors_of_1536_dimensions_come_from_an_endpoint_and_a_long_text_in_windows() -> None:
    with embeddings_endpoint(1536) as endpoint:
        knobs = {"openai_url": endpoint.url, "openai_max_tokens": 16, "openai_api_key": "the-key"}
        async with house(model="openai:text-embedding-3-small", **knobs) as here:
            reply = await here.embed("time off", "word " * 30, purpose=pb.PURPOSE_PASSAGE)
            described = await here.stub.DescribeModel(pb.DescribeModelRequest(), timeout=5)
    expected = np.array(endpoint.vector("time off"))
    assert reply.vectors.dimensions == 1536
    assert rows(reply)[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert [len(text.windows) for text in reply.texts] == [1, 3]
    assert (reply.model.name, described.kind) == ("text-embedding-3-small", "openai")
    assert set(endpoint.keys) == {"Bearer the-key"}


async def test_a_rate_limit_of_the_endpoint_reaches_the_caller_with_its_hint_and_costs_one_request() -> None:
    with embeddings_endpoint(1536) as endpoint:
        async with house(model="openai:some-model", openai_url=endpoint.url) as here:
            asked = len(endpoint.requests)
            endpoint.refusals = [(429, {"retry-after": "7"})]
            error = await refused(here.embed("a", "b", "c", purpose=pb.PURPOSE_PASSAGE))
            assert len(endpoint.requests) == asked + 1
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert error_from_rpc(error, peer="embedding").retry_after_s == pytest.approx(7, abs=0.5)


async def test_a_slow_endpoint_does_not_hold_up_the_model_on_the_device() -> None:
    with embeddings_endpoint(1536) as endpoint:
        async with house(second_model="openai:some-model", openai_url=endpoint.url) as here:
            endpoint.held.clear()
            remote = asyncio.ensure_future(here.embed("a", model="some-model"))
            while not endpoint.waiting:
                await asyncio.sleep(0.005)
            assert (await here.embed("a", model="hashing")).vectors.rows == 1
            assert not remote.done()
            endpoint.held.set()
            assert (await remote).vectors.dimensions == 1536
