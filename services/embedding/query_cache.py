"""Vectors of the queries asked last, bounded in bytes."""

from collections import OrderedDict

from services.embedding.domain.embedding import EmbeddedText

# What the entry, its key and its objects cost beside text and numbers; measured with tracemalloc, rounded up.
_OVERHEAD_BYTES = 1024


class QueryCache:
    """Keeps what was used last. A key is (SHA-256 of the weights, truncate, the exact text)."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[tuple[str, bool, str], EmbeddedText] = OrderedDict()
        self.bytes = 0

    def get(self, key: tuple[str, bool, str]) -> EmbeddedText | None:
        """The entry, now the one used last."""
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def put(self, key: tuple[str, bool, str], embedded: EmbeddedText) -> None:
        """Keep an entry and drop those used longest ago; one that is over the bound alone is not kept."""
        if key in self._entries or _cost(key, embedded) > self._max_bytes:
            return
        self._entries[key] = embedded
        self.bytes += _cost(key, embedded)
        while self.bytes > self._max_bytes:
            old_key, old = self._entries.popitem(last=False)
            self.bytes -= _cost(old_key, old)


def _cost(key: tuple[str, bool, str], embedded: EmbeddedText) -> int:
    return _OVERHEAD_BYTES + 4 * len(key[2]) + embedded.vectors.nbytes
