"""The embedding service behind a real gRPC server: statuses, bounds, lanes, loading, drain."""

import asyncio
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tokenizers import Tokenizer

from plumbline.embedding.v1 import embedding_pb2 as pb
from plumbline.embedding.v1 import vectors_pb2
from plumbline.embedding.v1.embedding_pb2_grpc import EmbeddingServiceStub
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.loaded_models import ModelSource
from services.embedding.wiring import assemble, build
from services.local.weights import known_models
from services.shared.clients.embedding import EmbeddingClient
from services.shared.runtime.metadata import error_from_rpc
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.server import RunningServer
from tests.component.embedding.house import (
    House,
    cost,
    held_house,
    house,
    refused,
    rows,
    settings_with,
    waiting_tokens,
)
from tests.fakes.encoder import FakeEncoder
from tests.fakes.serving import channel_to, recorded_telemetry, served
from tests.fakes.weights import MINILM, needs_weights

REPOSITORY = Path(__file__).parents[3]


async def test_each_text_gets_its_vectors_tokens_and_windows_and_the_reply_names_the_weights() -> None:
    long = " ".join(f"w{number}" for number in range(300))
    async with house() as here:
        reply = await here.embed("time off", long, "lieu", purpose=pb.PURPOSE_PASSAGE)
    assert [(text.first_row, len(text.windows), text.tokens) for text in reply.texts] == [
        (0, 1, 2),
        (1, 2, 300),
        (3, 1, 1),
    ]
    assert (reply.texts[1].windows[0].start, reply.texts[1].windows[1].end) == (0, len(long))
    assert np.linalg.norm(rows(reply), axis=1) == pytest.approx(np.ones(4), abs=1e-6)
    assert (reply.model.name, reply.model.dimensions, len(reply.model.weights_sha256)) == ("hashing", 384, 64)
    assert reply.timings.tokenize_ms > 0 and reply.timings.forward_ms > 0


async def test_one_text_and_a_list_agree_in_any_order() -> None:
    texts = ["hello world " * 400, "a", "technical debt", "a"]
    async with house() as here:
        together = await here.embed(*texts, purpose=pb.PURPOSE_PASSAGE)
        alone = [await here.embed(text, purpose=pb.PURPOSE_PASSAGE) for text in texts]
    assert rows(together) == pytest.approx(np.concatenate([rows(reply) for reply in alone]), abs=1e-6)


async def test_truncation_is_done_only_when_asked_for_and_then_flagged() -> None:
    async with house() as here:
        reply = await here.embed("word " * 300, "short", truncate=True)
    assert [(len(text.windows), text.truncated) for text in reply.texts] == [(1, True), (1, False)]


async def test_half_precision_comes_on_request() -> None:
    async with house() as here:
        full = await here.embed("time off in lieu")
        half = await here.embed("time off in lieu", dtype=vectors_pb2.VECTOR_DTYPE_FLOAT16)
    assert len(half.vectors.data) * 2 == len(full.vectors.data)
    assert rows(half) == pytest.approx(rows(full), abs=1e-3)


@pytest.mark.parametrize("bad", ["", "\n\n", "   ", "\x00", "\u200b"])
@pytest.mark.parametrize("purpose", [pb.PURPOSE_QUERY, pb.PURPOSE_PASSAGE])
async def test_a_text_that_nobody_can_read_is_refused_by_its_index(bad: str, purpose: Any) -> None:
    async with house() as here:
        error = await refused(here.embed("good", bad, "good", purpose=purpose))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error_from_rpc(error, peer="embedding").field == "texts[1]"


async def test_a_text_without_a_token_is_refused_by_its_index_also_behind_a_cached_one() -> None:
    async with house(FakeEncoder(without_tokens="unreadable")) as here:
        await here.embed("cached")
        error = await refused(here.embed("cached", "fresh", "unreadable"))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error_from_rpc(error, peer="embedding").field == "texts[2]"


@pytest.mark.parametrize("text", ["x" * 67_337, "lorem " * 150_000, "😀", "مرحبا \u202b בעולם", "e\u0301\u0327" * 50])
async def test_odd_texts_are_answered_whole(text: str) -> None:
    async with house() as here:
        reply = await here.embed(text, purpose=pb.PURPOSE_PASSAGE)
    windows = reply.texts[0].windows
    assert (windows[0].start, windows[-1].end) == (0, len(text))
    assert all(later.start <= earlier.end for earlier, later in itertools.pairwise(windows))


