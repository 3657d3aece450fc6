"""When requests are due, whatever becomes of the ones before: seconds from the start, rising, below the duration."""

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import count, takewhile
from typing import Literal, TypeAlias

Pattern: TypeAlias = Literal["poisson", "constant"]


def poisson(rate_per_s: float, duration_s: float, random_source: random.Random) -> Iterator[float]:
    """Independent callers: exponential gaps with a mean of 1 / `rate_per_s`."""
    due_s = random_source.expovariate(rate_per_s)
    while due_s < duration_s:
        yield due_s
        due_s += random_source.expovariate(rate_per_s)


def constant(rate_per_s: float, duration_s: float, random_source: random.Random) -> Iterator[float]:
    """Equal gaps; where in the first gap the first one falls is left to chance, so that processes do not coincide."""
    phase = random_source.random()
    return takewhile(lambda due_s: due_s < duration_s, ((place + phase) / rate_per_s for place in count()))


ARRIVALS: Mapping[Pattern, Callable[[float, float, random.Random], Iterator[float]]] = {
    "poisson": poisson,
    "constant": constant,
}
