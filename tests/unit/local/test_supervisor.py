import asyncio
import os
import signal
from collections.abc import Callable

import pytest

from services.local.failure import Failure
from services.local.supervisor import supervise
from tests.unit.local.conftest import StandIns


async def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_stops_all_from_the_last_to_the_first(
    stand_ins: StandIns, has_ended: Callable[[int], bool], number: signal.Signals
) -> None:
    services = [stand_ins.make(name) for name in ("embedding", "search", "gateway")]

    async def signalled() -> None:
        os.kill(os.getpid(), number)

    await asyncio.wait_for(supervise(services, signalled), 30)
    assert [line.split() for line in stand_ins.lines[-3:]] == [
        ["gateway", "stopped"],
        ["search", "stopped"],
        ["embedding", "stopped"],
    ]
    assert all(has_ended(stand_ins.pids(name)[0]) for name in ("embedding", "search", "gateway"))


async def test_work_after_the_start_begins_when_all_are_ready(stand_ins: StandIns) -> None:
    services = [stand_ins.make(name) for name in ("embedding", "search")]
    seen: list[bool] = []

    async def look() -> None:
        seen.extend(service.ready.is_set() for service in services)
        await press_ctrl_c()

    await asyncio.wait_for(supervise(services, look), 30)
    assert seen == [True, True]


async def test_when_one_does_not_start_the_others_are_stopped(
    stand_ins: StandIns, has_ended: Callable[[int], bool]
) -> None:
    services = [stand_ins.make("embedding"), stand_ins.make("search", before="sys.exit('the port is taken')")]

    async def never() -> None:
        raise AssertionError("search was not ready")

    with pytest.raises(Failure, match=r"^search ended with exit code 1 at its start: the port is taken"):
        await asyncio.wait_for(supervise(services, never), 30)
    assert all(has_ended(pid) for pid in stand_ins.pids("embedding"))


async def test_a_signal_during_the_start_stops_what_has_started(
    stand_ins: StandIns, has_ended: Callable[[int], bool]
) -> None:
    tell_parent = f"os.kill({os.getpid()}, signal.SIGINT); signal.pause()"
    services = [stand_ins.make("embedding"), stand_ins.make("search", before=tell_parent)]

    async def never() -> None:
        raise AssertionError("search was not ready")

    await asyncio.wait_for(supervise(services, never), 30)
    assert all(has_ended(pid) for pid in stand_ins.pids("embedding"))


async def test_a_second_signal_kills_what_does_not_end(stand_ins: StandIns, has_ended: Callable[[int], bool]) -> None:
    services = [stand_ins.make("embedding", ignores_sigterm=True)]

    async def press_twice() -> None:
        await press_ctrl_c()
        asyncio.get_running_loop().call_later(0.2, os.kill, os.getpid(), signal.SIGINT)

    await asyncio.wait_for(supervise(services, press_twice), 9)
    assert has_ended(stand_ins.pids("embedding")[0])