async def test_ten_thousand_texts_reach_our_client_in_order() -> None:
    texts = [f"text {number % 100}" for number in range(10_000)]
    async with house() as here:
        caller = recorded_telemetry("search")
        client = EmbeddingClient(here.served.target, caller.telemetry, RpcMetrics("search", caller.telemetry.registry))
        reply = await client.embed(pb.EmbedRequest(texts=texts, purpose=pb.PURPOSE_PASSAGE), timeout_s=60)
        await client.close()
        expected = await here.embed(*texts[:100], purpose=pb.PURPOSE_PASSAGE)
    assert rows(reply) == pytest.approx(np.tile(rows(expected), (100, 1)), abs=1e-6)


async def test_short_texts_are_not_padded_to_the_one_of_maximum_length_beside_them() -> None:
    encoder = FakeEncoder()
    async with house(encoder, ingest_batch_tokens=1024) as here:
        costs: list[tuple[int, int]] = []

        def counted(windows: Sequence[Sequence[Any]]) -> Matrix:
            costs.append((len(windows), len(windows) * max(map(len, windows))))
            return encoder.hashed(windows)

        encoder.compute = counted
        texts = [*(f"text {number}" for number in range(63)), "word " * 256]
        together = await here.embed(*texts, purpose=pb.PURPOSE_PASSAGE)
        alone = [await here.embed(text, purpose=pb.PURPOSE_PASSAGE) for text in texts]
    assert all(windows == 1 or padded <= 1024 for windows, padded in costs)
    assert rows(together) == pytest.approx(np.concatenate([rows(reply) for reply in alone]), abs=1e-6)


async def test_a_text_with_a_lone_surrogate_which_no_utf_8_can_hold_is_refused() -> None:
    good = pb.EmbedRequest(texts=["good"], purpose=pb.PURPOSE_QUERY).SerializeToString()
    surrogate = b"\x1a\x03\xed\xa0\x80"  # field 3, three bytes: U+D800 as a careless writer would encode it
    async with house() as here, channel_to(here.served.target) as channel:
        call = channel.unary_unary("/plumbline.embedding.v1.EmbeddingService/Embed", request_serializer=bytes)
        error = await refused(call(good + surrogate, timeout=5))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_too_many_texts_are_refused_with_the_limit() -> None:
    async with house() as here:
        error = await refused(here.embed(*["a"] * 10_000))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "2048" in str(error.details())


async def test_a_reply_beyond_the_message_limit_is_refused_before_the_device_and_says_how_to_split() -> None:
    encoder = FakeEncoder(dimensions=1_000_000)  # 7 vectors of that size fit in a reply
    encoder.compute = lambda windows: np.ones((len(windows), 1_000_000), dtype=np.float32)
    async with house(encoder) as here:
        error = await refused(here.embed(*(f"text {number}" for number in range(8)), purpose=pb.PURPOSE_PASSAGE))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "in 2 or more calls" in str(error.details())
    assert encoder.batches == []


async def test_a_reply_beyond_grpcs_default_limit_is_split_by_our_client() -> None:
    encoder = FakeEncoder(dimensions=768)
    encoder.compute = lambda windows: np.ones((len(windows), 768), dtype=np.float32)
    async with house(encoder) as here:
        caller = recorded_telemetry("search")
        client = EmbeddingClient(here.served.target, caller.telemetry, RpcMetrics("search", caller.telemetry.registry))
        request = pb.EmbedRequest(texts=[f"t{number}" for number in range(1366)], purpose=pb.PURPOSE_PASSAGE)
        reply = await client.embed(request, timeout_s=30)
        await client.close()
        assert here.sample("rpc_requests_total", method="Embed", code="OK") == 2
    assert reply.vectors.rows == 1366 and len(reply.vectors.data) > 4 * 2**20
    assert [text.first_row for text in reply.texts] == list(range(1366))


async def test_a_model_that_is_not_loaded_is_not_found_and_the_loaded_ones_are_named() -> None:
    async with house() as here:
        error = await refused(here.embed("a", model="other"))
        await here.embed("a", model="hashing")
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert "hashing" in str(error.details())


