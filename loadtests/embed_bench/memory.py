"""Does the service's memory stay flat over many mixed requests?"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from loadtests.embed_bench.service import Client
from loadtests.embed_bench.texts import passages, queries

_CLIENTS = 8
# One request in so many is a call of passages; the rest are queries.
_PASSAGES_EVERY = 20
_TEXTS_A_CALL = 4
# Caches fill and allocators settle first.
_WARM_UP_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Memory:
    """MiB resident after the first tenth of the requests, the most after that, and at the end."""

    requests: int
    settled_mib: float
    most_mib: float
    last_mib: float

    @property
    def growth(self) -> float:
        """Growth from the first tenth to the end, as a share."""
        return self.last_mib / self.settled_mib - 1


async def memory(client: Client, requests: int, tell: Callable[[str], None]) -> Memory:
    """The memory over so many requests of eight clients."""
    questions, texts = queries(2), passages(2000, 2)
    samples: list[float] = []
    sent = 0

    async def ask() -> None:
        nonlocal sent
        while sent < requests:
            sent += 1
            number = sent
            if number % _PASSAGES_EVERY == 0:
                start = number * 7 % (len(texts) - _TEXTS_A_CALL)
                await client.embed(texts[start : start + _TEXTS_A_CALL], query=False)
            else:
                await client.embed([next(questions)], query=True)
            if number % max(1, requests // 20) == 0:
                samples.append(client.resident_mib())
                tell(f"{number} requests: {samples[-1]:.0f} MiB")

    await asyncio.gather(*(ask() for _ in range(_CLIENTS)))
    settled = samples[int(len(samples) * _WARM_UP_SHARE)]
    return Memory(requests, settled, max(samples), client.resident_mib())
