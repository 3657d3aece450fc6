"""How long a document waits before it is tried again. Pure."""

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
# A fault of ours may be a passing one; after so many attempts it is not.
MAX_ATTEMPTS_AFTER_FAULT = 3


def pause_s(attempts: int) -> float:
    """Seconds before the next attempt after `attempts` (from 1) of them: doubled each time, 30 at most."""
    return float(min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** min(attempts - 1, 16)))
