"""What a model must do before it answers anybody: one real forward pass, and on a CPU a few more that tell its pace."""

import time
from collections.abc import Callable

from services.embedding.domain.embedding import Purpose
from services.embedding.domain.pairs import Pair
from services.embedding.domain.unit_vectors import unit_rows
from services.embedding.domain.windows import Piece
from services.embedding.ports import Encoder, Scorer, UnfitModel
from services.shared.batching.device import DeviceThread
from services.shared.batching.plan import tokens_within

# A query waits for at most one batch of passages.
_BATCH_S = 0.15
# Beyond, throughput does not rise: a T4 is saturated with 512 tokens already, a CPU earlier.
MOST_BATCH_TOKENS = 4096
# A batch that took so much of the time tells the pace well enough.
_ENOUGH = 0.5


async def try_encoder(encoder: Encoder, device: DeviceThread) -> None:
    """Embed one text. Raises UnfitModel when its vector is not one."""
    (text,) = encoder.tokenize(["A first pass."], Purpose.QUERY, truncate=False)
    rows, unsound = unit_rows(await device.run(encoder.forward, [window.pieces for window in text.windows]))
    facts = encoder.facts
    if unsound or rows.shape[1] != facts.dimensions:
        raise UnfitModel(f"it gives no sound vector on {facts.device} in {facts.dtype}")


async def try_scorer(scorer: Scorer, device: DeviceThread) -> None:
    """Score one pair. Raises UnfitModel when its score is not a number."""
    (windows,) = scorer.tokenize([Pair("A first pass.", "A first pass.")])
    (score,) = await device.run(scorer.forward, windows)
    if not abs(score) < float("inf"):
        raise UnfitModel(f"it gives no sound score on {scorer.facts.device} in {scorer.facts.dtype}")


async def paced_batch_tokens(
    encoder: Encoder, device: DeviceThread, *, clock: Callable[[], float] = time.perf_counter
) -> int:
    """Padded tokens of a batch that this machine computes in 150 ms, measured with windows of the full length.

    Windows of the full length are the slowest there are for a token. Each size is tried twice and the faster counts;
    the device is free for others between two tries.
    """
    window = _full_window(encoder)
    windows = 1
    while True:
        seconds = min([await _seconds(encoder, device, [window] * windows, clock) for _ in range(2)])
        tokens = windows * len(window)
        if seconds >= _ENOUGH * _BATCH_S or tokens >= MOST_BATCH_TOKENS:
            return tokens_within(_BATCH_S, tried_tokens=tokens, tried_s=seconds, most=MOST_BATCH_TOKENS)
        windows *= 2


def _full_window(encoder: Encoder) -> tuple[Piece, ...]:
    (text,) = encoder.tokenize(["a " * encoder.facts.max_tokens], Purpose.PASSAGE, truncate=True)
    return text.windows[0].pieces


async def _seconds(
    encoder: Encoder, device: DeviceThread, windows: list[tuple[Piece, ...]], clock: Callable[[], float]
) -> float:
    started = clock()
    await device.run(encoder.forward, windows)
    return clock() - started
