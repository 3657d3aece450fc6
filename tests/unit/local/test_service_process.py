import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from services.local.failure import Failure
from services.local.service_process import ServiceProcess, last_words, manner_of_end, restart_delay
from tests.unit.local.conftest import StandIns


def test_waits_double_from_half_a_second_to_half_a_minute() -> None:
    waits = [0.0]
    for _ in range(8):
        waits.append(restart_delay(waits[-1], served_s=1.0))
    assert waits[1:] == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_a_service_that_served_for_a_minute_is_started_again_at_once() -> None:
    assert restart_delay(30.0, served_s=59.9) == 30.0
    assert restart_delay(30.0, served_s=60.0) == 0.5


def test_an_end_is_told_in_words() -> None:
    assert manner_of_end(-9) == "was killed by SIGKILL"
    assert manner_of_end(2) == "ended with exit code 2"


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", "it said nothing"),
        ('{"event": "starting"}\nrefusing to start: X is not a setting\n\n', "refusing to start: X is not a setting"),
        ('Traceback:\n  File "x"\nImportError: no torch\n{"event": "bye"}\n', "ImportError: no torch"),
        ('{"event": "starting"}\n{"event": "not_ready", "reason": "no catalog"}\n', "not_ready: no catalog"),
        ('{"level": "fatal", "msg": "no cluster", "error": "port taken"}\n', "no cluster: port taken"),
        ('{"event": "cut sho', '{"event": "cut sho'),
    ],
)
def test_last_words_are_the_last_plain_line_else_the_last_event(tmp_path: Path, log: str, words: str) -> None:
    (tmp_path / "log").write_text(log)
    assert last_words(tmp_path / "log") == words


async def end(life: asyncio.Task[None], service: ServiceProcess) -> None:
    life.cancel()
    await asyncio.gather(life, return_exceptions=True)
    await service.stop(10)


async def test_a_service_is_started_only_once_the_one_before_it_is_ready(stand_ins: StandIns) -> None:
    index = stand_ins.make("index")
    search = stand_ins.make("search", after=index)
    waiting = asyncio.create_task(search.live())
    for _ in range(3):
        await asyncio.sleep(0)
    assert stand_ins.lines == [] and stand_ins.pids("search") == []
    life = asyncio.create_task(index.live())
    await asyncio.wait_for(search.ready.wait(), 20)
    assert [line.split()[0] for line in stand_ins.lines] == ["index", "search"]
    await end(waiting, search)
    await end(life, index)


async def test_a_killed_service_is_started_again(stand_ins: StandIns) -> None:
    service = stand_ins.make("search")
    life = asyncio.create_task(service.live())
    await asyncio.wait_for(service.ready.wait(), 20)
    os.kill(stand_ins.pids("search")[0], signal.SIGKILL)
    await stand_ins.until_reported("ready after", times=2)
    await end(life, service)
    assert len(set(stand_ins.pids("search"))) == 2
    assert "search     was killed by SIGKILL; starting again in 0.5 s" in stand_ins.lines
    assert stand_ins.lines[-1] == "search     stopped"


async def test_a_first_start_that_fails_is_told_with_the_services_own_words(stand_ins: StandIns) -> None:
    service = stand_ins.make("search", before="sys.exit('refusing to start: X is not a setting')")
    with pytest.raises(Failure) as failure:
        await asyncio.wait_for(service.live(), 20)
    assert str(failure.value) == (
        "search ended with exit code 1 at its start: refusing to start: X is not a setting "
        f"(see {stand_ins.folder / 'search.log'})"
    )


async def test_a_first_start_that_takes_too_long_fails(stand_ins: StandIns) -> None:
    service = stand_ins.make("search", before="print('loading', flush=True); signal.pause()")
    with pytest.raises(Failure, match=r"^search is not ready after 1 s: loading"):
        await asyncio.wait_for(service.live(ready_within_s=1.0), 20)
    await service.stop(10)


async def test_a_service_that_does_not_end_is_killed_with_what_it_started(
    stand_ins: StandIns, has_ended: Callable[[int], bool]
) -> None:
    child_pid = stand_ins.folder / "child.pid"
    start_child = (
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])\n"
        f"pathlib.Path({str(child_pid)!r}).write_text(str(child.pid))"
    )
    service = stand_ins.make("search", before=start_child, ignores_sigterm=True)
    life = asyncio.create_task(service.live())
    await asyncio.wait_for(service.ready.wait(), 20)
    life.cancel()
    await service.stop(0.1)
    assert stand_ins.lines[-1] == "search     did not end within 0 s and was killed"
    assert has_ended(stand_ins.pids("search")[0])
    assert has_ended(int(child_pid.read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
@pytest.mark.parametrize("command", [("-m", "stand_in_search"), (sys.executable, "-m", "stand_in_search")])
def test_a_service_ends_with_its_supervisor_even_when_that_is_killed(
    stand_ins: StandIns, has_ended: Callable[[int], bool], command: tuple[str, ...]
) -> None:
    stand_ins.make("search")
    parent = f"import subprocess; from services.local.tethered import tethered; subprocess.run(tethered({command!r}))"
    environment = os.environ | {"PYTHONPATH": f"{Path.cwd()}{os.pathsep}{stand_ins.folder}"}
    with subprocess.Popen([sys.executable, "-c", parent], env=environment) as supervisor:
        while not stand_ins.pids("search"):
            assert supervisor.poll() is None
        supervisor.kill()
    assert has_ended(stand_ins.pids("search")[0])
