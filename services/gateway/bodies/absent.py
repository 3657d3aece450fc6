"""Fields that a response leaves out when it has nothing to say in them."""

from typing import Annotated, TypeAlias, TypeVar

from pydantic import Field

T = TypeVar("T")


def _is_none(value: object) -> bool:
    return value is None


Absent: TypeAlias = Annotated[T | None, Field(exclude_if=_is_none)]
