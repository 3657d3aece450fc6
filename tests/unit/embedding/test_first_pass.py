"""A model is tried before it answers, and its pace on this machine sizes the batches of passages."""

from collections.abc import AsyncIterator

import numpy as np
import pytest

from services.embedding.first_pass import MOST_BATCH_TOKENS, paced_batch_tokens, try_encoder
from services.embedding.ports import UnfitModel
from services.shared.batching.device import DeviceThread
from tests.fakes.encoder import FakeEncoder


@pytest.fixture
async def device() -> AsyncIterator[DeviceThread]:
    thread = DeviceThread()
    yield thread
    await thread.close()


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
async def test_a_model_whose_first_vector_is_not_sound_is_refused(value: float, device: DeviceThread) -> None:
    encoder = FakeEncoder()
    encoder.compute = lambda windows: np.full((len(windows), 384), value, dtype=np.float32)
    with pytest.raises(UnfitModel, match="no sound vector"):
        await try_encoder(encoder, device)


async def test_a_model_whose_vectors_have_another_size_than_it_says_is_refused(device: DeviceThread) -> None:
    encoder = FakeEncoder()
    encoder.compute = lambda windows: np.ones((len(windows), 8), dtype=np.float32)
    with pytest.raises(UnfitModel):
        await try_encoder(encoder, device)


class PacedClock:
    """A forward pass of n windows takes n times `seconds`, twice that at the first try of each size."""

    def __init__(self, encoder: FakeEncoder, seconds: float) -> None:
        self._encoder = encoder
        self._seconds = seconds
        self._seen: set[int] = set()
        self._now = 0.0
        self._batches = 0

    def __call__(self) -> float:
        for windows in self._encoder.batches[self._batches :]:
            self._now += windows * self._seconds * (1 if windows in self._seen else 2)
            self._seen.add(windows)
        self._batches = len(self._encoder.batches)
        return self._now


async def test_a_batch_of_passages_is_what_the_machine_computes_in_150_ms(device: DeviceThread) -> None:
    encoder = FakeEncoder()
    (text,) = encoder.tokenize(["a " * 256], "passage", truncate=True)  # type: ignore[arg-type]
    window = len(text.windows[0].pieces)
    tokens = await paced_batch_tokens(encoder, device, clock=PacedClock(encoder, 0.05))
    # 50 ms a window: two of them take more than half of the time, so three fit.
    assert encoder.batches == [1, 1, 2, 2]
    assert tokens == pytest.approx(3 * window, abs=1)


async def test_a_fast_machine_gets_no_more_than_the_most(device: DeviceThread) -> None:
    encoder = FakeEncoder()
    assert await paced_batch_tokens(encoder, device, clock=PacedClock(encoder, 1e-6)) == MOST_BATCH_TOKENS
