"""Messages of the ingest service, and those it sends, to and from its domain."""

import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from plumbline.embedding.v1 import embedding_pb2, vectors_pb2
from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.search.v1 import filter_pb2, search_pb2
from services.ingest.accepting import GivenDocument, GivenFile
from services.ingest.gate import GateFigures
from services.ingest.ports import CountTokens, Found, Model
from services.ingest.progress import Progress
from services.shared.catalog.collections import Collection
from services.shared.catalog.declaration import Declaration, declare
from services.shared.catalog.jobs import JobState
from services.shared.catalog.judgments import Judgment
from services.shared.catalog.manifest import Generation, GenerationState
from services.shared.clients.filters import (
    field_types_from_proto,
    field_types_to_proto,
    filter_to_proto,
    value_from_proto,
)
from services.shared.clients.search_settings import ranking_to_proto, retrieval_to_proto
from services.shared.clients.vectors import unpack_vectors
from services.shared.index.filters import AllOf, AnyOf, Comparison, Filter, Not, Op
from services.shared.runtime.errors import InvalidInput

_JOB_STATES = {
    JobState.QUEUED: pb.JOB_STATE_QUEUED,
    JobState.RUNNING: pb.JOB_STATE_RUNNING,
    JobState.SUCCEEDED: pb.JOB_STATE_SUCCEEDED,
    JobState.FAILED: pb.JOB_STATE_FAILED,
    JobState.CANCELLED: pb.JOB_STATE_CANCELLED,
}
_CONTENT_MEDIA_TYPES = {"text": "text/plain", "markdown": "text/markdown", "html": "text/html"}


def declaration_from_proto(message: pb.Collection) -> Declaration:
    """The checked declaration. Raises InvalidInput naming the part."""
    return declare(
        message.name,
        profile=message.profile,
        locale=message.locale,
        fields=field_types_from_proto(message.fields),
        settings=overrides_from_proto(message.settings_json),
    )


def overrides_from_proto(settings_json: str) -> Mapping[str, object]:
    """The overrides by group. Raises InvalidInput when they are not a JSON object."""
    try:
        overrides = json.loads(settings_json or "{}")
    except json.JSONDecodeError as error:
        raise InvalidInput(f"settings are not JSON: {error.msg} at character {error.pos}", field="settings") from None
    if not isinstance(overrides, dict):
        raise InvalidInput("settings are a JSON object of groups", field="settings")
    return overrides


def collection_to_proto(collection: Collection) -> pb.Collection:
    """The collection as stored."""
    declaration = collection.declaration
    return pb.Collection(
        name=declaration.name,
        profile=declaration.profile,
        locale=declaration.locale,
        fields=field_types_to_proto(declaration.fields),
        settings_json=json.dumps(declaration.settings, sort_keys=True),
    )


def documents_from_proto(request: pb.PutDocumentsRequest) -> list[GivenDocument]:
    """The documents as given. Raises InvalidInput for one without content."""
    return [_document_from_proto(message, f"documents[{index}]") for index, message in enumerate(request.documents)]


def _document_from_proto(message: pb.Document, path: str) -> GivenDocument:
    kind = message.WhichOneof("content")
    content: str = getattr(message, kind) if kind else ""
    if kind is None or not content.strip():
        field = f"{path}.{kind or 'text'}"
        raise InvalidInput("a document needs text, markdown or html that is not blank", field=field)
    return GivenDocument(
        id=message.id,
        content=content.encode(),
        media_type=_CONTENT_MEDIA_TYPES[kind],
        path=path,
        title=message.title,
        uri=message.uri,
        locale=message.locale,
        date=message.date,
        metadata=metadata_from_proto(message.metadata),
    )


def metadata_from_proto(values: Mapping[str, filter_pb2.Value]) -> dict[str, object]:
    """Values of declared fields, not yet checked against the declaration."""
    return {name: value_from_proto(value) for name, value in values.items()}


class UploadParts:
    """The stream of an upload as files, each of which must be read to its end before the next begins."""

    def __init__(self, parts: AsyncIterator[pb.UploadFilesRequest]) -> None:
        self._parts = parts
        self._next: pb.UploadFilesRequest | None = None

    async def start(self) -> pb.UploadStart:
        """The first message. Raises InvalidInput when it is another."""
        first = await anext(self._parts, None)
        if first is None or first.WhichOneof("part") != "upload":
            raise InvalidInput("an upload begins with `upload`", field="upload")
        await self._advance()
        return first.upload

    async def files(self) -> AsyncIterator[GivenFile]:
        """The files in order. Raises InvalidInput for parts out of order."""
        while self._next is not None:
            if self._next.WhichOneof("part") != "file":
                raise InvalidInput("data comes after `file`", field="file")
            file = self._next.file
            await self._advance()
            yield GivenFile(file.name, file.media_type, self._content())

    async def _content(self) -> AsyncIterator[bytes]:
        while self._next is not None and self._next.WhichOneof("part") == "data":
            yield self._next.data
            await self._advance()

    async def _advance(self) -> None:
        self._next = await anext(self._parts, None)


