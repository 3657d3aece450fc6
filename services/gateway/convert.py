"""Bodies of the HTTP API to and from the messages of the services behind it."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Literal

import grpc

from plumbline.answer.v1 import answer_pb2
from plumbline.embedding.v1 import embedding_pb2
from plumbline.ingest.v1 import ingest_pb2
from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import filter_pb2, search_pb2
from services.gateway.bodies.answers import (
    AnswerBody,
    AnswerEvent,
    AnswerTimings,
    CitationEvent,
    DeltaEvent,
    DoneEvent,
    FinishReason,
    Mode,
    RefusalEvent,
    RefusalReason,
    Source,
    SourcesEvent,
    UnsupportedEvent,
    Usage,
)
from services.gateway.bodies.collections import ActiveGeneration, CollectionBody, CollectionView
from services.gateway.bodies.documents import CONTENT_KINDS, ChunkView, DocumentBody
from services.gateway.bodies.generations import BuildBegun, BuildBody, Gate, PromoteBody, Promotion, RolledBack
from services.gateway.bodies.jobs import DocumentFailure, JobState, JobView, Outcomes
from services.gateway.bodies.search import (
    AlsoChunk,
    GenerationRef,
    Hit,
    Ledger,
    LegRank,
    Place,
    SearchBody,
    SearchPage,
    SearchTimings,
)
from services.gateway.bodies.status import GeneratorStatus, ModelStatus
from services.gateway.overrides import ranking_settings, retrieval_settings
from services.gateway.ports import FileBegins, KnownCollection
from services.shared.catalog.fields import check_fields
from services.shared.clients.filters import (
    field_types_from_proto,
    field_types_to_proto,
    filter_to_proto,
    value_from_proto,
    value_to_proto,
)
from services.shared.clients.search_settings import ranking_to_proto, retrieval_to_proto
from services.shared.index.fields import FieldValue
from services.shared.runtime.errors import PlumblineError, error_from_code

_SEARCH_MODES = {
    "hybrid": search_pb2.MODE_HYBRID,
    "keyword": search_pb2.MODE_KEYWORD,
    "vector": search_pb2.MODE_VECTOR,
}
_RELEVANCE_KINDS: Mapping["ranking_pb2.Relevance", Literal["fused", "completed", "cross_encoder"]] = {
    ranking_pb2.RELEVANCE_COMPLETED: "completed",
    ranking_pb2.RELEVANCE_CROSS_ENCODER: "cross_encoder",
}
_ANSWER_MODES: dict[Mode, "answer_pb2.Mode"] = {
    "DOCUMENTS": answer_pb2.MODE_DOCUMENTS,
    "GENERAL_KNOWLEDGE": answer_pb2.MODE_GENERAL_KNOWLEDGE,
}
_REFUSAL_REASONS: dict["answer_pb2.RefusalReason", RefusalReason] = {
    answer_pb2.REFUSAL_REASON_LOW_CONFIDENCE: "low_confidence",
    answer_pb2.REFUSAL_REASON_NOTHING_MATCHES_FILTER: "nothing_matches_filter",
    answer_pb2.REFUSAL_REASON_GENERATOR_REFUSED: "generator_refused",
}
_FINISH_REASONS: dict["answer_pb2.FinishReason", FinishReason] = {
    answer_pb2.FINISH_REASON_STOP: "stop",
    answer_pb2.FINISH_REASON_LENGTH: "length",
    answer_pb2.FINISH_REASON_REFUSAL: "refusal",
}
_JOB_STATES: dict["ingest_pb2.JobState", JobState] = {
    ingest_pb2.JOB_STATE_QUEUED: "queued",
    ingest_pb2.JOB_STATE_RUNNING: "running",
    ingest_pb2.JOB_STATE_SUCCEEDED: "succeeded",
    ingest_pb2.JOB_STATE_FAILED: "failed",
    ingest_pb2.JOB_STATE_CANCELLED: "cancelled",
}


def search_to_proto(body: SearchBody, known: KnownCollection) -> search_pb2.SearchRequest:
    """The search with the collection's settings and what the request wants otherwise. Raises InvalidInput."""
    return search_pb2.SearchRequest(
        collection=body.collection,
        query=body.query or "",
        like_document_id=body.like or "",
        mode=_SEARCH_MODES[body.mode],
        limit=body.limit,
        offset=body.offset,
        cursor=body.cursor or "",
        explain=body.explain,
        locale=body.locale or "",
        filter=_filter_to_proto(body),
        retrieval=retrieval_to_proto(retrieval_settings(known, body.retrieval), known.collection.declaration),
        ranking=ranking_to_proto(ranking_settings(known, body.ranking), clock_date=body.ranking.clock_date or ""),
    )


