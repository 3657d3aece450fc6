"""One search: the legs side by side, fused, ranked, cut to a page. What does not answer is left out, and named."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import structlog

from services.search.beside import beside
from services.search.condition import Condition, field_value
from services.search.domain.completion import with_exact_scores, with_keyword_scores
from services.search.domain.cursor import Also, Cursor, CursorHit, read_cursor, sign_cursor
from services.search.domain.direction import mean_direction
from services.search.domain.exact_tier import Passage, exact_matches
from services.search.domain.fusion import highest_score, score_below
from services.search.domain.invalid_query import InvalidQuery
from services.search.domain.paging import cut_page
from services.search.domain.query import Mode, Query
from services.search.domain.read_once import ReadOnce
from services.search.domain.revisions import newest_revisions
from services.search.domain.signals import Signals, signals_of
from services.search.domain.window import Candidate, Found, Leg, LegRank, window_of_chunks, window_of_documents
from services.search.legs import FAILURES, LegRun, Legs
from services.search.page import AlsoChunk, Hit, Page, Timings
from services.search.ports import Catalog, Generation, Order, Ranked, Ranker, RankingTask
from services.search.query_terms import QueryTerms, TermLookup
from services.search.settling import settled
from services.search.time_limits import RETRY_AFTER_S, TimeLimits
from services.shared.index.chunk import Matrix, StoredChunk, Vector
from services.shared.index.port import Index
from services.shared.runtime.errors import (
    DeadlineExceeded,
    DependencyUnavailable,
    InvalidInput,
    NotFound,
    Overloaded,
)

log = structlog.get_logger()

_NOT_RUN = LegRun(ran=False)
# Hits in which the words of a query are looked for: what an answer is made of (design 8.9).
_TOP = 5
# A catalog that did not answer is asked again after so long; until then its last word holds, and searches are not slow.
_ASK_AGAIN_S = 1.0


@dataclass(frozen=True, slots=True)
class _Known:
    """What the catalog last said; `stale` when it was asked again since and did not answer."""

    generation: Generation
    asked_at: float
    stale: bool


@dataclass(frozen=True, slots=True)
class _Window:
    """What the legs found together: the candidates by their chunks' ids, in order, and every chunk that was found.

    `places` has the place of every candidate before ranking, from 1.
    """

    legs: Sequence[Leg]
    candidates: Mapping[str, Candidate]
    chunks: Mapping[str, StoredChunk]
    query_vector: Vector | None
    places: Mapping[str, int]

    @property
    def by_fused_score(self) -> list[Candidate]:
        """The candidates as fusion alone has them."""
        return sorted(self.candidates.values(), key=lambda candidate: -candidate.fused_score)


class SearchPipeline:
    """Searches collections. `remember_s` is how long an answer of the catalog is good without asking again."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        index: Index,
        legs: Legs,
        ranker: Ranker,
        limits: TimeLimits,
        remember_s: float,
        cursor_secret: bytes,
    ) -> None:
        self._catalog = catalog
        self._index = index
        self._legs = legs
        self._term_lookup = TermLookup(catalog, limits)
        self._ranker = ranker
        self._limits = limits
        self._remember_s = remember_s
        self._cursor_secret = cursor_secret
        self._known: dict[tuple[str, str], _Known] = {}

    async def search(self, query: Query, condition: Condition) -> Page:
        """The page that the query asks for.

        Raises NotFound for a collection, generation or `like` document that is not there, InvalidInput for a cursor of
        another search or bad ranking settings, and DependencyUnavailable when no leg answers.
        """
        if query.cursor:
            return await self._next_page(query, condition)
        began = time.perf_counter()
        known = await self._generation(query.collection, query.generation_id)
        async with beside(self._terms(query, known)) as looking_up:
            runs = await self._legs.run(query, condition, known.generation)
            _require_an_answer(runs)
            terms, terms_failed = await looking_up

        began_fusing = time.perf_counter()
        window = _fused(query, runs, terms)
        began_ranking = time.perf_counter()
        order = await self._ranked_or_as_fused(query, window)
        ranked = order.ranked
        ended_ranking = time.perf_counter()

        keyword, vector = runs.get(Mode.KEYWORD, _NOT_RUN), runs.get(Mode.VECTOR, _NOT_RUN)
        failed = {"catalog": known.stale or terms_failed, "keyword": keyword.failure, "vector": vector.failure}
        degraded = tuple(sorted([*(part for part, failure in failed.items() if failure), *order.degraded]))
        shown, rest = cut_page(ranked, limit=query.limit, offset=query.offset)
        after = Cursor(
            generation_id=known.generation.id,
            revision=known.generation.revision,
            place=query.offset + len(shown),
            window=len(ranked),
            degraded=degraded,
            hits=tuple(CursorHit(hit.chunk_id, hit.score, _also(hit, window)) for hit in rest),
        )
        return Page(
            generation_id=known.generation.id,
            revision=known.generation.revision,
            hits=tuple(_hit(rank, hit, window) for rank, hit in enumerate(shown, start=query.offset + 1)),
            next=self._signed(after, query),
            window=len(ranked),
            degraded=degraded,
            signals=await self._signals(query, condition, known.generation, window, terms),
            timings=Timings(
                embed=vector.embed_ms,
                keyword=keyword.leg_ms,
                vector=vector.leg_ms,
                fuse=(began_ranking - began_fusing) * 1000,
                rank=(ended_ranking - began_ranking) * 1000 if ranked else None,
                total=(time.perf_counter() - began) * 1000,
            ),
        )

    async def document_chunks(self, collection: str, document_id: str) -> tuple[Generation, list[StoredChunk]]:
        """The active generation, and the chunks in it of the document's newest revision by ordinal.

        Raises NotFound for a collection that does not exist, DependencyUnavailable.
        """
        known = await self._generation(collection, "")

        async def read(_: Sequence[StoredChunk] = ()) -> list[StoredChunk]:
            return await self._index.document_chunks(known.generation.id, document_id)

        async with self._limits.at_most(self._limits.keyword_s, "the index"):
            return known.generation, _newest(await settled(await read(), read, iter, self._limits))

    async def check(self) -> None:
        """Return when catalog and index answer: without embedding there is still a keyword leg.

        Raises DependencyUnavailable.
        """
        await self._catalog.check()
        await self._index.generations()

    async def _generation(self, collection: str, generation_id: str) -> _Known:
        """What serves the collection; when the catalog does not answer, what it named when it last did."""
        key, now = (collection, generation_id), time.monotonic()
        known = self._known.get(key)
        limit_s = self._limits.catalog_s
        if known:
            if now - known.asked_at < (_ASK_AGAIN_S if known.stale else self._remember_s):
                return known
            if known.stale:  # one search asks, the others do not wait for it
                self._known[key] = replace(known, asked_at=now)
            limit_s = self._limits.known_catalog_s()
        try:
            async with self._limits.at_most(limit_s, "the catalog"):
                generation = await self._catalog.generation(collection, generation_id)
        except NotFound:
            self._known.pop(key, None)
            raise
        except FAILURES as failure:
            if known is None:
                raise
            log.warning("catalog_skipped", reason=failure.message)
            self._known[key] = replace(known, asked_at=time.monotonic(), stale=True)
        else:
            self._known[key] = _Known(generation, asked_at=now, stale=False)
        return self._known[key]

    async def _terms(self, query: Query, known: _Known) -> tuple[QueryTerms | None, bool]:
        """As `TermLookup.look_up`; a catalog that just failed to answer is not asked again."""
        return (None, True) if known.stale else await self._term_lookup.look_up(query, known.generation)

    async def _ranked_or_as_fused(self, query: Query, window: _Window) -> Order:
        """The window in its final order; where ranking had to be skipped, in the fused one."""
        if not window.candidates:
            return Order()
        task = _ranking_task(query, window)
        try:
            limit_s = self._limits.ranking_left_s(query.cross_encoder_budget_s)
            return await self._ranker.rank(task, timeout_s=limit_s)
        except FAILURES as failure:
            log.warning("ranking_skipped", reason=failure.message)
            fused = [Ranked(chunk_id, candidate.fused_score) for chunk_id, candidate in window.candidates.items()]
            return Order(fused, ["ranking"])

    async def _signals(
        self, query: Query, condition: Condition, generation: Generation, window: _Window, terms: QueryTerms | None
    ) -> Signals:
        nothing_passed = condition.filter is not None and not window.candidates
        top = window.by_fused_score[:_TOP]
        return signals_of(
            model=generation.model,
            cosines=[found.score for leg in window.legs if leg.mode is Mode.VECTOR for found in leg.found],
            first_cosine=_cosine(top[0], window) if top else None,
            leaders=[_voted_for(leg.found[0], query) for leg in window.legs if leg.found],
            filtered_count=await self._count(generation, condition) if nothing_passed else None,
            idf_coverage=_coverage(top, window, terms),
            keyword_share=_keyword_share(top, terms),
        )

    async def _count(self, generation: Generation, condition: Condition) -> int | None:
        """How many chunks the condition leaves; None when the index does not say."""
        try:
            async with self._limits.at_most(self._limits.keyword_s, "the index"):
                return await self._index.count(generation.id, condition.filter)
        except FAILURES:
            return None

    async def _next_page(self, query: Query, condition: Condition) -> Page:
        """A page of the window that the cursor names: the very chunks, less those that are gone by now."""
        began = time.perf_counter()
        try:
            cursor = read_cursor(query.cursor, fingerprint=query.fingerprint, secret=self._cursor_secret)
        except InvalidQuery as error:
            raise InvalidInput(error.message, field=error.field) from None
        shown, rest = cut_page(cursor.hits, limit=query.limit)
        ids = [chunk_id for hit in shown for chunk_id in (hit.chunk_id, *(also.chunk_id for also in hit.also))]
        try:
            async with self._limits.at_most(self._limits.keyword_s, "the index"):
                stored = await self._index.fetch(cursor.generation_id, ids, vectors=False)
        except NotFound:
            raise InvalidInput("what this cursor goes through is gone; search again", field="cursor") from None
        chunks = {chunk.chunk_id: chunk for chunk in _newest(stored) if condition.holds_for(chunk)}
        return Page(
            generation_id=cursor.generation_id,
            revision=cursor.revision,
            hits=tuple(
                Hit(rank, hit.score, chunks[hit.chunk_id], _also_chunks(hit.also, chunks))
                for rank, hit in enumerate(shown, start=cursor.place + 1)
                if hit.chunk_id in chunks
            ),
            next=self._signed(replace(cursor, place=cursor.place + len(shown), hits=tuple(rest)), query),
            window=cursor.window,
            degraded=cursor.degraded,
            signals=None,
            timings=Timings(total=(time.perf_counter() - began) * 1000),
        )

    def _signed(self, cursor: Cursor, query: Query) -> str:
        if not cursor.hits:
            return ""
        return sign_cursor(cursor, fingerprint=query.fingerprint, secret=self._cursor_secret)


