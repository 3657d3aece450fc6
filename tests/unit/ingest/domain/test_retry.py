"""How long a document waits before it is tried again."""

from services.ingest.domain.retry import pause_s


def test_pauses_double_and_stop_growing_at_half_a_minute() -> None:
    assert [pause_s(attempts) for attempts in (1, 2, 3, 6, 7, 8)] == [0.5, 1.0, 2.0, 16.0, 30.0, 30.0]


def test_any_number_of_attempts_has_a_pause() -> None:
    assert pause_s(1_000_000) == 30.0