def field_of_search(field: str | None) -> str | None:
    """A field of the message as the caller of `POST /v1/search` wrote it."""
    return "like" if field == "like_document_id" else field


def _filter_to_proto(body: SearchBody | AnswerBody) -> filter_pb2.Filter | None:
    return None if body.filter is None else filter_to_proto(body.filter)


def page_from_proto(reply: search_pb2.SearchResponse, *, request_id: str, stale: bool) -> SearchPage:
    """The page; with a `stale` collection the catalog is degraded too."""
    timings = reply.timings
    return SearchPage(
        request_id=request_id,
        generation=_generation_from_proto(reply.generation),
        degraded=_degraded(reply.degraded, stale),
        next=reply.next or None,
        hits=[_hit_from_proto(hit) for hit in reply.hits],
        window=reply.window,
        timings_ms=SearchTimings(
            embed=_ms(timings.embed_ms),
            keyword=_ms(timings.keyword_ms),
            vector=_ms(timings.vector_ms),
            fuse=_ms(timings.fuse_ms),
            rank=_ms(timings.rank_ms),
            total=_ms(timings.total_ms),
        ),
    )


def _ms(exact: float) -> float:
    return round(exact, 3)


def _generation_from_proto(message: search_pb2.Generation) -> GenerationRef:
    return GenerationRef(id=message.id, revision=message.revision)


def _degraded(parts: Sequence[str], stale: bool) -> list[str]:
    return sorted({*parts, "catalog"} if stale else parts)


def _hit_from_proto(hit: search_pb2.Hit) -> Hit:
    return Hit(
        rank=hit.rank,
        score=hit.score,
        chunk_id=hit.chunk_id,
        document_id=hit.document_id,
        title=hit.title,
        uri=hit.uri or None,
        heading_path=list(hit.heading_path),
        pages=list(hit.pages) or None,
        text=hit.text,
        metadata={name: value_from_proto(value) for name, value in sorted(hit.metadata.items())},
        locale=hit.locale,
        date=hit.date or None,
        also=[_also_from_proto(also) for also in hit.also] or None,
        ledger=_ledger_from_proto(hit.ledger) if hit.HasField("ledger") else None,
    )


def _also_from_proto(also: search_pb2.AlsoChunk) -> AlsoChunk:
    return AlsoChunk(
        chunk_id=also.chunk_id,
        heading_path=list(also.heading_path),
        fused_place=also.fused_place,
        document_id=also.document_id or None,
    )


def _ledger_from_proto(ledger: ranking_pb2.Ledger) -> Ledger:
    return Ledger(
        keyword=_leg_from_proto(ledger.keyword),
        vector=_leg_from_proto(ledger.vector),
        fused_score=ledger.fused_score,
        exact=ledger.exact,
        relevance=ledger.relevance,
        relevance_kind=_RELEVANCE_KINDS.get(ledger.relevance_kind, "fused"),
        cross_encoder_score=ledger.cross_encoder_score if ledger.HasField("cross_encoder_score") else None,
        age_years=ledger.age_years if ledger.HasField("age_years") else None,
        multiplier=ledger.multiplier,
        marginal_gain=ledger.marginal_gain if ledger.HasField("marginal_gain") else None,
        redundancy=ledger.redundancy if ledger.HasField("redundancy") else None,
        places=[Place(step=place.step, place=place.place) for place in ledger.places],
        floor_reason=ledger.floor_reason or None,
        duplicates=list(ledger.duplicates) or None,
    )


