"""The cross-encoder at work: pairs become tokens, wait for the device with everybody else, and come back as scores."""

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.embedding.domain.embedding import ModelFacts, Timings
from services.embedding.domain.pairs import Pair, PairPieces, best_of_windows
from services.embedding.domain.texts import is_blank
from services.embedding.metrics import EmbeddingMetrics
from services.embedding.ports import Scorer
from services.shared.batching.batcher import Batcher, Lane, Work
from services.shared.runtime.call import current_call
from services.shared.runtime.errors import Internal, InvalidInput

# A person waits for scores as for a query's vector.
_LANE = Lane.QUERY


@dataclass(frozen=True, slots=True)
class Scored:
    """The score of each pair in request order, and in how many windows its passage was read."""

    scores: tuple[float, ...]
    windows: tuple[int, ...]
    timings: Timings


class ScoringPipeline:
    """Scores pairs with one cross-encoder."""

    def __init__(self, scorer: Scorer, batcher: Batcher, metrics: EmbeddingMetrics, *, batch_tokens: int) -> None:
        self._scorer = scorer
        self._batcher = batcher
        self._metrics = metrics
        self._work: Work[PairPieces, float] = Work(scorer.forward, dict.fromkeys(Lane, batch_tokens))
        # A batch of its own for each, since none fits with another in one token.
        self._alone: Work[PairPieces, float] = Work(scorer.forward_in_float32, dict.fromkeys(Lane, 1))

    @property
    def facts(self) -> ModelFacts:
        """The cross-encoder's."""
        return self._scorer.facts

    async def score(self, pairs: Sequence[Pair]) -> Scored:
        """The score of each pair, that of the best window of its passage.

        Raises InvalidInput naming the text that cannot be scored, Overloaded, DeadlineExceeded.
        """
        for index, pair in enumerate(pairs):
            for name, text in (("query", pair.query), ("passage", pair.passage)):
                if is_blank(text):
                    raise InvalidInput("it is empty or holds nothing that can be read", field=f"pairs[{index}].{name}")
        self._batcher.refuse_if_full(_LANE)
        started = time.perf_counter()
        windows = await asyncio.to_thread(self._scorer.tokenize, pairs)
        tokenize_s = time.perf_counter() - started
        for index, some in enumerate(windows):
            if not some:
                most = self.facts.max_tokens // 2
                raise InvalidInput(
                    f"a query takes at most {most} tokens, and a passage has at least one", field=f"pairs[{index}]"
                )
        flat = [window for some in windows for window in some]
        call = current_call()
        deadline = call.deadline if call else math.inf
        batched = await self._batcher.submit(
            self._work, _LANE, flat, [len(window.ids) for window in flat], deadline=deadline
        )
        started = time.perf_counter()
        scores = await self._sound(flat, batched.results, deadline)
        counts = tuple(len(some) for some in windows)
        best = tuple(best_of_windows(np.asarray(scores, dtype=np.float32), counts))
        timings = Timings(tokenize_s, batched.queue_s, batched.device_s, time.perf_counter() - started)
        self._metrics.staged(_LANE, timings)
        self._metrics.pairs.inc(len(pairs))
        return Scored(best, counts, timings)

    async def _sound(self, windows: Sequence[PairPieces], scores: Sequence[float], deadline: float) -> list[float]:
        """The scores, those that are not finite computed again, alone and in single precision."""
        sound = list(scores)
        bad = [index for index, score in enumerate(sound) if not math.isfinite(score)]
        if not bad:
            return sound
        self._metrics.recomputed.inc(len(bad))
        again = await self._batcher.submit(
            self._alone,
            _LANE,
            [windows[index] for index in bad],
            [len(windows[index].ids) for index in bad],
            deadline=deadline,
        )
        for index, score in zip(bad, again.results, strict=True):
            if not math.isfinite(score):
                self._metrics.unsound_vectors.inc()
                raise Internal("a score is not finite")
            sound[index] = score
        return sound
