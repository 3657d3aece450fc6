"""Messages of the answer service, and of the services it calls, to and from its domain.

Bad values of a caller become `InvalidInput` naming the field.
"""

from collections.abc import Sequence

from plumbline.answer.v1 import answer_pb2 as pb
from plumbline.embedding.v1 import embedding_pb2
from plumbline.search.v1 import search_pb2
from services.answer import events
from services.answer.domain.context import Source
from services.answer.domain.found import Evidence, Found, Generation, Hit
from services.answer.domain.question import AnswerPolicy, Mode, Question
from services.answer.domain.refusal import RefusalReason
from services.answer.ports import Generator
from services.shared.clients.filters import value_from_proto
from services.shared.clients.vectors import unpack_vectors
from services.shared.runtime.errors import InvalidInput, PlumblineError, status_of

MAX_QUESTION = 10_000
MAX_TOKENS = 4096
DEFAULT_TOKENS = 500
DEFAULT_TEMPERATURE = 0.1

_MODES = {
    pb.MODE_UNSPECIFIED: Mode.DOCUMENTS,
    pb.MODE_DOCUMENTS: Mode.DOCUMENTS,
    pb.MODE_GENERAL_KNOWLEDGE: Mode.GENERAL_KNOWLEDGE,
}
_MODES_TO_PROTO = {Mode.DOCUMENTS: pb.MODE_DOCUMENTS, Mode.GENERAL_KNOWLEDGE: pb.MODE_GENERAL_KNOWLEDGE}
_REASONS = {
    RefusalReason.LOW_CONFIDENCE: pb.REFUSAL_REASON_LOW_CONFIDENCE,
    RefusalReason.NOTHING_MATCHES_FILTER: pb.REFUSAL_REASON_NOTHING_MATCHES_FILTER,
    RefusalReason.GENERATOR_REFUSED: pb.REFUSAL_REASON_GENERATOR_REFUSED,
}
_FINISH_REASONS = {
    events.FinishReason.STOP: pb.FINISH_REASON_STOP,
    events.FinishReason.LENGTH: pb.FINISH_REASON_LENGTH,
    events.FinishReason.REFUSAL: pb.FINISH_REASON_REFUSAL,
}


def question_from_proto(request: pb.AnswerRequest) -> Question:
    """The question, every value within its bounds."""
    if not request.question.strip():
        raise InvalidInput("ask something", field="question")
    _within(len(request.question), 1, MAX_QUESTION, "question", "code points")
    if request.mode not in _MODES:
        raise InvalidInput("set mode to MODE_DOCUMENTS or MODE_GENERAL_KNOWLEDGE", field="mode")
    mode = _MODES[request.mode]
    max_tokens = request.max_tokens or DEFAULT_TOKENS
    _within(max_tokens, 1, MAX_TOKENS, "max_tokens", "tokens")
    temperature = request.temperature if request.HasField("temperature") else DEFAULT_TEMPERATURE
    _within(temperature, 0, 2, "temperature")
    if mode is Mode.DOCUMENTS:
        _check_search(request)
    return Question(
        text=request.question,
        mode=mode,
        max_tokens=max_tokens,
        temperature=temperature,
        policy=_policy_from_proto(request),
        search=request.search.SerializeToString(),
        filtered=request.search.HasField("filter"),
        locale=request.search.locale or request.search.retrieval.locale,
    )


def _check_search(request: pb.AnswerRequest) -> None:
    if not request.HasField("search"):
        raise InvalidInput("an answer from documents needs the search to run", field="search")
    if request.search.mode == search_pb2.MODE_KEYWORD:
        raise InvalidInput("confidence comes from vectors; use MODE_HYBRID or MODE_VECTOR", field="search.mode")


def _policy_from_proto(request: pb.AnswerRequest) -> AnswerPolicy:
    settings = request.settings
    for name in ("refusal_sentence", "nothing_matches_sentence"):
        if not getattr(settings, name).strip():
            raise InvalidInput("must not be empty", field=f"settings.{name}")
    _within(settings.max_passage_tokens, 100, 100_000, "settings.max_passage_tokens", "tokens")
    min_confidence = settings.min_confidence if settings.HasField("min_confidence") else None
    if min_confidence is not None:
        _within(min_confidence, 0, 1, "settings.min_confidence")
    return AnswerPolicy(
        refusal_sentence=settings.refusal_sentence.strip(),
        nothing_matches_sentence=settings.nothing_matches_sentence.strip(),
        general_knowledge_allowed=settings.general_knowledge_allowed,
        same_field=settings.same_field,
        fall_back_to_extractive=settings.fall_back_to_extractive,
        max_passage_tokens=settings.max_passage_tokens,
        min_confidence=min_confidence,
    )


def _within(value: float, low: float, high: float, field: str, unit: str = "") -> None:
    if not low <= value <= high:  # NaN fails too
        raise InvalidInput(f"must be from {low} to {high} {unit}".rstrip() + f", got {value}", field=field)


