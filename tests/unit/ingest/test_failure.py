"""Which failures are worth another attempt, and when."""

import pytest

from services.ingest.failure import pause_before_retry_s
from services.shared.runtime.errors import Conflict, DependencyUnavailable, Internal, InvalidInput, NotFound, Overloaded


@pytest.mark.parametrize(
    ("error", "attempts", "pause_s"),
    [
        (Conflict("lost"), 9, 0.0),
        (DependencyUnavailable("away"), 1, 0.5),
        (Overloaded("busy", retry_after_s=5), 3, 2.0),
        (DependencyUnavailable("away"), 100, 30.0),
        (Internal("fault"), 2, 1.0),
        (KeyError("fault"), 2, 1.0),
    ],
)
def test_what_passes_or_may_pass_is_tried_again(error: Exception, attempts: int, pause_s: float) -> None:
    assert pause_before_retry_s(error, attempts) == pause_s


@pytest.mark.parametrize(
    ("error", "attempts"), [(InvalidInput("bad"), 1), (NotFound("gone"), 1), (Internal("fault"), 3), (KeyError("x"), 3)]
)
def test_what_would_end_in_the_same_way_is_not(error: Exception, attempts: int) -> None:
    assert pause_before_retry_s(error, attempts) is None
