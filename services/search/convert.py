"""Messages of search, and of the services that it calls, to and from its own values; bad ones become `InvalidInput`."""

import hashlib
from collections.abc import Mapping

from plumbline.embedding.v1 import embedding_pb2, vectors_pb2
from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import search_pb2 as pb
from services.search.condition import Condition
from services.search.domain.cursor import PARTS
from services.search.domain.invalid_query import InvalidQuery
from services.search.domain.query import Mode, Query, Retrieval
from services.search.domain.signals import Signals
from services.search.domain.window import Candidate, LegRank
from services.search.page import Hit, Page, Timings
from services.search.ports import EmbeddedQuery, Generation, Order, Ranked, RankingTask
from services.shared.clients.filters import field_types_from_proto, filter_from_proto, value_to_proto
from services.shared.clients.vectors import pack_vectors, unpack_vectors
from services.shared.cosines import cosines_with
from services.shared.index.chunk import StoredChunk
from services.shared.index.fields import BUILT_IN_FIELDS
from services.shared.index.filters import validate
from services.shared.runtime.errors import InvalidInput

_MODES: Mapping["pb.Mode", Mode] = {
    pb.MODE_UNSPECIFIED: Mode.HYBRID,
    pb.MODE_HYBRID: Mode.HYBRID,
    pb.MODE_KEYWORD: Mode.KEYWORD,
    pb.MODE_VECTOR: Mode.VECTOR,
}
# What may differ between two pages of one search.
_OF_THE_PAGE = ("limit", "offset", "cursor", "explain")


def query_from_proto(request: pb.SearchRequest) -> Query:
    """What is asked for, within its bounds."""
    for name in ("retrieval", "ranking"):
        if not request.HasField(name):
            raise InvalidInput(f"send the collection's {name} settings", field=name)
    if request.mode not in _MODES:
        raise InvalidInput(f"a mode is one of {', '.join(Mode)}", field="mode")
    diversify_by, fields = request.ranking.diversify_by, {*request.retrieval.fields, *BUILT_IN_FIELDS}
    if diversify_by and diversify_by not in fields:
        raise InvalidInput(
            f"there is no field '{diversify_by}'; the fields are: {', '.join(sorted(fields))}",
            field="ranking.diversify_by",
        )
    try:
        return Query(
            collection=request.collection,
            retrieval=_retrieval_from_proto(request.retrieval),
            text=request.query,
            like_document_id=request.like_document_id,
            locale=request.locale or request.retrieval.locale,
            generation_id=request.generation_id,
            mode=_MODES[request.mode],
            limit=request.limit,
            offset=request.offset,
            cursor=request.cursor,
            explain=request.explain,
            ranking=request.ranking.SerializeToString(deterministic=True),
            diversify_by=diversify_by,
            compares_hits=_compares_hits(request.ranking),
            cross_encoder_budget_s=_cross_encoder_budget_s(request),
            fingerprint=_fingerprint(request),
        )
    except InvalidQuery as error:
        raise InvalidInput(error.message, field=error.field) from None


def _retrieval_from_proto(message: pb.RetrievalSettings) -> Retrieval:
    return Retrieval(
        rrf_k=message.rrf_k,
        keyword_weight=message.keyword_weight,
        vector_weight=message.vector_weight,
        depth=message.depth,
        window=message.window,
        collapse_by_document=message.collapse_by_document,
        synonyms={synonym.term: tuple(synonym.expansions) for synonym in message.synonyms},
        keyword_gate=message.keyword_gate,
    )


def _cross_encoder_budget_s(request: pb.SearchRequest) -> float:
    return request.ranking.cross_encoder_budget_ms / 1000 if request.ranking.cross_encoder else 0.0


def _compares_hits(settings: ranking_pb2.RankingSettings) -> bool:
    """Whether ranking compares hits with one another, by their vectors."""
    return settings.mmr or settings.near_duplicate_cosine > 0


