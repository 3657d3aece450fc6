"""Pages are cut from one ranked window, so they never overlap and never skip."""

from collections.abc import Sequence
from typing import TypeVar

from services.search.domain.invalid_query import InvalidQuery

MAX_LIMIT = 1000

T = TypeVar("T")


def check_page(*, limit: int, offset: int, window: int) -> None:
    """Raises InvalidQuery naming `limit` or `offset` for a page that does not lie within the window."""
    if not 1 <= limit <= min(MAX_LIMIT, window):
        raise InvalidQuery(f"limit is from 1 to {min(MAX_LIMIT, window)}, got {limit}", field="limit")
    if not 0 <= offset <= window - limit:
        raise InvalidQuery(
            f"with limit {limit} an offset is from 0 to {window - limit}, because {window} hits can be paged",
            field="offset",
        )


def cut_page(ranked: Sequence[T], *, limit: int, offset: int = 0) -> tuple[Sequence[T], Sequence[T]]:
    """The page, and what comes after it."""
    return ranked[offset : offset + limit], ranked[offset + limit :]
