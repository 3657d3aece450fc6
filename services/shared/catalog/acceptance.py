"""What accepting a list of changes means: which change something, and under which numbers. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from services.shared.catalog.documents import Delete, Put, Refused

Change: TypeAlias = Put | Delete | Refused


class Outcome(StrEnum):
    """How a document of a job ended."""

    REUSED = "reused"  # nothing had to be embedded
    EMBEDDED = "embedded"
    DELETED = "deleted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a document stands before a change.

    `newest` is its newest accepted content that has not failed, None when there is none or it was deleted.
    `newest_revision` and `applied_revision` are those of this content and of what the active generation holds.
    `unfinished` tells that an earlier change still waits, or that the last one failed and may have left a part of
    itself in the index.
    """

    newest: Put | None = None
    newest_revision: int | None = None
    applied_revision: int | None = None
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """A change with its number, or with the outcome it has at once because it changes nothing."""

    change: Change
    revision: int | None
    outcome: Outcome | None


def accept_changes(changes: Sequence[Change], standings: Mapping[str, Standing], *, sequence: int) -> list[Accepted]:
    """`changes` in their order, numbered from `sequence + 1` on.

    A document that is missing from `standings` is unknown. Of two changes of one document both are accepted, and the
    later one holds in the end.
    """
    now = dict(standings)
    accepted = []
    for change in changes:
        standing = now.get(change.id, Standing())
        outcome = _outcome_at_once(change, standing)
        if outcome is None:
            sequence += 1
            now[change.id] = replace(standing, unfinished=True)
        accepted.append(Accepted(change, None if outcome else sequence, outcome))
    return accepted


def _outcome_at_once(change: Change, standing: Standing) -> Outcome | None:
    """The outcome of a change that changes neither the catalog nor the active generation, else None."""
    if isinstance(change, Refused):
        return Outcome.FAILED
    if standing.unfinished:
        return None
    if isinstance(change, Delete):
        gone = standing.newest is None and standing.applied_revision is None
        return Outcome.DELETED if gone else None
    applied = standing.newest is not None and standing.newest_revision == standing.applied_revision
    # Other bytes may hold the same document: a line of JSON with its keys in another order.
    newest = standing.newest
    same = newest is not None and replace(change, blob=newest.blob, size=newest.size) == newest
    return Outcome.REUSED if applied and same else None