def _fingerprint(request: pb.SearchRequest) -> bytes:
    asked = pb.SearchRequest()
    asked.CopyFrom(request)
    for name in _OF_THE_PAGE:
        asked.ClearField(name)
    return asked.SerializeToString(deterministic=True)


def condition_from_proto(request: pb.SearchRequest) -> Condition:
    """The filter in its normal form, with the fields that it may name."""
    fields = field_types_from_proto(request.retrieval.fields, path="retrieval.fields")
    if not request.HasField("filter"):
        return Condition(None, fields)
    return Condition(validate(filter_from_proto(request.filter), fields), fields)


def page_to_proto(page: Page, *, explain: bool) -> pb.SearchResponse:
    """The response, with ledgers when it is to `explain`."""
    return pb.SearchResponse(
        generation=pb.Generation(id=page.generation_id, revision=page.revision),
        degraded=page.degraded,
        hits=[_hit_to_proto(hit, explain=explain) for hit in page.hits],
        next=page.next,
        window=page.window,
        signals=None if page.signals is None else _signals_to_proto(page.signals),
        timings=_timings_to_proto(page.timings),
    )


def _hit_to_proto(hit: Hit, *, explain: bool) -> pb.Hit:
    chunk = hit.chunk
    return pb.Hit(
        rank=hit.rank,
        score=hit.score,
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        title=chunk.title,
        uri=chunk.uri,
        heading_path=chunk.heading_path,
        pages=chunk.pages,
        text=chunk.text,
        metadata={field: value_to_proto(value) for field, value in chunk.metadata.items()},
        also=[
            pb.AlsoChunk(
                chunk_id=also.chunk.chunk_id,
                heading_path=also.chunk.heading_path,
                fused_place=also.fused_place,
                document_id="" if also.chunk.document_id == chunk.document_id else also.chunk.document_id,
            )
            for also in hit.also
        ],
        ledger=_ledger_to_proto(hit) if explain else None,
        locale=chunk.locale,
        date=chunk.date,
        ordinal=chunk.ordinal,
        start=chunk.start,
        end=chunk.end,
        tokens=chunk.tokens,
    )


def _ledger_to_proto(hit: Hit) -> ranking_pb2.Ledger | None:
    """Ranking's own ledger; where ranking was skipped, what the legs gave."""
    if hit.ledger:
        return ranking_pb2.Ledger.FromString(hit.ledger)
    if hit.candidate is None:
        return None
    return ranking_pb2.Ledger(
        keyword=_leg_to_proto(hit.candidate, Mode.KEYWORD),
        vector=_leg_to_proto(hit.candidate, Mode.VECTOR),
        fused_score=hit.candidate.fused_score,
        exact=hit.candidate.exact,
        multiplier=1.0,
    )


def _signals_to_proto(signals: Signals) -> pb.Signals:
    return pb.Signals(
        best_cosine=signals.best_cosine,
        first_cosine=signals.first_cosine,
        cosine_gap=signals.cosine_gap,
        idf_coverage=signals.idf_coverage,
        keyword_share=signals.keyword_share,
        legs_agree=signals.legs_agree,
        filtered_count=signals.filtered_count,
        model=signals.model,
    )


def _timings_to_proto(timings: Timings) -> pb.SearchTimings:
    return pb.SearchTimings(
        embed_ms=timings.embed or 0.0,
        keyword_ms=timings.keyword or 0.0,
        vector_ms=timings.vector or 0.0,
        fuse_ms=timings.fuse or 0.0,
        rank_ms=timings.rank or 0.0,
        total_ms=timings.total,
    )


def chunks_to_proto(generation: Generation, chunks: list[StoredChunk]) -> pb.ListChunksResponse:
    """The chunks of one document."""
    return pb.ListChunksResponse(
        generation=pb.Generation(id=generation.id, revision=generation.revision),
        chunks=[
            pb.Chunk(
                chunk_id=chunk.chunk_id,
                heading_path=chunk.heading_path,
                text=chunk.text,
                tokens=chunk.tokens,
                pages=chunk.pages,
                ordinal=chunk.ordinal,
            )
            for chunk in chunks
        ],
    )