async def test_without_a_cross_encoder_pair_scores_are_not_found() -> None:
    async with house() as here:
        request = pb.ScoreRequest(pairs=[pb.ScorePair(query="q", passage="p")])
        error = await refused(here.stub.Score(request, timeout=5))
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert "cross-encoder" in str(error.details())


async def test_the_facts_of_the_model_are_told_and_its_tokenizer_on_request() -> None:
    async with house() as here:
        facts = await here.stub.DescribeModel(pb.DescribeModelRequest(), timeout=5)
        whole = await here.stub.DescribeModel(pb.DescribeModelRequest(model="hashing", with_tokenizer=True), timeout=5)
        embedded = await here.embed("a b, c")
    assert (facts.kind, facts.device, facts.dtype, facts.max_tokens) == ("hashing", "cpu", "float32", 256)
    assert (list(facts.loaded), facts.tokenizer_json) == (["hashing"], b"")
    tokenizer = Tokenizer.from_str(whole.tokenizer_json.decode())
    assert len(tokenizer.encode("a b, c").ids) == embedded.texts[0].tokens == 4


async def test_the_same_query_again_costs_no_device_time() -> None:
    encoder = FakeEncoder()
    async with house(encoder) as here:
        first, again = await here.embed("same", "other"), await here.embed("other", "same")
        assert encoder.batches == [2]
        assert rows(first) == pytest.approx(rows(again)[::-1])
        assert again.timings.forward_ms == 0
        assert (
            here.sample("cache_lookups_total", outcome="hit"),
            here.sample("cache_lookups_total", outcome="miss"),
        ) == (2, 2)


async def test_passages_are_not_cached() -> None:
    encoder = FakeEncoder()
    async with house(encoder) as here:
        await here.embed("same", purpose=pb.PURPOSE_PASSAGE)
        await here.embed("same", purpose=pb.PURPOSE_PASSAGE)
    assert encoder.batches == [1, 1]


async def test_queries_that_come_while_the_device_works_share_one_batch() -> None:
    async with held_house() as (here, held):
        calls = [asyncio.ensure_future(here.embed("first"))]
        await held.started.get()
        calls += [asyncio.ensure_future(here.embed(f"q{number}")) for number in range(10, 30)]
        while (here.sample("queue_tokens", lane="query") or 0) < 20 * cost("q10"):
            await asyncio.sleep(0.005)
        held.release()
        assert await held.started.get() == 20
        await asyncio.gather(*calls)


async def test_a_query_goes_before_passages_that_wait_already() -> None:
    async with held_house(ingest_batch_tokens=16) as (here, held):
        passages = asyncio.ensure_future(here.embed(*(f"passage {n}" for n in range(5)), purpose=pb.PURPOSE_PASSAGE))
        assert await held.started.get() == 1
        query = asyncio.ensure_future(here.embed("the query"))
        await waiting_tokens(here, "query")
        held.release()
        done, _ = await asyncio.wait([query, passages], return_when=asyncio.FIRST_COMPLETED)
        assert query in done
        await passages


async def test_a_full_lane_is_refused_at_once_with_a_time_to_come_back() -> None:
    async with held_house(query_queue_tokens=cost("this one waits for its turn")) as (here, held):
        calls = [asyncio.ensure_future(here.embed("on the device"))]
        await held.started.get()
        calls.append(asyncio.ensure_future(here.embed("this one waits for its turn")))
        await waiting_tokens(here, "query")
        error = await refused(here.embed("one too many"))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (error_from_rpc(error, peer="embedding").retry_after_s or 0) > 0
        assert here.sample("lane_refusals_total", lane="query") == 1
        held.release()
        await asyncio.gather(*calls)


async def test_a_call_that_gives_up_in_the_queue_leaves_no_work_behind() -> None:
    async with held_house() as (here, held):
        first = asyncio.ensure_future(here.embed("on the device"))
        await held.started.get()
        gone = asyncio.ensure_future(here.embed("gone"))
        await waiting_tokens(here, "query")
        gone.cancel()
        while here.sample("rpc_requests_total", method="Embed", code="CANCELLED") != 1:
            await asyncio.sleep(0.005)
        held.release()
        await first
        await here.embed("after")
        assert here.sample("dropped_items_total", lane="query", reason="cancelled") == 1
        assert here.sample("queue_tokens", lane="query") == 0


