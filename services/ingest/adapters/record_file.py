"""Reads a file of records line by line, wherever it lies: what it holds at once is a line."""

from collections.abc import Iterator
from contextlib import contextmanager

import fsspec

from services.ingest.domain.shards import Line
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class RecordFile:
    """A file of JSON lines at `address`, a path or what fsspec understands; by its ending it may be compressed.

    A line longer than `max_bytes` is told without its content, as what it would be: no record.
    """

    def __init__(self, address: str, *, max_bytes: int) -> None:
        self._address = address
        self._max_bytes = max_bytes

    def lines(self) -> Iterator[Line]:
        """The lines that are not blank, in order. Blocks.

        Raises InvalidInput when there is no such file, DependencyUnavailable when it cannot be read.
        """
        with _mapped_errors(), fsspec.open(self._address, "rb", compression="infer") as file:
            number = 0
            while line := file.readline(self._max_bytes + 1):
                number += 1
                is_whole = len(line) <= self._max_bytes or line.endswith(b"\n")
                while not is_whole:
                    rest = file.readline(self._max_bytes)
                    is_whole, line = not rest or rest.endswith(b"\n"), b"the line is too long"
                if number == 1:
                    line = line.removeprefix(_BYTE_ORDER_MARK)
                if stripped := line.strip():
                    yield number, stripped


@contextmanager
def _mapped_errors() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise InvalidInput("there is no such file", field="input") from None
    except (ImportError, ValueError) as error:  # an address that fsspec, as installed here, cannot open
        raise InvalidInput(f"the input cannot be opened: {error}", field="input") from None
    except OSError as error:
        raise DependencyUnavailable(f"the input cannot be read: {error.strerror or type(error).__name__}") from error
