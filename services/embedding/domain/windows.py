"""How a text over the model's limit becomes windows: each is read at once and gets a vector of its own.

Nothing is averaged and nothing is cut silently: averaging blurs (windows at cosine 0.7 and 0.2 average to about 0.5).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Code points of the text, from `start` up to and without `end`."""

    start: int
    end: int


# What a model reads of a token: its id or, where only an endpoint knows the ids, its text.
Piece = int | str


@dataclass(frozen=True, slots=True)
class Window:
    """What the model reads at once: its `pieces`, prompt and special tokens included."""

    span: Span
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """`tokens` of the whole text, without prompt and special tokens. `truncated`: the windows leave its end out."""

    tokens: int
    windows: tuple[Window, ...]
    truncated: bool = False


def window_ranges(tokens: int, *, room: int, overlap: int) -> list[tuple[int, int]]:
    """Ranges of at most `room` tokens that cover all, in order, each sharing at least `overlap` with the one before.

    As few as do that, and of equal length as far as they go: a short rest at the end would be a window with a vector
    of its own and hardly any context. No token gives no range. Raises ValueError unless 0 <= overlap < room.
    """
    if not 0 <= overlap < room:
        raise ValueError(f"overlap ({overlap}) must be at least 0 and below room ({room})")
    if tokens <= room:
        return [(0, tokens)] if tokens else []
    count = -(-(tokens - overlap) // (room - overlap))
    length = -(-(tokens + (count - 1) * overlap) // count)
    starts = (index * (tokens - length) // (count - 1) for index in range(count))
    return [(start, start + length) for start in starts]


def cut_into_windows(
    text_length: int,
    tokens: Sequence[Span],
    *,
    pieces: Callable[[int, int], tuple[Piece, ...]],
    room: int,
    overlap: int,
    truncate: bool,
) -> TokenizedText:
    """The windows of a text of `text_length` code points whose tokens stand at `tokens`; `room` of them fit in one.

    `pieces` gives the ids for a range of tokens. The spans of the windows cover the whole text, white space included.
    With `truncate` only the first `room` tokens are kept.
    """
    cut = truncate and len(tokens) > room
    ranges = [(0, room)] if cut else window_ranges(len(tokens), room=room, overlap=overlap)
    windows = []
    for first, last in ranges:
        start = 0 if first == 0 else tokens[first].start
        end = text_length if last == len(tokens) else tokens[last - 1].end
        windows.append(Window(Span(start, end), pieces(first, last)))
    return TokenizedText(len(tokens), tuple(windows), truncated=cut)