def _leg_from_proto(leg: ranking_pb2.LegRank) -> LegRank:
    return LegRank(
        rank=leg.rank or None,
        score=leg.score if leg.HasField("score") else None,
        completed=leg.completed,
        fused_share=leg.fused_share,
    )


def chunks_to_proto(collection: str, document_id: str) -> search_pb2.ListChunksRequest:
    """The question for a document's chunks."""
    return search_pb2.ListChunksRequest(collection=collection, document_id=document_id)


def chunks_from_proto(reply: search_pb2.ListChunksResponse) -> list[ChunkView]:
    """The chunks in document order."""
    return [
        ChunkView(
            chunk_id=chunk.chunk_id,
            heading_path=list(chunk.heading_path),
            pages=list(chunk.pages) or None,
            text=chunk.text,
            tokens=chunk.tokens,
        )
        for chunk in reply.chunks
    ]


def answer_to_proto(body: AnswerBody, known: KnownCollection) -> answer_pb2.AnswerRequest:
    """The question with the search it is to run. Raises InvalidInput."""
    settings, locale = known.settings.answer, body.locale or known.collection.declaration.locale
    return answer_pb2.AnswerRequest(
        question=body.question,
        mode=_ANSWER_MODES[body.mode],
        max_tokens=body.max_tokens,
        search=search_pb2.SearchRequest(
            collection=body.collection,
            mode=search_pb2.MODE_HYBRID,
            locale=body.locale or "",
            filter=_filter_to_proto(body),
            retrieval=retrieval_to_proto(retrieval_settings(known, body.retrieval), known.collection.declaration),
            ranking=ranking_to_proto(ranking_settings(known, body.ranking), clock_date=body.ranking.clock_date or ""),
        ),
        settings=answer_pb2.AnswerSettings(
            refusal_sentence=settings.refusal_sentence_in(locale),
            nothing_matches_sentence=settings.nothing_matches_sentence_in(locale),
            general_knowledge_allowed=settings.general_knowledge_allowed,
            same_field=settings.same_field or "",
            fall_back_to_extractive=settings.fall_back_to_extractive,
            max_passage_tokens=settings.max_passage_tokens,
            min_confidence=settings.min_confidence,
            profile=known.collection.declaration.profile,
        ),
    )


def event_from_proto(reply: answer_pb2.AnswerResponse, *, request_id: str, stale: bool) -> AnswerEvent:
    """One event of an answer; a failure is raised as the error that it tells."""
    mode: Mode = "GENERAL_KNOWLEDGE" if reply.mode == answer_pb2.MODE_GENERAL_KNOWLEDGE else "DOCUMENTS"
    match reply.WhichOneof("event"):
        case "sources":
            return SourcesEvent(
                mode=mode,
                sources=[_source_from_proto(source) for source in reply.sources.sources],
                generation=_generation_from_proto(reply.sources.generation),
            )
        case "delta":
            return DeltaEvent(mode=mode, text=reply.delta.text)
        case "citation":
            cited = reply.citation
            return CitationEvent(
                mode=mode,
                source=cited.source,
                start=cited.start,
                end=cited.end,
                support=cited.support,
                supported=cited.supported,
            )
        case "unsupported":
            claim = reply.unsupported
            return UnsupportedEvent(
                mode=mode, source=claim.source, start=claim.start, end=claim.end, reasons=list(claim.reasons)
            )
        case "refusal":
            return RefusalEvent(mode=mode, text=reply.refusal.text, reason=_REFUSAL_REASONS[reply.refusal.reason])
        case "done":
            return _done_from_proto(reply.done, mode, request_id=request_id, stale=stale)
        case _:
            raise _failure_from_proto(reply.failure)


def _source_from_proto(source: answer_pb2.Source) -> Source:
    return Source(
        number=source.number,
        document_id=source.document_id,
        chunk_ids=list(source.chunk_ids),
        pages=list(source.pages) or None,
        title=source.title,
        uri=source.uri or None,
        heading_path=list(source.heading_path),
        text=source.text,
    )


