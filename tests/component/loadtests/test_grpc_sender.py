"""Single services under load: scripted ones behind real gRPC servers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from loadtests.grpc_sender import GrpcSender
from loadtests.mix import Call, Request, read_mix
from loadtests.reply import Reply
from plumbline.answer.v1 import answer_pb2
from plumbline.search.v1 import search_pb2
from services.shared.runtime.errors import DependencyUnavailable
from tests.component.gateway.house import ANSWER, House, event, open_house
from tests.fakes.faulty_peers import refusing
from tests.fakes.scripted_embedding import ScriptedEmbedding, serving_embedding


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as running:
        yield running


def request(call: Call, **body: Any) -> Request:
    return Request("short", call, "grpc", body, timeout_s=5.0)


SEARCH = request("search", collection="papers", query="solar cells", retrieval={"rrf_k": 60})
ANSWERED = request("answer", question="What is TOIL?", search={"collection": "papers"})


def targets_of(house: House) -> dict[str, str]:
    return {name.removesuffix("_target"): target for name, target in house.targets.items()}


async def sent(targets: dict[str, str], what: Request) -> Reply:
    sender = GrpcSender(targets)
    try:
        return await sender.send(what)
    finally:
        await sender.close()


async def test_a_search_is_sent_as_its_message_and_brings_its_stages(house: House) -> None:
    reply = await sent(targets_of(house), SEARCH)
    assert reply == Reply(
        degraded=("ranking",),
        stages_ms={"embed": 1.0, "keyword": 2.0, "vector": 3.0, "fuse": 4.0, "rank": 5.0, "total": 6.0},
    )
    (asked,) = house.search.script.requests
    assert asked == search_pb2.SearchRequest(
        collection="papers", query="solar cells", retrieval=search_pb2.RetrievalSettings(rrf_k=60)
    )
    assert house.search.script.seconds_left[0] < 5.0


async def test_an_answer_tells_when_each_piece_of_text_came(house: House) -> None:
    before = asyncio.get_running_loop().time()
    reply = await sent(targets_of(house), ANSWERED)
    assert reply.stages_ms == {"search": 1.0, "first_token": 2.0, "generate": 3.0, "total": 4.0}
    assert len(reply.tokens_at) == 2
    assert before < reply.tokens_at[0] <= reply.tokens_at[1]


async def test_errors_go_by_the_status_or_by_the_event_that_tells_them(house: House) -> None:
    house.search.script.error = DependencyUnavailable("down")
    assert await sent(targets_of(house), SEARCH) == Reply(error="UNAVAILABLE")
    failure = answer_pb2.Failure(code="DEADLINE_EXCEEDED", message="too slow")
    house.answer.events = (*ANSWER[:2], event(failure=failure))
    assert await sent(targets_of(house), ANSWERED) == Reply(error="event DEADLINE_EXCEEDED")
    async with refusing() as target:
        assert await sent({"search": target}, SEARCH) == Reply(error="UNAVAILABLE")


async def test_the_requests_of_the_services_mix_are_messages_of_their_services(house: House) -> None:
    embedding = ScriptedEmbedding()
    async with serving_embedding(embedding) as served:
        targets = targets_of(house) | {"embedding": served.target}
        for name, kind in read_mix("services").kinds.items():
            reply = await sent(targets, Request(name, kind.call, kind.over, kind.body, timeout_s=5.0))
            assert reply.error is None, name
    assert len(embedding.requests) == len(house.search.script.requests) == 1