def _require_an_answer(runs: Mapping[Mode, LegRun]) -> None:
    """Raises when a leg failed and no other looked: nothing heard is not nothing found."""
    failures = {mode: run.failure for mode, run in runs.items() if run.failure}
    for mode, failure in failures.items():
        log.warning("leg_skipped", leg=mode, reason=failure.message)
    if not failures or any(run.ran and not run.failure for run in runs.values()):
        return
    # Out of time and over capacity keep their own status; anything else is a part that is down.
    if {type(failure) for failure in failures.values()} in ({DeadlineExceeded}, {Overloaded}):
        raise next(iter(failures.values()))
    raise DependencyUnavailable(
        "; ".join(failure.message for failure in failures.values()), retry_after_s=RETRY_AFTER_S
    )


def _fused(query: Query, runs: Mapping[Mode, LegRun], terms: QueryTerms | None) -> _Window:
    """The window of the legs that ran, each document in its newest revision only.

    With the terms of the query keyword scores are exact, the gate holds, and every candidate has a keyword score.
    """
    ran = {mode: run for mode, run in runs.items() if run.ran and not run.failure}
    newest = newest_revisions(hit for run in ran.values() for hit in run.hits)
    current = {mode: [hit for hit in run.hits if hit.revision == newest[hit.document_id]] for mode, run in ran.items()}
    # Of a chunk that both found, what the keyword leg brought: where only one brings vectors, it does.
    hits = {hit.chunk_id: hit for found in reversed(current.values()) for hit in found}
    chunks = ReadOnce(hits, lambda chunk_id: hits[chunk_id].read())
    analysed = ReadOnce(hits, lambda chunk_id: chunks[chunk_id].analysed)
    legs = []
    for mode in ran:
        found = [Found(hit.chunk_id, hit.document_id, hit.score) for hit in current[mode]]
        if mode is Mode.KEYWORD and terms:
            gate = query.retrieval.keyword_gate
            if gate:
                found = [one for one in found if terms.mass.share_in(analysed[one.chunk_id]) >= gate]
            found = with_exact_scores(found, analysed, terms.bm25)
        legs.append(Leg(mode, found, query.weights[mode]))
    voted_for = dict.fromkeys(one.chunk_id for leg in legs for one in leg.found)
    exact = exact_matches(query.text, query.locale, ReadOnce(voted_for, lambda chunk_id: _passage(chunks[chunk_id])))
    retrieval = query.retrieval
    if retrieval.collapse_by_document:
        window = window_of_documents(legs, exact=exact, k=retrieval.rrf_k, size=retrieval.window, depth=retrieval.depth)
    else:
        window = window_of_chunks(legs, exact=exact, k=retrieval.rrf_k, size=retrieval.window)
    if terms:
        window = with_keyword_scores(window, analysed, terms.bm25)
    return _Window(
        legs=legs,
        candidates={candidate.chunk_id: candidate for candidate in window},
        chunks=chunks,
        query_vector=next((run.query_vector for run in ran.values() if run.query_vector is not None), None),
        places={candidate.chunk_id: place for place, candidate in enumerate(window, start=1)},
    )


