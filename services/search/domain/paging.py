"""Pages are cut from one ranked window, so they never overlap and never skip."""

from collections.abc import Sequence
from typing import TypeVar

from services.search.domain.invalid_query import InvalidQuery

MAX_LIMIT = 1000

T = TypeVar("T")


def check_page(*, limit: int, offset: int, window: int) -> None:
    """Raises InvalidQuery naming `limit` or `offset` for a page that begins beyond the window.

    A page that begins within it and would reach further ends with it; one that begins at its end is empty.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidQuery(f"limit is from 1 to {MAX_LIMIT}, got {limit}", field="limit")
    if not 0 <= offset <= window:
        raise InvalidQuery(f"offset is from 0 to {window}, the hits that can be paged, got {offset}", field="offset")


def cut_page(ranked: Sequence[T], *, limit: int, offset: int = 0) -> tuple[Sequence[T], Sequence[T]]:
    """The page, and what comes after it."""
    return ranked[offset : offset + limit], ranked[offset + limit :]