def search_to_proto(question: Question, *, limit: int) -> search_pb2.SearchRequest:
    """The question's search as it came, but for its query and limit."""
    request = search_pb2.SearchRequest.FromString(question.search)
    request.query, request.limit = question.text, limit
    return request


def found_from_proto(response: search_pb2.SearchResponse) -> Found:
    """What a search found."""
    signals = response.signals
    return Found(
        hits=tuple(_hit_from_proto(hit) for hit in response.hits),
        evidence=Evidence(
            model=signals.model,
            best_cosine=signals.best_cosine if signals.HasField("best_cosine") else None,
            matching_chunks=signals.filtered_count if signals.HasField("filtered_count") else None,
        ),
        generation=Generation(response.generation.id, response.generation.revision),
        degraded=frozenset(response.degraded),
    )


def _hit_from_proto(hit: search_pb2.Hit) -> Hit:
    return Hit(
        chunk_id=hit.chunk_id,
        document_id=hit.document_id,
        title=hit.title,
        uri=hit.uri,
        heading_path=tuple(hit.heading_path),
        pages=tuple(hit.pages),
        text=hit.text,
        start=hit.start,
        end=hit.end,
        ordinal=hit.ordinal,
        tokens=hit.tokens,
        locale=hit.locale,
        metadata={name: value_from_proto(value) for name, value in hit.metadata.items()},
    )


def embedding_to_proto(texts: Sequence[str], *, model: str) -> embedding_pb2.EmbedRequest:
    """One vector for each text, of a long one for its beginning."""
    return embedding_pb2.EmbedRequest(model=model, purpose=embedding_pb2.PURPOSE_QUERY, texts=texts, truncate=True)


def cosines_from_proto(response: embedding_pb2.EmbedResponse) -> list[float]:
    """The cosine of the first text with each of the others."""
    rows = unpack_vectors(response.vectors, field="vectors")
    return [float(cosine) for cosine in rows[1:] @ rows[0]]


def event_to_proto(event: events.Event, mode: Mode) -> pb.AnswerResponse:
    """One event of an answer in `mode`."""
    response = pb.AnswerResponse(mode=_MODES_TO_PROTO[mode])
    match event:
        case events.Sources():
            response.sources.sources.extend(_source_to_proto(source) for source in event.sources)
            response.sources.generation.CopyFrom(_generation_to_proto(event.generation))
        case events.Delta():
            response.delta.text = event.text
        case events.Citation():
            response.citation.CopyFrom(
                pb.Citation(
                    source=event.source,
                    start=event.start,
                    end=event.end,
                    support=event.support,
                    supported=event.supported,
                )
            )
        case events.Unsupported():
            response.unsupported.CopyFrom(
                pb.Unsupported(source=event.source, start=event.start, end=event.end, reasons=event.reasons)
            )
        case events.Refusal():
            response.refusal.CopyFrom(pb.Refusal(text=event.text, reason=_REASONS[event.reason]))
        case events.Done():
            response.done.CopyFrom(_done_to_proto(event))
    return response


def _source_to_proto(source: Source) -> pb.Source:
    return pb.Source(
        number=source.number,
        document_id=source.document_id,
        chunk_ids=source.chunk_ids,
        pages=source.pages,
        title=source.title,
        uri=source.uri,
        heading_path=source.heading_path,
        text=source.text,
        start=source.start,
        end=source.end,
    )


def _generation_to_proto(generation: Generation) -> search_pb2.Generation:
    return search_pb2.Generation(id=generation.id, revision=generation.revision)


def _done_to_proto(done: events.Done) -> pb.Done:
    timings = done.timings
    return pb.Done(
        finish_reason=_FINISH_REASONS[done.finish_reason],
        confidence=done.confidence.value if done.confidence else None,
        calibration=done.confidence.calibration if done.confidence else "",
        generator=done.generator,
        usage=pb.Usage(prompt_tokens=done.usage.prompt_tokens, completion_tokens=done.usage.completion_tokens),
        timings=pb.AnswerTimings(
            search_ms=timings.search_s * 1000,
            first_token_ms=timings.first_token_s * 1000,
            generate_ms=timings.generate_s * 1000,
            total_ms=timings.total_s * 1000,
        ),
        generation=_generation_to_proto(done.generation) if done.generation else None,
        degraded=sorted(done.degraded),
        dropped_markers=done.dropped_markers,
    )


def failure_to_proto(error: PlumblineError, mode: Mode) -> pb.AnswerResponse:
    """The end of an answer in `mode` that `error` cut off."""
    failure = pb.Failure(code=status_of(error).code.name, message=error.message, retry_after_s=error.retry_after_s)
    return pb.AnswerResponse(failure=failure, mode=_MODES_TO_PROTO[mode])


def generator_to_proto(generator: Generator, *, general_knowledge: bool) -> pb.DescribeGeneratorResponse:
    """What writes here."""
    return pb.DescribeGeneratorResponse(
        generator=generator.name, general_knowledge=general_knowledge, context_tokens=generator.context_tokens
    )