def _done_from_proto(done: answer_pb2.Done, mode: Mode, *, request_id: str, stale: bool) -> DoneEvent:
    return DoneEvent(
        mode=mode,
        request_id=request_id,
        finish_reason=_FINISH_REASONS[done.finish_reason],
        confidence=done.confidence if done.HasField("confidence") else None,
        calibration=done.calibration,
        generator=done.generator,
        usage=Usage(prompt_tokens=done.usage.prompt_tokens, completion_tokens=done.usage.completion_tokens),
        timings_ms=AnswerTimings(
            search=_ms(done.timings.search_ms),
            first_token=_ms(done.timings.first_token_ms),
            generate=_ms(done.timings.generate_ms),
            total=_ms(done.timings.total_ms),
        ),
        generation=_generation_from_proto(done.generation) if done.HasField("generation") else None,
        degraded=_degraded(done.degraded, stale),
        dropped_markers=done.dropped_markers,
    )


def _failure_from_proto(failure: answer_pb2.Failure) -> PlumblineError:
    code = getattr(grpc.StatusCode, failure.code, grpc.StatusCode.UNKNOWN)
    retry_after_s = failure.retry_after_s if failure.HasField("retry_after_s") else None
    return error_from_code(code, failure.message, retry_after_s=retry_after_s)


def collection_to_proto(body: CollectionBody) -> ingest_pb2.CreateCollectionRequest:
    """The declaration. Raises InvalidInput naming `fields.<name>` for a type that there is not."""
    collection = ingest_pb2.Collection(
        name=body.name,
        profile=body.profile,
        locale=body.locale,
        fields=field_types_to_proto(check_fields(body.fields)),
        settings_json=json.dumps(body.settings),
    )
    return ingest_pb2.CreateCollectionRequest(collection=collection)


def new_collection_from_proto(reply: ingest_pb2.CreateCollectionResponse) -> CollectionView:
    """A collection that was just made: nothing is in it."""
    declared = reply.collection
    return CollectionView(
        name=declared.name,
        profile=declared.profile,
        locale=declared.locale,
        fields={name: kind.value for name, kind in sorted(field_types_from_proto(declared.fields).items())},
        settings=json.loads(declared.settings_json or "{}"),
        generation=ActiveGeneration(id=reply.generation_id, revision=0, documents=0, chunks=0, lag=0, optimized=True),
    )


def settings_to_proto(name: str, settings: Mapping[str, object]) -> ingest_pb2.UpdateCollectionRequest:
    """New overrides, whole."""
    return ingest_pb2.UpdateCollectionRequest(name=name, settings_json=json.dumps(settings))


def deletion_of_collection_to_proto(name: str) -> ingest_pb2.DeleteCollectionRequest:
    """The wish that a collection be gone."""
    return ingest_pb2.DeleteCollectionRequest(name=name)


def documents_to_proto(collection: str, documents: Sequence[DocumentBody]) -> ingest_pb2.PutDocumentsRequest:
    """Documents to store."""
    return ingest_pb2.PutDocumentsRequest(
        collection=collection, documents=[_document_to_proto(document) for document in documents]
    )


def _document_to_proto(document: DocumentBody) -> ingest_pb2.Document:
    (content,) = (kind for kind in CONTENT_KINDS if getattr(document, kind) is not None)
    return ingest_pb2.Document(
        id=document.id or "",
        title=document.title,
        uri=document.uri,
        locale=document.locale,
        date=document.date,
        metadata=_metadata_to_proto(document.metadata),
        **{content: getattr(document, content)},
    )


def _metadata_to_proto(metadata: Mapping[str, FieldValue | None]) -> dict[str, filter_pb2.Value]:
    """A null is left out, which is the same as a missing value."""
    return {name: value_to_proto(value) for name, value in metadata.items() if value is not None}


def deletion_to_proto(collection: str, document_id: str) -> ingest_pb2.DeleteDocumentsRequest:
    """The wish that a document be gone."""
    return ingest_pb2.DeleteDocumentsRequest(collection=collection, document_ids=[document_id])