def _passage(chunk: StoredChunk) -> Passage:
    return Passage(f"{chunk.context}\n{chunk.text}", chunk.analysed)


def _coverage(top: Sequence[Candidate], window: _Window, terms: QueryTerms | None) -> float | None:
    if terms is None:
        return None
    return max((terms.mass.share_in(window.chunks[hit.chunk_id].analysed) for hit in top), default=0.0)


def _keyword_share(top: Sequence[Candidate], terms: QueryTerms | None) -> float | None:
    """None where the keyword leg gave no score: it failed, and nothing is completed then."""
    keyword = top[0].legs.get(Mode.KEYWORD) if top else LegRank(score=0.0)
    if terms is None or keyword is None or keyword.score is None:
        return None
    # An engine computes in single precision, and may pass the bound by a rounding.
    return min(1.0, keyword.score / terms.bm25.highest)


def _voted_for(found: Found, query: Query) -> str:
    return found.document_id if query.retrieval.collapse_by_document else found.chunk_id


def _ranking_task(query: Query, window: _Window) -> RankingTask:
    weights, retrieval = [leg.weight for leg in window.legs], query.retrieval
    chunks = [window.chunks[chunk_id] for chunk_id in window.candidates]
    return RankingTask(
        candidates=tuple(window.candidates.values()),
        dates=[chunk.date for chunk in chunks],
        attributes=[_attribute(chunk, query.diversify_by) for chunk in chunks],
        texts=[chunk.text for chunk in chunks],
        contexts=[chunk.context for chunk in chunks],
        vectors=_best_vectors(chunks, window.query_vector),
        query=query.text,
        query_vector=window.query_vector,
        fused_top=highest_score(weights, k=retrieval.rrf_k),
        fused_floor=score_below(weights, k=retrieval.rrf_k, depth=retrieval.depth),
        settings=query.ranking,
        explain=query.explain,
    )


