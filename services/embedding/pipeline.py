"""One model at work: cached queries aside, texts become tokens, wait for the device, and come back as unit vectors."""

import asyncio
import math
import time
from collections.abc import Mapping, Sequence

import numpy as np

from services.embedding.domain.embedding import (
    EmbeddedText,
    Embedding,
    ModelFacts,
    Purpose,
    Timings,
    deal_rows,
    shortened,
)
from services.embedding.domain.texts import is_blank
from services.embedding.domain.unit_vectors import Matrix, unit_rows
from services.embedding.domain.windows import Piece, TokenizedText
from services.embedding.metrics import EmbeddingMetrics
from services.embedding.ports import Encoder
from services.embedding.query_cache import QueryCache
from services.shared.batching.batcher import Batcher, Lane, Work
from services.shared.runtime.call import current_call
from services.shared.runtime.errors import Internal, InvalidInput

# What the vectors of one reply may take, counted as float32: a message of 32 MiB less room for everything else in it.
MAX_VECTOR_BYTES = 28 * 1024 * 1024
# Texts of so many code points are tokenised, and so many vectors normalised, in less time than a thread takes to be
# handed them (0.1 ms); more would hold up every other call.
_FEW_CODE_POINTS = 1000
_FEW_VECTORS = 16
_LANES = {Purpose.QUERY: Lane.QUERY, Purpose.PASSAGE: Lane.INGEST}