async def test_a_deadline_that_passes_in_the_queue_is_deadline_exceeded_and_leaves_no_work_behind() -> None:
    async with held_house() as (here, held):
        first = asyncio.ensure_future(here.embed("on the device"))
        await held.started.get()
        error = await refused(here.embed("late", timeout=0.2))
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        while here.sample("rpc_in_flight", method="Embed") != 1:
            await asyncio.sleep(0.005)
        held.release()
        await first
        await here.embed("after")
        dropped = [
            here.sample("dropped_items_total", lane="query", reason=reason) for reason in ("cancelled", "expired")
        ]
        assert sorted(value or 0 for value in dropped) == [0, 1]


async def test_a_failing_device_is_internal_with_nothing_leaked_and_the_next_call_is_served() -> None:
    encoder = FakeEncoder()
    async with house(encoder) as here:

        def broken(windows: Sequence[Sequence[int]]) -> Matrix:
            raise RuntimeError("CUDA error: secret detail")

        encoder.compute = broken
        error = await refused(here.embed("fails"))
        encoder.compute = encoder.hashed
        await here.embed("works")
        assert error.code() is grpc.StatusCode.INTERNAL
        assert "secret" not in str(error.details())
        assert here.sample("failed_batches_total", lane="query") == 1


async def test_a_text_that_the_device_cannot_take_does_not_fail_the_calls_in_its_batch() -> None:
    async with held_house() as (here, held):
        encoder_answer = held._encoder.hashed

        def poisoned(windows: Sequence[Sequence[int]]) -> Matrix:
            if any(len(pieces) > 100 for pieces in windows):
                raise RuntimeError("poisoned")
            return encoder_answer(windows)

        calls = [asyncio.ensure_future(here.embed("first"))]
        await held.started.get()
        calls += [asyncio.ensure_future(here.embed(f"good {number}")) for number in range(3)]
        poison = asyncio.ensure_future(here.embed("poison " * 20))
        while (here.sample("rpc_in_flight", method="Embed"), bool(here.sample("queue_tokens", lane="query"))) != (
            5,
            True,
        ):
            await asyncio.sleep(0.005)
        held._encoder.compute = poisoned
        held.release()
        assert (await refused(poison)).code() is grpc.StatusCode.INTERNAL
        await asyncio.gather(*calls)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
async def test_a_vector_that_is_not_sound_in_single_precision_either_is_internal_and_counted(value: float) -> None:
    encoder = FakeEncoder()
    async with house(encoder) as here:
        encoder.compute = lambda windows: np.full((len(windows), 384), value, dtype=np.float32)
        error = await refused(here.embed("a", "b"))
        assert error.code() is grpc.StatusCode.INTERNAL
        assert here.sample("recomputed_vectors_total") == here.sample("unsound_vectors_total") == 2
        assert encoder.batches == [2, 1, 1]


async def test_a_vector_that_overflows_in_half_precision_is_computed_again_alone_and_its_neighbours_are_not() -> None:
    encoder = FakeEncoder()
    async with house(encoder) as here:
        expected = rows(await here.embed("good", "bad", "fine", purpose=pb.PURPOSE_PASSAGE))
        encoder.batches.clear()

        def overflowing(windows: Sequence[Sequence[Any]]) -> Matrix:
            computed = encoder.hashed(windows)
            computed[1] = np.inf
            return computed

        encoder.compute, encoder.in_float32 = overflowing, encoder.hashed
        reply = await here.embed("good", "bad", "fine", purpose=pb.PURPOSE_PASSAGE)
        assert encoder.batches == [3, 1]
        assert here.sample("recomputed_vectors_total") == 1
        assert here.sample("unsound_vectors_total") == 0
    assert rows(reply) == pytest.approx(expected, abs=1e-6)