def _attribute(chunk: StoredChunk, field: str) -> str | None:
    value = field_value(chunk, field) if field else None
    return None if value is None else str(value)


def _best_vectors(chunks: Sequence[StoredChunk], query_vector: Vector | None) -> Matrix:
    """A row for every chunk, zeros for those that were read without vectors."""
    best = [None if chunk.vectors is None else _best_vector(chunk.vectors, query_vector) for chunk in chunks]
    known = [row for row in (query_vector, *best) if row is not None]
    nothing = np.zeros(len(known[0]) if known else 1, dtype=np.float32)
    return np.stack([nothing if row is None else row for row in best])


def _best_vector(vectors: Matrix, query_vector: Vector | None) -> Vector:
    """The window that is nearest to the query; without a query vector, what all windows say."""
    if query_vector is None:
        return mean_direction(vectors)
    return np.asarray(vectors[0 if len(vectors) == 1 else int(np.argmax(vectors @ query_vector))])


def _cosine(candidate: Candidate, window: _Window) -> float | None:
    found = candidate.legs.get(Mode.VECTOR)
    if found is None:
        return None
    vectors = window.chunks[candidate.chunk_id].vectors
    if vectors is None or window.query_vector is None:
        return found.score
    return float((vectors @ window.query_vector).max())


def _hit(rank: int, ranked: Ranked, window: _Window) -> Hit:
    candidate = window.candidates[ranked.chunk_id]
    also = _also_chunks(_also(ranked, window), window.chunks)
    return Hit(rank, ranked.score, window.chunks[ranked.chunk_id], also, candidate, ranked.ledger)


def _also(ranked: Ranked, window: _Window) -> tuple[Also, ...]:
    """What stands under a hit: the other chunks of its document, then each near-duplicate with those of its own."""
    also = [*window.candidates[ranked.chunk_id].also]
    for chunk_id in ranked.duplicates:
        also += [Also(chunk_id, window.places[chunk_id]), *window.candidates[chunk_id].also]
    return tuple(also)


def _also_chunks(also: Iterable[Also], chunks: Mapping[str, StoredChunk]) -> tuple[AlsoChunk, ...]:
    return tuple(AlsoChunk(chunks[other.chunk_id], other.fused_place) for other in also if other.chunk_id in chunks)


def _newest(chunks: Sequence[StoredChunk]) -> list[StoredChunk]:
    """The chunks without those of older revisions of their documents."""
    newest = newest_revisions(chunks)
    return [chunk for chunk in chunks if chunk.revision == newest[chunk.document_id]]