class EmbeddingPipeline:
    """Embeds texts with one encoder; every caller's windows share its batches."""

    def __init__(
        self,
        encoder: Encoder,
        batcher: Batcher,
        cache: QueryCache,
        metrics: EmbeddingMetrics,
        *,
        batch_tokens: Mapping[Lane, int],
    ) -> None:
        self._encoder = encoder
        self._batcher = batcher
        self._work: Work[tuple[Piece, ...], Matrix] = Work(encoder.forward, batch_tokens)
        # A batch of its own for each, since none fits with another in one token.
        self._alone: Work[tuple[Piece, ...], Matrix] = Work(encoder.forward_in_float32, dict.fromkeys(Lane, 1))
        self._cache = cache
        self._metrics = metrics

    @property
    def facts(self) -> ModelFacts:
        """The model's."""
        return self._encoder.facts

    @property
    def ingest_batch_tokens(self) -> int:
        """Padded tokens of a batch of passages."""
        return self._work.batch_tokens[Lane.INGEST]

    def tokenizer_json(self) -> bytes:
        """The model's tokenizer."""
        return self._encoder.tokenizer_json()

    async def embed(self, texts: Sequence[str], purpose: Purpose, *, truncate: bool, dimensions: int = 0) -> Embedding:
        """The vectors of each text, one per window, or with `truncate` of its first window only.

        They are cut to `dimensions`, which the model must offer; 0 leaves them whole.
        Raises InvalidInput naming the text that has no vector, Overloaded, DeadlineExceeded.
        """
        lane = _LANES[purpose]
        for index, text in enumerate(texts):
            if is_blank(text):
                raise InvalidInput("the text is empty or holds nothing that can be read", field=f"texts[{index}]")
        known = self._known(texts, truncate=truncate) if purpose is Purpose.QUERY else {}
        fresh = [index for index in range(len(texts)) if index not in known]
        timings = Timings()
        if fresh:
            computed, timings = await self._compute(
                [texts[index] for index in fresh], fresh, purpose, truncate=truncate
            )
            known |= dict(zip(fresh, computed, strict=True))
            if purpose is Purpose.QUERY:
                self._remember(texts, known, fresh, truncate=truncate)
        self._metrics.texts.labels(lane).inc(len(texts))
        embedded = [known[index] for index in range(len(texts))]
        if dimensions not in (0, self.facts.dimensions):
            embedded = await asyncio.to_thread(_all_shortened, embedded, dimensions)
        return Embedding(tuple(embedded), timings)

    async def _compute(
        self, texts: Sequence[str], places: Sequence[int], purpose: Purpose, *, truncate: bool
    ) -> tuple[list[EmbeddedText], Timings]:
        """The texts through all stages; `places` are their indices in the request, for messages."""
        lane = _LANES[purpose]
        self._batcher.refuse_if_full(lane)
        started = time.perf_counter()
        if sum(map(len, texts)) <= _FEW_CODE_POINTS:
            tokenized = self._encoder.tokenize(texts, purpose, truncate=truncate)
        else:
            tokenized = await asyncio.to_thread(self._encoder.tokenize, texts, purpose, truncate=truncate)
        tokenize_s = time.perf_counter() - started
        self._refuse_unfit(tokenized, places)

        pieces = [window.pieces for text in tokenized for window in text.windows]
        lengths = [len(window) for window in pieces]
        call = current_call()
        deadline = call.deadline if call else math.inf
        batched = await self._batcher.submit(self._work, lane, pieces, lengths, deadline=deadline)

        started = time.perf_counter()
        if len(pieces) <= _FEW_VECTORS:
            rows, unsound = unit_rows(np.stack(batched.results))
        else:
            rows, unsound = await asyncio.to_thread(lambda: unit_rows(np.stack(batched.results)))
        if unsound:
            rows[unsound] = await self._sound([pieces[row] for row in unsound], lane, deadline)
        embedded = deal_rows(rows, tokenized)
        post_s = time.perf_counter() - started
        timings = Timings(tokenize_s, batched.queue_s, batched.device_s, post_s)
        self._metrics.staged(lane, timings)
        self._metrics.vectors.labels(lane).inc(len(pieces))
        self._metrics.tokens.labels(lane).inc(sum(lengths))
        return embedded, timings

    def _refuse_unfit(self, tokenized: Sequence[TokenizedText], places: Sequence[int]) -> None:
        for place, text in zip(places, tokenized, strict=True):
            if not text.tokens:
                raise InvalidInput("the text has no token that the model reads", field=f"texts[{place}]")
        vectors = sum(len(text.windows) for text in tokenized)
        most = MAX_VECTOR_BYTES // (4 * self.facts.dimensions)
        if vectors > most:
            raise InvalidInput(
                f"the {len(tokenized)} texts make {vectors} windows, and one reply holds {most} vectors of "
                f"{self.facts.dimensions} numbers; send the texts in {math.ceil(vectors / most)} or more calls",
                field="texts",
            )

    async def _sound(self, pieces: Sequence[tuple[Piece, ...]], lane: Lane, deadline: float) -> Matrix:
        """Unit vectors of windows whose first ones were none, each computed alone and in single precision.

        Half precision gives such vectors where an activation overflows. Raises Internal when one is none again.
        """
        self._metrics.recomputed.inc(len(pieces))
        lengths = [len(window) for window in pieces]
        again = await self._batcher.submit(self._alone, lane, pieces, lengths, deadline=deadline)
        rows, unsound = unit_rows(np.stack(again.results))
        if unsound:
            self._metrics.unsound_vectors.inc(len(unsound))
            raise Internal(f"{len(unsound)} of {len(rows)} vectors are zero or not finite, also in single precision")
        return rows

    def _known(self, texts: Sequence[str], *, truncate: bool) -> dict[int, EmbeddedText]:
        """The cached ones of the texts, by index."""
        keys = (self._key(text, truncate=truncate) for text in texts)
        known = {index: found for index, key in enumerate(keys) if (found := self._cache.get(key))}
        self._metrics.cache_lookups.labels("hit").inc(len(known))
        self._metrics.cache_lookups.labels("miss").inc(len(texts) - len(known))
        return known

    def _remember(
        self, texts: Sequence[str], embedded: dict[int, EmbeddedText], fresh: Sequence[int], *, truncate: bool
    ) -> None:
        for index in fresh:
            self._cache.put(self._key(texts[index], truncate=truncate), embedded[index])
        self._metrics.cache_bytes.set(self._cache.bytes)

    def _key(self, text: str, *, truncate: bool) -> tuple[str, bool, str]:
        return (self.facts.weights_sha256, truncate, text)


def _all_shortened(texts: Sequence[EmbeddedText], dimensions: int) -> list[EmbeddedText]:
    try:
        return [shortened(text, dimensions) for text in texts]
    except ValueError as error:
        raise Internal(str(error)) from None
