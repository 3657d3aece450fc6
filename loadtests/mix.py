"""A mix: the kinds of requests that a load is made of, as data, and chance that draws from it."""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from loadtests.strict import StrictFile
from services.local.failure import Failure

MIXES = Path(__file__).with_name("mixes")

Call: TypeAlias = Literal["search", "answer", "write", "embed"]
Transport: TypeAlias = Literal["http", "grpc"]
_OVER: Mapping[Transport, frozenset[Call]] = {
    "http": frozenset(("search", "answer", "write")),
    "grpc": frozenset(("search", "answer", "embed")),
}
_SLOT = re.compile(r"\{(\w+)\}")
# A slot that is another number in every request of a run.
_SERIAL = "serial"


@dataclass(frozen=True, slots=True)
class Request:
    """One request to send; the body is JSON, over gRPC that of the message."""

    kind: str
    call: Call
    over: Transport
    body: Mapping[str, Any]
    timeout_s: float


class Kind(StrictFile):
    """Requests of one kind; `share` is relative to the other kinds, `{slots}` in the body are filled with words."""

    share: float = Field(gt=0)
    call: Call
    over: Transport = "http"
    timeout_s: float = Field(10.0, gt=0, le=600)
    body: dict[str, Any]

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        if self.call not in _OVER[self.over]:
            raise ValueError(f"{self.call} does not go over {self.over}")
        return self


class Scratch(StrictFile):
    """The collection that all writes go to: made before the run, deleted after it."""

    name: str
    profile: str
    locale: str = "en"


class Mix(StrictFile):
    """What one load is made of. `collections` must be there before it; `rate_per_s` is of all kinds together."""

    says: str
    rate_per_s: float = Field(gt=0)
    collections: tuple[str, ...] = ()
    scratch: Scratch | None = None
    words: dict[str, Annotated[tuple[str, ...], Field(min_length=1)]] = Field(default_factory=dict)
    kinds: Annotated[dict[str, Kind], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for name, kind in self.kinds.items():
            if unknown := set(_SLOT.findall(str(kind.body))) - self.words.keys() - {_SERIAL}:
                raise ValueError(f"kind {name} has slots without words: {', '.join(sorted(unknown))}")
            if kind.call == "write" and self.scratch is None:
                raise ValueError(f"kind {name} writes, and there is no scratch collection to write to")
        return self

    def requests(self, random_source: random.Random, first_serial: int = 0) -> Iterator[Request]:
        """Requests without end: kinds by their shares, words by chance. `{serial}` counts from `first_serial`."""
        names = list(self.kinds)
        shares = [kind.share for kind in self.kinds.values()]
        for serial in count(first_serial):
            (name,) = random_source.choices(names, shares)
            kind = self.kinds[name]
            body = _filled(kind.body, partial(self._word, random_source, str(serial)))
            yield Request(name, kind.call, kind.over, body, kind.timeout_s)

    def _word(self, random_source: random.Random, serial: str, slot: re.Match[str]) -> str:
        return serial if slot[1] == _SERIAL else random_source.choice(self.words[slot[1]])


def read_mix(name: str) -> Mix:
    """The mix of this name, or in a YAML file of this path. Raises Failure naming the key at fault."""
    file = MIXES / f"{name}.yaml" if "/" not in name else Path(name)
    if not file.is_file():
        known = ", ".join(sorted(mix.stem for mix in MIXES.glob("*.yaml")))
        raise Failure(f"there is no mix {name}; give a path, or one of {known}")
    return Mix.read(file)


def _filled(part: Any, fill: Callable[[re.Match[str]], str]) -> Any:
    match part:
        case str():
            return _SLOT.sub(fill, part)
        case dict():
            return {key: _filled(value, fill) for key, value in part.items()}
        case list():
            return [_filled(value, fill) for value in part]
        case _:
            return part
