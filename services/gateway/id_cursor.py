"""Cursors of lists in the order of ids: the id that the page before ended with."""

import base64

from services.shared.runtime.errors import InvalidInput


def cursor_after(last_id: str | None) -> str | None:
    """The cursor of what comes after `last_id`; None for None, at the end of a list."""
    return None if last_id is None else base64.urlsafe_b64encode(last_id.encode()).decode()


def id_before(cursor: str | None) -> str | None:
    """The id that `cursor` goes on after; None for None, at the beginning. Raises InvalidInput."""
    if cursor is None:
        return None
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except ValueError:
        raise InvalidInput("this is not a cursor: give the `next` of an earlier page", field="cursor") from None
