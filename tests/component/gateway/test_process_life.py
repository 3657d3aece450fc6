"""The gateway as a process: readiness, SIGTERM with a stream inside, and what it refuses to start with."""

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path

import httpx
import pytest

from tests.component.gateway.house import ANSWER, House

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOWHERE = {f"{name}_target": "127.0.0.1:1" for name in ("search", "answer", "ingest", "embedding", "ranking")}


async def start(**knobs: str) -> Process:
    environment = {f"PLUMBLINE_GATEWAY_{name.upper()}": value for name, value in ({"port": "0"} | knobs).items()}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.gateway", env={**os.environ, **environment}, stderr=PIPE, stdout=DEVNULL
    )


async def port_of(process: Process) -> int:
    async for line in process.stderr:
        event = json.loads(line)
        if event["event"] == "serving":
            return event["port"]
    raise AssertionError("the process ended before it served")


async def refusal_of(process: Process) -> str:
    _, stderr = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode != 0
    (sentence,) = (line for line in stderr.decode().splitlines() if not line.startswith("{"))
    return sentence


async def test_sigterm_lets_a_stream_finish_and_exits_with_zero(own_house: House) -> None:
    own_house.answer.events, own_house.answer.silence = ANSWER[:3], asyncio.Event()
    process = await start(
        **own_house.targets, catalog_url=f"sqlite:///{own_house.catalog_path}", drain_s="0.5", grace_s="20"
    )
    port = await asyncio.wait_for(port_of(process), 60)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as http:
        assert (await http.get("/readyz")).status_code == 200
        body = {"collection": "papers", "question": "What is TOIL?"}
        async with http.stream("POST", "/v1/answers", json=body) as response:
            lines = response.aiter_lines()
            assert await anext(lines) == "event: sources"
            process.send_signal(signal.SIGTERM)
            async for line in process.stderr:
                if json.loads(line)["event"] == "draining":
                    break
            not_ready = await http.get("/readyz")
            assert (not_ready.status_code, not_ready.json()) == (503, {"status": "draining"})
            own_house.answer.events = ()
            own_house.answer.silence.set()
            rest = [line async for line in lines]
    assert '"text":"[Source 1]."' in "".join(rest)
    assert await asyncio.wait_for(process.wait(), 30) == 0


async def test_a_port_that_is_taken_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = await start(**NOWHERE, catalog_url="sqlite:////tmp/none.db", port=str(port))
        sentence = await refusal_of(process)
    assert sentence == f"port {port} on 127.0.0.1 is taken; free it or set PLUMBLINE_GATEWAY_PORT"


async def test_a_catalog_address_of_another_kind_is_one_sentence() -> None:
    sentence = await refusal_of(await start(**NOWHERE, catalog_url="mysql://somewhere"))
    assert sentence.startswith("refusing to start: PLUMBLINE_GATEWAY_CATALOG_URL: ")


async def test_an_address_that_others_reach_is_refused_in_one_sentence_while_there_are_no_keys() -> None:
    sentence = await refusal_of(await start(**NOWHERE, catalog_url="sqlite:////tmp/none.db", host="0.0.0.0"))
    assert sentence.startswith("refusing to start: PLUMBLINE_GATEWAY_HOST=0.0.0.0 opens the API to the network")


async def test_without_a_catalog_the_process_lives_and_is_not_ready(tmp_path: Path) -> None:
    process = await start(**NOWHERE, catalog_url=f"sqlite:///{tmp_path}/missing/catalog.db")
    async for line in process.stderr:
        if json.loads(line)["event"] == "not_ready":
            break
    process.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(process.wait(), 30) == 0
