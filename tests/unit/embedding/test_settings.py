"""The knobs of the embedding service and what it asks of the process."""

import os
from typing import Any

import pytest
from pydantic import ValidationError

from services.embedding.settings import EmbeddingSettings, let_waiting_threads_sleep


@pytest.mark.parametrize(
    "knobs",
    [
        {"device": "gpu"},
        {"dtype": "int8"},
        {"weights_sha256": "ABC"},
        {"threads": 0},
        {"model": ""},
        {"ingest_queue_tokens": 0},
    ],
)
def test_a_value_out_of_bounds_is_refused(knobs: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        EmbeddingSettings(port=0, **knobs)


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:3"])
def test_a_device_is_named_as_torch_names_it(device: str) -> None:
    assert EmbeddingSettings(port=0, device=device).device == device


def test_waiting_threads_sleep_unless_the_operator_decided_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "")  # so that the state before is restored after the test
    monkeypatch.delenv("OMP_WAIT_POLICY")
    let_waiting_threads_sleep()
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    let_waiting_threads_sleep()
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE"