async def upload_to_proto(
    collection: str, metadata: Mapping[str, FieldValue], pieces: AsyncIterator[FileBegins | bytes]
) -> AsyncIterator[ingest_pb2.UploadFilesRequest]:
    """An upload as it is sent, piece by piece; raises what `pieces` raises."""
    start = ingest_pb2.UploadStart(collection=collection, metadata=_metadata_to_proto(metadata))
    yield ingest_pb2.UploadFilesRequest(upload=start)
    async for piece in pieces:
        if isinstance(piece, bytes):
            yield ingest_pb2.UploadFilesRequest(data=piece)
        else:
            begins = ingest_pb2.FileStart(name=piece.name, media_type=piece.media_type)
            yield ingest_pb2.UploadFilesRequest(file=begins)


def watch_to_proto(job_id: str) -> ingest_pb2.WatchJobRequest:
    """The wish to see a job change."""
    return ingest_pb2.WatchJobRequest(job_id=job_id)


def cancellation_to_proto(job_id: str) -> ingest_pb2.CancelJobRequest:
    """The wish that a job end."""
    return ingest_pb2.CancelJobRequest(job_id=job_id)


def job_from_proto(job: ingest_pb2.Job) -> JobView:
    """How far a job is."""
    outcomes = job.outcomes
    return JobView(
        job_id=job.job_id,
        collection=job.collection,
        state=_JOB_STATES[job.state],
        total=job.total,
        done=job.done,
        outcomes=Outcomes(
            reused=outcomes.reused, embedded=outcomes.embedded, deleted=outcomes.deleted, failed=outcomes.failed
        ),
        failures=[DocumentFailure(document_id=one.document_id, reason=one.reason) for one in job.failures],
    )


def model_to_proto() -> embedding_pb2.DescribeModelRequest:
    """The question for the default model's facts."""
    return embedding_pb2.DescribeModelRequest()


def model_from_proto(reply: embedding_pb2.DescribeModelResponse) -> ModelStatus:
    """The facts of the model."""
    return ModelStatus(
        name=reply.model.name,
        weights_sha256=reply.model.weights_sha256,
        dimensions=reply.model.dimensions,
        max_tokens=reply.max_tokens,
        languages=list(reply.languages),
        kind=reply.kind,
        device=reply.device,
        dtype=reply.dtype,
    )


def generator_to_proto() -> answer_pb2.DescribeGeneratorRequest:
    """The question for the generator."""
    return answer_pb2.DescribeGeneratorRequest()


def generator_from_proto(reply: answer_pb2.DescribeGeneratorResponse) -> GeneratorStatus:
    """What writes answers."""
    return GeneratorStatus(
        name=reply.generator, general_knowledge=reply.general_knowledge, context_tokens=reply.context_tokens
    )


def build_to_proto(collection: str, body: BuildBody) -> ingest_pb2.BuildGenerationRequest:
    """The wish for a new generation."""
    return ingest_pb2.BuildGenerationRequest(collection=collection, model=body.model, profile=body.profile)


def build_from_proto(reply: ingest_pb2.BuildGenerationResponse) -> BuildBegun:
    """The generation and its job."""
    return BuildBegun(generation_id=reply.generation.generation_id, job_id=reply.job_id)


def promotion_to_proto(collection: str, generation_id: str, body: PromoteBody) -> ingest_pb2.PromoteGenerationRequest:
    """The wish that a generation serve."""
    return ingest_pb2.PromoteGenerationRequest(
        collection=collection, generation_id=generation_id, max_ndcg_loss=body.max_ndcg_loss
    )


def promotion_from_proto(reply: ingest_pb2.PromoteGenerationResponse) -> Promotion:
    """What serves now, and the gate's figures."""
    gate = reply.gate
    return Promotion(
        generation_id=reply.generation.generation_id,
        gate=Gate(queries=gate.queries, serving_ndcg10=gate.serving_ndcg10, candidate_ndcg10=gate.candidate_ndcg10),
    )


def rollback_to_proto(collection: str) -> ingest_pb2.RollBackGenerationRequest:
    """The wish that the previous generation serve again."""
    return ingest_pb2.RollBackGenerationRequest(collection=collection)


def rollback_from_proto(reply: ingest_pb2.RollBackGenerationResponse) -> RolledBack:
    """What serves now."""
    return RolledBack(generation_id=reply.generation.generation_id)
