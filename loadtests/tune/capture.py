"""Asks both legs of a search for every judged query, once, over the very stores that search reads."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import numpy as np
from prometheus_client import CollectorRegistry

from loadtests.tune.captured import CapturedChunk, CapturedQuery
from services.gateway.bodies.filters import parse_filter
from services.local.failure import Failure
from services.local.progress import ProgressLine
from services.search.adapters.catalog import SharedCatalog
from services.search.adapters.embedding_service import EmbeddingService
from services.search.condition import Condition, field_value
from services.search.domain.completion import with_exact_scores, with_keyword_scores
from services.search.domain.exact_tier import Passage, exact_matches
from services.search.domain.keywords import keyword_tokens
from services.search.domain.query import Mode, Query, Retrieval
from services.search.domain.revisions import newest_revisions
from services.search.domain.window import Found, Leg, window_of_chunks
from services.search.legs import LegRun, Legs
from services.search.ports import Generation
from services.search.query_terms import QueryTerms, TermLookup
from services.search.settings import SearchSettings
from services.search.time_limits import TimeLimits
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.declaration import Declaration
from services.shared.catalog.judgments import Judgment
from services.shared.clients.embedding import EmbeddingClient
from services.shared.index.chunk import Matrix, StoredChunk, Vector
from services.shared.index.filters import validate
from services.shared.index.opening import open_index
from services.shared.runtime.errors import PlumblineError
from services.shared.runtime.rpc_metrics import RpcMetrics
from services.shared.runtime.telemetry import build_telemetry

# Nobody waits for an answer here, so no part is left out for being slow.
_PATIENCE_S = 60.0
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Captured:
    """A collection as it was captured: how it is declared, what answered, and its judged queries, by their ids."""

    declaration: Declaration
    generation_id: str
    model: str
    queries: tuple[CapturedQuery, ...]


async def capture(
    settings: SearchSettings, collection: str, *, attribute: str | None, filtered: bool = True
) -> Captured:
    """What the legs find for the collection's judged queries; `attribute` is the field whose values are spread.

    Raises Failure when it has none, or a leg does not answer.
    """
    catalog = await Catalog.open(settings.catalog_url.get_secret_value())
    try:
        stored = await catalog.collections.get(collection)
        judged = await _judgments(catalog, collection)
    except PlumblineError as error:
        raise Failure(f"{collection}: {error.message}") from None
    finally:
        await catalog.close()
    if not judged:
        raise Failure(f"{collection} has no judged queries; put some to /v1/collections/{collection}/judgments")
    async with _asking(settings) as asking:
        generation = await asking.catalog.generation(collection, "")
        progress = ProgressLine(f"asked  {collection:<16}", len(judged), "queries")
        queries = []
        for number, judgment in enumerate(judged, start=1):
            query = _query(stored.declaration, judgment)
            condition = _condition(stored.declaration, judgment if filtered else replace(judgment, filter=None))
            runs, terms = await asking.ask(query, condition, generation)
            queries.append(captured_query(judgment, query, runs, terms, attribute=attribute))
            progress.show(number)
        progress.finish()
    return Captured(stored.declaration, generation.id, generation.model, tuple(queries))


async def _judgments(catalog: Catalog, collection: str) -> list[Judgment]:
    judged: list[Judgment] = []
    after: str | None = None
    while True:
        page = await catalog.judgments.list(collection, after=after, limit=_PAGE)
        judged += page.judgments
        if page.next is None:
            return judged
        after = page.next


@dataclass(frozen=True, slots=True)
class _Asking:
    """The parts of a search that come before fusion."""

    catalog: SharedCatalog
    legs: Legs
    terms: TermLookup

    async def ask(
        self, query: Query, condition: Condition, generation: Generation
    ) -> tuple[Mapping[Mode, LegRun], QueryTerms | None]:
        runs = await self.legs.run(query, condition, generation)
        terms, _ = await self.terms.look_up(query, generation)
        for mode, run in runs.items():
            if run.failure:
                raise Failure(f"the {mode} leg did not answer: {run.failure.message}")
        return runs, terms


@asynccontextmanager
async def _asking(settings: SearchSettings) -> AsyncIterator[_Asking]:
    telemetry, metrics = build_telemetry("tune", "local", processor=None), RpcMetrics("tune", CollectorRegistry())
    limits = TimeLimits(_PATIENCE_S, _PATIENCE_S, _PATIENCE_S, _PATIENCE_S, _PATIENCE_S, reserve_s=0.0)
    index = await open_index(settings)
    catalog = SharedCatalog(settings.catalog_url.get_secret_value())
    embedding = EmbeddingClient(settings.embedding_target, telemetry, metrics)
    try:
        yield _Asking(catalog, Legs(index, EmbeddingService(embedding), limits), TermLookup(catalog, limits))
    finally:
        await embedding.close()
        await catalog.close()
        await index.close()


def _query(declaration: Declaration, judgment: Judgment) -> Query:
    has = declaration.resolved_settings().retrieval
    retrieval = Retrieval(
        depth=has.depth, window=has.window, collapse_by_document=has.collapse_by_document, synonyms=has.synonyms
    )
    locale = judgment.locale or declaration.locale
    return Query(declaration.name, retrieval, text=judgment.query, locale=locale)


def _condition(declaration: Declaration, judgment: Judgment) -> Condition:
    wanted = parse_filter(judgment.filter)
    return Condition(validate(wanted, declaration.fields) if wanted else None, declaration.fields)


def captured_query(
    judgment: Judgment,
    query: Query,
    runs: Mapping[Mode, LegRun],
    terms: QueryTerms | None,
    *,
    attribute: str | None,
) -> CapturedQuery:
    """What search would fuse: each document in its newest revision, keyword scores of the frequencies of now."""
    newest = newest_revisions(hit.chunk for run in runs.values() for hit in run.hits)
    chunks: dict[str, StoredChunk] = {}
    legs: dict[Mode, tuple[Found, ...]] = {}
    for mode, run in runs.items():
        current = [hit for hit in run.hits if hit.chunk.revision == newest[hit.chunk.document_id]]
        chunks |= {hit.chunk.chunk_id: hit.chunk for hit in current}
        found = [Found(hit.chunk.chunk_id, hit.chunk.document_id, hit.score) for hit in current]
        if mode is Mode.KEYWORD and terms:
            found = with_exact_scores(found, {one.chunk_id: chunks[one.chunk_id].analysed for one in found}, terms.bm25)
        legs[mode] = tuple(found)
    query_vector = next((run.query_vector for run in runs.values() if run.query_vector is not None), None)
    vectors = _nearest(list(chunks.values()), query_vector)
    given = {one.chunk_id: one.score for one in legs.get(Mode.KEYWORD, ())}
    cosines = vectors @ query_vector if query_vector is not None else np.zeros(len(chunks))
    passages = {key: Passage(f"{chunk.context}\n{chunk.text}", chunk.analysed) for key, chunk in chunks.items()}
    return CapturedQuery(
        id=judgment.id,
        relevance=judgment.relevance,
        legs=legs,
        chunks={
            key: CapturedChunk(
                document_id=chunk.document_id,
                date=chunk.date,
                attribute=_attribute(chunk, attribute),
                keyword_score=_keyword_score(chunk, given.get(key), terms),
                cosine=float(cosines[row]),
                mass=terms.mass.share_in(chunk.analysed) if terms else 1.0,
                row=row,
            )
            for row, (key, chunk) in enumerate(chunks.items())
        },
        exact=exact_matches(query.text, query.locale, passages),
        vectors=vectors,
        tokens=tuple(keyword_tokens(query.text, query.locale, query.retrieval.synonyms)),
        query_vector=query_vector,
        completion_s=_completion_s(query, legs, chunks, terms),
    )


def _completion_s(
    query: Query, legs: Mapping[Mode, Sequence[Found]], chunks: Mapping[str, StoredChunk], terms: QueryTerms | None
) -> float:
    if terms is None:
        return 0.0
    found = [Leg(mode, leg, query.weights[mode]) for mode, leg in legs.items()]
    window = window_of_chunks(found, exact=frozenset(), k=query.retrieval.rrf_k, size=query.retrieval.window)
    analysed = {candidate.chunk_id: chunks[candidate.chunk_id].analysed for candidate in window}
    began = time.thread_time()
    with_keyword_scores(window, analysed, terms.bm25)
    return time.thread_time() - began


def _keyword_score(chunk: StoredChunk, given: float | None, terms: QueryTerms | None) -> float | None:
    return given if given is not None or terms is None else terms.bm25.score(chunk.analysed)


def _attribute(chunk: StoredChunk, field: str | None) -> str | None:
    value = field_value(chunk, field) if field else None
    return None if value is None else str(value)


def _nearest(chunks: Sequence[StoredChunk], query_vector: Vector | None) -> Matrix:
    """Of each chunk the window that is nearest to the query, in the half precision in which ranking gets it."""
    rows = []
    for chunk in chunks:
        assert chunk.vectors is not None, "the legs ask for vectors"
        rows.append(chunk.vectors[0 if query_vector is None else int(np.argmax(chunk.vectors @ query_vector))])
    return np.asarray(rows, dtype=np.float16).astype(np.float32).reshape(len(rows), -1)
