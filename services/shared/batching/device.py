"""The one thread on which a device works: models are loaded and run there, one thing after the other."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

ArgumentsT = ParamSpec("ArgumentsT")
ResultT = TypeVar("ResultT")


class DeviceThread:
    """Runs functions one at a time, in the order in which they were asked for, off the event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="device")

    async def run(
        self, function: Callable[ArgumentsT, ResultT], *args: ArgumentsT.args, **kwargs: ArgumentsT.kwargs
    ) -> ResultT:
        """What the function returns or raises. Cancelling the caller does not stop a function that has begun."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: function(*args, **kwargs))

    async def close(self) -> None:
        """Let what has begun finish, forget the rest, end the thread."""
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