async def test_while_the_model_loads_health_is_answered_not_serving_and_calls_are_unavailable() -> None:
    loading, go_on = threading.Event(), threading.Event()

    def load() -> FakeEncoder:
        loading.set()
        go_on.wait()
        return FakeEncoder()

    recorded, settings = recorded_telemetry("embedding"), settings_with(model="hashing")
    server = RunningServer(
        settings, assemble(settings, recorded.telemetry, encoders=[ModelSource("fake", load)]), recorded.telemetry
    )
    await server.start()
    ready = asyncio.ensure_future(server.become_ready())
    async with channel_to(f"127.0.0.1:{server.port}") as channel:
        health, stub = health_pb2_grpc.HealthStub(channel), EmbeddingServiceStub(channel)
        await asyncio.to_thread(loading.wait)
        request = health_pb2.HealthCheckRequest(service="plumbline.embedding.v1.EmbeddingService")
        before = await health.Check(request, timeout=5)
        error = await refused(stub.Embed(pb.EmbedRequest(texts=["a"], purpose=pb.PURPOSE_QUERY), timeout=5))
        go_on.set()
        await ready
        after = await health.Check(request, timeout=5)
    await server.stop()
    assert before.status == health_pb2.HealthCheckResponse.NOT_SERVING
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert after.status == health_pb2.HealthCheckResponse.SERVING


async def test_a_call_that_runs_when_the_server_stops_is_answered() -> None:
    async with held_house() as (here, held):
        call = asyncio.ensure_future(here.embed("in flight"))
        await held.started.get()
        stopping = asyncio.ensure_future(here.served.server.stop())
        while await is_serving(here):
            await asyncio.sleep(0.005)
        held.release()
        assert (await call).vectors.rows == 1
        await stopping


async def is_serving(here: House) -> bool:
    try:
        async with channel_to(here.served.target) as channel:
            reply = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)
        return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)
    except grpc.aio.AioRpcError:
        return False


async def test_a_call_leaves_its_span_and_its_metrics_and_all_series_exist_before() -> None:
    async with house() as here:
        assert here.sample("stage_seconds_count", lane="query", stage="forward") == 0
        assert here.sample("dropped_items_total", lane="ingest", reason="expired") == 0
        await here.embed("time off in lieu")
        assert here.sample("texts_total", lane="query") == here.sample("vectors_total", lane="query") == 1
        assert here.sample("stage_seconds_count", lane="query", stage="forward") == 1
        assert here.sample("batch_items_sum", lane="query") == 1
        assert here.sample("rpc_requests_total", method="Embed", code="OK") == 1
        assert [span.name for span in here.recorded.spans()] == ["plumbline.embedding.v1.EmbeddingService/Embed"]


@needs_weights
async def test_real_weights_are_served_with_their_hash_and_know_meaning() -> None:
    recorded, settings = recorded_telemetry("embedding"), settings_with(model=str(MINILM), threads=2)
    app = await build(settings, recorded.telemetry)
    async with served(app, settings, recorded.telemetry) as running, channel_to(running.target) as channel:
        here = House(EmbeddingServiceStub(channel), recorded, running)
        query = await here.embed("seeing a doctor")
        passages = await here.embed(
            "She had an appointment with her physician.",
            "The cat sat on the mat.",
            "word " * 600,
            purpose=pb.PURPOSE_PASSAGE,
        )
    # The near passage shares no word with the query.
    near, far = rows(passages)[:2] @ rows(query)[0]
    assert near > far + 0.2
    assert len(passages.texts[2].windows) == 3  # 600 pieces, 254 at once, 63 shared
    assert query.model.name == MINILM.name
    assert query.model.weights_sha256 == known_models()[MINILM.name].sha256["model.safetensors"]


def test_a_process_without_its_model_ends_with_one_sentence_that_says_how_to_get_it(tmp_path: Path) -> None:
    environment = os.environ | {
        "PLUMBLINE_EMBEDDING_PORT": "0",
        "PLUMBLINE_EMBEDDING_MODELS": str(tmp_path),
        "PLUMBLINE_EMBEDDING_MODEL": "no-such-model",
        "PYTHONPATH": f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'protos' / 'gen'}",
    }
    command = [sys.executable, "-m", "services.embedding"]
    ended = subprocess.run(
        command, check=False, env=environment, capture_output=True, text=True, timeout=60, cwd=REPOSITORY
    )
    assert ended.returncode == 1
    sentence = ended.stderr.strip().splitlines()[-1]
    assert "PLUMBLINE_EMBEDDING_MODEL" in sentence and "make weights" in sentence
