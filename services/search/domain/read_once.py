"""A mapping whose values are read when they are first asked for: of what legs find, half is never looked at."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

V = TypeVar("V")


class ReadOnce(Mapping[str, V], Generic[V]):
    """The given keys, each once and in their order, with what `read` gives for each; it is called once for a key."""

    __slots__ = ("_keys", "_read", "_values")

    def __init__(self, keys: Iterable[str], read: Callable[[str], V]) -> None:
        self._keys = dict.fromkeys(keys)
        self._read = read
        self._values: dict[str, V] = {}

    def __getitem__(self, key: str) -> V:
        if key in self._values:
            return self._values[key]
        if key not in self._keys:
            raise KeyError(key)
        value = self._values[key] = self._read(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
