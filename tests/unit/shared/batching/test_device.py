"""One thread, one thing at a time."""

import threading

import pytest

from services.shared.batching.device import DeviceThread


async def test_everything_runs_on_the_same_thread_which_is_not_the_event_loops() -> None:
    device = DeviceThread()
    first, second = await device.run(threading.get_ident), await device.run(threading.get_ident)
    await device.close()
    assert first == second != threading.get_ident()


async def test_what_the_function_raises_reaches_the_caller() -> None:
    def fails() -> None:
        raise ValueError("on the device")

    device = DeviceThread()
    with pytest.raises(ValueError, match="on the device"):
        await device.run(fails)
    await device.close()
