"""A work item: one change of one document that a worker applies to the generations."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

NO_LEASE: Mapping[str, None] = MappingProxyType({"lease_owner": None, "lease_until": None})
"""The columns of a lease where nobody holds one."""


class Action(StrEnum):
    """What an item does to its document."""

    PUT = "put"
    DELETE = "delete"


class ItemState(StrEnum):
    """`pending -> leased -> done`, back to `pending` for another attempt, or `dead` with a reason, or `cancelled`."""

    PENDING = "pending"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """An item as its worker holds it.

    `attempts` counts this one, so 1 at first; a worker that dies has used up an attempt. Together with `owner` it
    names the lease: an older lease of the same owner is not mistaken for it.
    """

    id: int
    job_id: str
    collection: str
    document_id: str
    action: Action
    revision: int
    attempts: int
    owner: str
    lease_until: float