def embed_request_to_proto(text: str, *, model: str, dimensions: int) -> embedding_pb2.EmbedRequest:
    """The request for a query's vectors."""
    return embedding_pb2.EmbedRequest(
        model=model,
        purpose=embedding_pb2.PURPOSE_QUERY,
        texts=[text],
        dtype=vectors_pb2.VECTOR_DTYPE_FLOAT32,
        dimensions=dimensions,
    )


def embedded_query_from_proto(response: embedding_pb2.EmbedResponse) -> EmbeddedQuery:
    """The query's vectors, one row per window of the model."""
    return EmbeddedQuery(unpack_vectors(response.vectors, field="vectors"), response.model.weights_sha256)


def ranking_task_to_proto(task: RankingTask) -> ranking_pb2.RankRequest:
    """The request to order a window, with the cosines that the vector leg did not give.

    Vectors go along only where hits are compared with one another: 100 of 768 dimensions cost 2 ms on the way. Half
    precision is enough for them and halves the bytes.
    """
    half = vectors_pb2.VECTOR_DTYPE_FLOAT16
    settings = ranking_pb2.RankingSettings.FromString(task.settings)
    # Where a document's like is wanted there is no query to read.
    settings.cross_encoder &= bool(task.query)
    hashed = settings.near_duplicate_cosine > 0
    compared = _compares_hits(settings)
    cosines = cosines_with(task.vectors, task.query_vector)
    return ranking_pb2.RankRequest(
        candidates=[
            ranking_pb2.Candidate(
                id=candidate.chunk_id,
                fused_score=candidate.fused_score,
                keyword=_leg_to_proto(candidate, Mode.KEYWORD),
                vector=_leg_to_proto(candidate, Mode.VECTOR, otherwise=cosine),
                exact=candidate.exact,
                date=date,
                attribute=attribute,
                vector_row=row if compared else None,
                text_sha256=hashlib.sha256(text.encode()).hexdigest() if hashed else "",
                # What is embedded is what the cross-encoder reads.
                text=f"{context}\n{text}".strip() if settings.cross_encoder else "",
            )
            for row, (candidate, date, attribute, text, context, cosine) in enumerate(
                zip(task.candidates, task.dates, task.attributes, task.texts, task.contexts, cosines, strict=True)
            )
        ],
        vectors=pack_vectors(task.vectors, half) if compared else None,
        query=task.query if settings.cross_encoder else "",
        settings=settings,
        fused_top=task.fused_top,
        fused_floor=task.fused_floor,
        without_ledgers=not task.explain,
    )


def _leg_to_proto(candidate: Candidate, mode: Mode, *, otherwise: float | None = None) -> ranking_pb2.LegRank:
    """What the leg knows of the candidate; a score that it did not give is completed by `otherwise`."""
    leg = candidate.legs.get(mode, LegRank())
    if leg.score is None and otherwise is not None:
        leg = LegRank(leg.rank, otherwise, leg.fused_share, completed=True)
    return ranking_pb2.LegRank(rank=leg.rank, score=leg.score, completed=leg.completed, fused_share=leg.fused_share)


def candidates_accounted_for(response: ranking_pb2.RankResponse) -> list[str]:
    """The candidates that an order holds, as hits or as near-duplicates that a hit stands for."""
    return [id_ for hit in response.ranked for id_ in (hit.id, *hit.ledger.duplicates)]


def order_from_proto(response: ranking_pb2.RankResponse) -> Order:
    """The candidates in their final order, and the steps that were skipped."""
    ranked = [
        Ranked(hit.id, hit.score, hit.ledger.SerializeToString(), tuple(hit.ledger.duplicates))
        for hit in response.ranked
    ]
    return Order(ranked, [part for part in response.degraded if part in PARTS])
