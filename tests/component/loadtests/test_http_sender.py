"""What a caller of the gateway sees, seen by the generator: a real gateway, scripted services behind it."""

import asyncio
from collections.abc import AsyncIterator
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from loadtests.http_sender import HttpSender
from loadtests.mix import Call, Request
from loadtests.open_loop import offer
from loadtests.reply import Reply
from plumbline.answer.v1 import answer_pb2
from plumbline.ingest.v1 import ingest_pb2
from services.shared.runtime.errors import DependencyUnavailable, Overloaded
from tests.component.gateway.house import ANSWER, House, event, open_house
from tests.fakes.faulty_peers import dropping, refusing


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as running:
        yield running


def request(call: Call, **body: Any) -> Request:
    return Request("short", call, "http", body, timeout_s=5.0)


SEARCH = request("search", collection="papers", query="solar cells")
ANSWERED = request("answer", collection="papers", question="What is TOIL?")
WRITE = request("write", documents=[{"id": "n1", "text": "a note"}])


async def sent(house: House, what: Request) -> Reply:
    sender = HttpSender(f"http://127.0.0.1:{house.port}", scratch="papers")
    try:
        return await sender.send(what)
    finally:
        await sender.close()


async def test_a_search_brings_its_stages_and_what_was_degraded(house: House) -> None:
    reply = await sent(house, SEARCH)
    assert reply == Reply(
        degraded=["ranking"],
        stages_ms={"embed": 1.0, "keyword": 2.0, "vector": 3.0, "fuse": 4.0, "rank": 5.0, "total": 6.0},
    )


@pytest.mark.parametrize(
    ("error", "name"), [(DependencyUnavailable("down"), "http 503"), (Overloaded("full"), "http 429")]
)
async def test_a_refused_search_is_an_error_by_its_status(house: House, error: Exception, name: str) -> None:
    house.search.script.error = error
    assert await sent(house, SEARCH) == Reply(error=name)


async def test_an_answer_tells_when_each_piece_of_text_came(house: House) -> None:
    before = asyncio.get_running_loop().time()
    reply = await sent(house, ANSWERED)
    assert reply.error is None
    assert reply.stages_ms == {"search": 1.0, "first_token": 2.0, "generate": 3.0, "total": 4.0}
    assert len(reply.tokens_at) == 2
    assert before < reply.tokens_at[0] <= reply.tokens_at[1] < asyncio.get_running_loop().time()


async def test_an_answer_that_fails_on_the_way_is_an_error_by_its_event(house: House) -> None:
    failure = answer_pb2.Failure(code="UNAVAILABLE", message="the generator is gone")
    house.answer.events = (*ANSWER[:2], event(failure=failure))
    assert await sent(house, ANSWERED) == Reply(error="event 503")


async def test_a_write_is_whole_when_its_job_has_succeeded(house: House) -> None:
    job = ingest_pb2.Job(job_id="j1", collection="papers", state=ingest_pb2.JOB_STATE_RUNNING)
    done = ingest_pb2.Job(job_id="j1", collection="papers", state=ingest_pb2.JOB_STATE_SUCCEEDED)
    house.ingest.progress = [job, done]
    reply = await sent(house, WRITE)
    assert reply.error is None
    assert reply.moments.keys() == {"accepted"}
    (put, _) = house.ingest.script.requests
    assert put.collection == "papers"


async def test_a_write_whose_job_fails_is_an_error(house: House) -> None:
    house.ingest.progress = [ingest_pb2.Job(job_id="j1", collection="papers", state=ingest_pb2.JOB_STATE_FAILED)]
    assert (await sent(house, WRITE)).error == "job failed"


async def test_an_answer_that_is_given_up_stops_at_the_server(house: House) -> None:
    house.answer.silence = asyncio.Event()
    sender = HttpSender(f"http://127.0.0.1:{house.port}")
    hurried = Request("answers", "answer", "http", ANSWERED.body, timeout_s=0.5)
    starts_at = asyncio.get_running_loop().time()
    house.answer.events = ANSWER[:2]
    recording = await offer([0.0], repeat(hurried), sender.send, starts_at=starts_at, warm_up_s=0.0, duration_s=1.0)
    await asyncio.wait_for(house.answer.cancelled.wait(), timeout=10)
    await sender.close()
    assert recording.kinds["answers"].errors == {"timeout": 1}
    assert recording.pooled("answer", "latency").get_max_value() / 1e6 == pytest.approx(0.5, rel=1e-3)


async def test_a_server_that_refuses_or_drops_connections_is_an_error_of_the_connection() -> None:
    for faulty in (refusing, dropping):
        async with faulty() as target:
            sender = HttpSender(f"http://{target}")
            assert await sender.send(SEARCH) == Reply(error="connection")
            await sender.close()
