"""Where tests find real weights, and how they say that there are none."""

from collections.abc import Callable
from typing import Any

import pytest

from services.local.settings import DEFAULT_MODEL, read_settings

MINILM = read_settings().models_folder / DEFAULT_MODEL


def needs_weights(test: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a test that loads all-MiniLM-L6-v2; where that is not in the cache it is skipped and says so."""
    reason = f"no weights in {MINILM}; `make weights` fetches them"
    marked: Callable[..., Any] = pytest.mark.weights(pytest.mark.skipif(not MINILM.is_dir(), reason=reason)(test))
    return marked
