"""The keyword leg and the vector leg, side by side, each with its own time; a leg that fails says so in its result."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from services.search.condition import Condition
from services.search.domain.direction import mean_direction
from services.search.domain.keywords import keyword_tokens
from services.search.domain.query import Mode, Query
from services.search.ports import Embedder, Generation
from services.search.settling import settled
from services.search.time_limits import TimeLimits
from services.shared.index.chunk import LegHit, Vector
from services.shared.index.port import Index
from services.shared.runtime.errors import (
    DeadlineExceeded,
    DependencyUnavailable,
    Internal,
    NotFound,
    Overloaded,
    PlumblineError,
)

# How a part fails; any other error is the caller's fault or ours, and no reason to answer without the part.
FAILURES = (DependencyUnavailable, DeadlineExceeded, Overloaded, Internal)
# A leg whose chunks are of too few documents is asked again, for so many times the depth (design 8.2).
_FETCH_ON = 4


@dataclass(frozen=True, slots=True)
class LegRun:
    """How a leg ended: with `hits`, best first, or with a `failure`; `ran` is False when nothing could be looked for.

    `query_vector` is what the vector leg looked for; the milliseconds are None for what was not begun.
    """

    hits: Sequence[LegHit] = ()
    failure: PlumblineError | None = None
    ran: bool = True
    leg_ms: float | None = None
    embed_ms: float | None = None
    query_vector: Vector | None = None

    def renewed(self, later: "LegRun") -> "LegRun":
        """This run with the hits of a `later` look, and the time of both."""
        return replace(self, hits=later.hits, leg_ms=(self.leg_ms or 0) + (later.leg_ms or 0))


class Legs:
    """Runs the legs of queries."""

    def __init__(self, index: Index, embedder: Embedder, limits: TimeLimits) -> None:
        self._index = index
        self._embedder = embedder
        self._limits = limits

    async def run(self, query: Query, condition: Condition, generation: Generation) -> dict[Mode, LegRun]:
        """The legs of `query.weights`, in that order. No task of theirs is left when this returns or raises.

        Raises NotFound for a `like` document without chunks.
        """
        legs = {Mode.KEYWORD: self._keyword_leg, Mode.VECTOR: self._vector_leg}
        runs = await _side_by_side({mode: legs[mode](query, condition, generation) for mode in query.weights})

        async def look_again(seen: dict[Mode, LegRun]) -> dict[Mode, LegRun]:
            found = {mode: run for mode, run in seen.items() if run.ran and not run.failure}
            later = await _side_by_side(
                {mode: legs[mode](query, condition, generation, run.query_vector) for mode, run in found.items()}
            )
            return seen | {mode: found[mode].renewed(run) for mode, run in later.items() if not run.failure}

        return await settled(runs, look_again, _hits, self._limits)

    async def _keyword_leg(
        self, query: Query, condition: Condition, generation: Generation, _: Vector | None = None
    ) -> LegRun:
        tokens = keyword_tokens(query.text, query.locale, query.retrieval.synonyms)
        if not tokens:
            return LegRun(ran=False)

        async def fetch(limit: int) -> list[LegHit]:
            vectors = query.needs_vectors_of(Mode.KEYWORD)
            return await self._index.keyword(
                generation.id, tokens, filter=condition.filter, limit=limit, vectors=vectors
            )

        return await self._leg(query, fetch, self._limits.keyword_s, "the keyword leg")

    async def _vector_leg(
        self, query: Query, condition: Condition, generation: Generation, vector: Vector | None = None
    ) -> LegRun:
        began = time.perf_counter()
        if query.like_document_id:
            condition = condition.without_document(query.like_document_id)
        try:
            if vector is None:
                vector = await self._direction(query, generation)
        except FAILURES as failure:
            return LegRun(failure=failure, embed_ms=_ms_since(began))
        embed_ms = _ms_since(began)
        if vector is None:
            return LegRun(ran=False, embed_ms=embed_ms)

        async def fetch(limit: int) -> list[LegHit]:
            vectors = query.needs_vectors_of(Mode.VECTOR)
            return await self._index.nearest(
                generation.id, vector, filter=condition.filter, limit=limit, vectors=vectors
            )

        run = await self._leg(query, fetch, self._limits.vector_s, "the vector leg")
        return replace(run, embed_ms=embed_ms, query_vector=vector)

    async def _direction(self, query: Query, generation: Generation) -> Vector | None:
        """What to look for; None when the model reads nothing in the query."""
        if query.like_document_id:
            return await self._direction_of_document(query.like_document_id, generation)
        return await self._direction_of_text(query.text, generation)

    async def _direction_of_text(self, text: str, generation: Generation) -> Vector | None:
        limit_s = self._limits.embed_s
        async with self._limits.at_most(limit_s, "embedding"):
            embedded = await self._embedder.embed_query(
                text, model=generation.model, dimensions=generation.dimensions, timeout_s=limit_s
            )
            if embedded is None:
                return None
            made_by = embedded.weights_sha256, embedded.vectors.shape[1]
            if made_by != (generation.weights_sha256, generation.dimensions):
                raise DependencyUnavailable(f"embedding has other weights for '{generation.model}' than the index")
            return mean_direction(embedded.vectors)

    async def _direction_of_document(self, document_id: str, generation: Generation) -> Vector:
        async with self._limits.at_most(self._limits.embed_s, "the index"):
            chunks = await self._index.document_chunks(generation.id, document_id, vectors=True)
        vectors = [chunk.vectors for chunk in chunks if chunk.vectors is not None]
        if not vectors:
            raise NotFound(f"there is no document '{document_id}' to find others like it", field="like_document_id")
        return mean_direction(np.concatenate(vectors))

    async def _leg(
        self, query: Query, fetch: Callable[[int], Awaitable[list[LegHit]]], limit_s: float, part: str
    ) -> LegRun:
        began = time.perf_counter()
        depth = query.retrieval.depth
        try:
            async with self._limits.at_most(limit_s, part):
                hits = await fetch(depth)
                if query.retrieval.collapse_by_document and len(hits) == depth and _documents(hits) < depth:
                    hits = await fetch(_FETCH_ON * depth)
        except (*FAILURES, NotFound) as failure:  # a generation that the catalog names is gone from the index
            return LegRun(failure=failure, leg_ms=_ms_since(began))
        return LegRun(hits, leg_ms=_ms_since(began))


def _hits(runs: Mapping[Mode, LegRun]) -> Iterator[LegHit]:
    return (hit for run in runs.values() for hit in run.hits)


def _documents(hits: Sequence[LegHit]) -> int:
    return len({hit.document_id for hit in hits})


async def _side_by_side(legs: Mapping[Mode, Coroutine[Any, Any, LegRun]]) -> dict[Mode, LegRun]:
    """All results; when one raises or the caller goes away, the others are cancelled and waited for."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {mode: group.create_task(leg) for mode, leg in legs.items()}
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return {mode: task.result() for mode, task in tasks.items()}


def _ms_since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
