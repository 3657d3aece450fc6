"""One table gives each error its status."""

import inspect

import grpc
import pytest

from services.shared.runtime import errors
from services.shared.runtime.errors import STATUSES, Internal, PlumblineError, error_from_code, status_of

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, PlumblineError) and kind is not PlumblineError
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_exactly_one_row(kind: type[PlumblineError]) -> None:
    assert [row.error for row in STATUSES].count(kind) == 1


def test_no_two_errors_share_a_code() -> None:
    codes = [row.code for row in STATUSES]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("row", STATUSES, ids=lambda row: row.error.__name__)
def test_an_error_survives_the_way_over_its_code(row: errors.Status) -> None:
    back = error_from_code(row.code, "why", field="query", retry_after_s=2.0)
    assert type(back) is row.error
    assert (back.message, back.field, back.retry_after_s) == ("why", "query", 2.0)


def test_what_is_not_in_the_table_is_internal() -> None:
    assert status_of(KeyError("x")).error is Internal
    assert type(error_from_code(grpc.StatusCode.DATA_LOSS, "x")) is Internal