def progress_to_proto(progress: Progress) -> pb.Job:
    """A job with its first failures."""
    job, outcomes = progress.job, progress.job.outcomes
    return pb.Job(
        job_id=job.id,
        collection=job.collection,
        state=_JOB_STATES[job.state],
        total=job.total,
        done=job.done,
        outcomes=pb.Outcomes(
            reused=outcomes.reused, embedded=outcomes.embedded, deleted=outcomes.deleted, failed=outcomes.failed
        ),
        failures=[
            pb.DocumentFailure(document_id=failure.document_id, reason=failure.reason) for failure in progress.failures
        ],
    )


def describe_to_proto(model: str) -> embedding_pb2.DescribeModelRequest:
    """The question for a model's facts, its tokenizer included."""
    return embedding_pb2.DescribeModelRequest(model=model, with_tokenizer=True)


def model_from_proto(reply: embedding_pb2.DescribeModelResponse, count_tokens: CountTokens) -> Model:
    """The facts of a model."""
    return Model(
        reply.model.name,
        reply.model.weights_sha256,
        reply.model.dimensions,
        count_tokens,
        tuple(reply.shorter_dimensions),
    )


def passages_to_proto(texts: list[str], *, model: str, dimensions: int) -> embedding_pb2.EmbedRequest:
    """Texts for the ingest lane, vectors in half precision on the wire."""
    return embedding_pb2.EmbedRequest(
        model=model,
        purpose=embedding_pb2.PURPOSE_PASSAGE,
        texts=texts,
        dtype=vectors_pb2.VECTOR_DTYPE_FLOAT16,
        dimensions=dimensions,
    )


def vectors_from_proto(reply: embedding_pb2.EmbedResponse) -> list[npt.NDArray[np.float32]]:
    """For each text its windows' vectors."""
    rows = unpack_vectors(reply.vectors, field="vectors")
    return [rows[text.first_row : text.first_row + len(text.windows)] for text in reply.texts]


_GENERATION_STATES = {
    GenerationState.BUILDING: pb.GENERATION_STATE_BUILDING,
    GenerationState.READY: pb.GENERATION_STATE_READY,
    GenerationState.ACTIVE: pb.GENERATION_STATE_ACTIVE,
    GenerationState.RETIRED: pb.GENERATION_STATE_RETIRED,
    GenerationState.FAILED: pb.GENERATION_STATE_FAILED,
}


def generation_to_proto(generation: Generation, *, sequence: int) -> pb.GenerationInfo:
    """A generation of a collection whose newest change has the number `sequence`."""
    manifest = generation.manifest
    return pb.GenerationInfo(
        generation_id=generation.id,
        state=_GENERATION_STATES[generation.state],
        revision=generation.revision,
        lag=max(0, sequence - generation.applied_sequence),
        manifest=pb.Manifest(
            model=manifest.model,
            weights_sha256=manifest.weights_sha256,
            dimensions=manifest.dimensions,
            profile=manifest.profile,
            chunk_target=manifest.chunk_target,
            chunk_overlap=manifest.chunk_overlap,
            chunk_minimum=manifest.chunk_minimum,
            analyzer_version=manifest.analyzer_version,
            precision=manifest.precision,
            documents=generation.documents,
            chunks=generation.chunks,
        ),
        created_at=datetime.fromtimestamp(generation.created_at, UTC).isoformat(),
    )


def figures_to_proto(figures: GateFigures) -> pb.GateFigures:
    """What the gate measured."""
    return pb.GateFigures(
        queries=figures.queries,
        serving_ndcg10=figures.serving_ndcg10,
        candidate_ndcg10=figures.candidate_ndcg10,
    )


def judged_search_to_proto(collection: Collection, judgment: Judgment, generation_id: str) -> search_pb2.SearchRequest:
    """The search that a user's would be, in this generation, as deep as it is judged."""
    settings = collection.declaration.resolved_settings()
    return search_pb2.SearchRequest(
        collection=collection.declaration.name,
        generation_id=generation_id,
        query=judgment.query,
        locale=judgment.locale or "",
        mode=search_pb2.MODE_HYBRID,
        # Several hits may be of one document.
        limit=settings.retrieval.window,
        filter=None if judgment.filter is None else filter_to_proto(_filter(judgment.filter)),
        retrieval=retrieval_to_proto(settings.retrieval, collection.declaration),
        ranking=ranking_to_proto(settings.ranking),
    )


def found_from_proto(reply: search_pb2.SearchResponse) -> Found:
    """The documents of the hits in their order."""
    return Found(tuple(dict.fromkeys(hit.document_id for hit in reply.hits)), tuple(reply.degraded))


def _filter(stored: Mapping[str, Any]) -> Filter:
    """A filter as a judgment keeps it, checked when it came in."""
    if "all" in stored or "any" in stored:
        kind = AllOf if "all" in stored else AnyOf
        return kind(tuple(_filter(part) for part in stored.get("all", stored.get("any", ()))))
    if "not" in stored:
        return Not(_filter(stored["not"]))
    op, value = Op(stored["op"]), stored.get("value")
    given = value if isinstance(value, list) else [] if value is None else [value]
    return Comparison(stored["field"], op, tuple(given))
