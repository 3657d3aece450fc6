from plumbline.search.v1 import filter_pb2 as _filter_pb2
from plumbline.search.v1 import search_pb2 as _search_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JobState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOB_STATE_UNSPECIFIED: _ClassVar[JobState]
    JOB_STATE_QUEUED: _ClassVar[JobState]
    JOB_STATE_RUNNING: _ClassVar[JobState]
    JOB_STATE_SUCCEEDED: _ClassVar[JobState]
    JOB_STATE_FAILED: _ClassVar[JobState]
    JOB_STATE_CANCELLED: _ClassVar[JobState]

class GenerationState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GENERATION_STATE_UNSPECIFIED: _ClassVar[GenerationState]
    GENERATION_STATE_BUILDING: _ClassVar[GenerationState]
    GENERATION_STATE_READY: _ClassVar[GenerationState]
    GENERATION_STATE_ACTIVE: _ClassVar[GenerationState]
    GENERATION_STATE_RETIRED: _ClassVar[GenerationState]
    GENERATION_STATE_FAILED: _ClassVar[GenerationState]
JOB_STATE_UNSPECIFIED: JobState
JOB_STATE_QUEUED: JobState
JOB_STATE_RUNNING: JobState
JOB_STATE_SUCCEEDED: JobState
JOB_STATE_FAILED: JobState
JOB_STATE_CANCELLED: JobState
GENERATION_STATE_UNSPECIFIED: GenerationState
GENERATION_STATE_BUILDING: GenerationState
GENERATION_STATE_READY: GenerationState
GENERATION_STATE_ACTIVE: GenerationState
GENERATION_STATE_RETIRED: GenerationState
GENERATION_STATE_FAILED: GenerationState

class Collection(_message.Message):
    __slots__ = ("name", "profile", "locale", "fields", "settings_json")
    class FieldsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _search_pb2.FieldType
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_search_pb2.FieldType, str]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_JSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    profile: str
    locale: str
    fields: _containers.ScalarMap[str, _search_pb2.FieldType]
    settings_json: str
    def __init__(self, name: _Optional[str] = ..., profile: _Optional[str] = ..., locale: _Optional[str] = ..., fields: _Optional[_Mapping[str, _search_pb2.FieldType]] = ..., settings_json: _Optional[str] = ...) -> None: ...

class CreateCollectionRequest(_message.Message):
    __slots__ = ("collection",)
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    collection: Collection
    def __init__(self, collection: _Optional[_Union[Collection, _Mapping]] = ...) -> None: ...

class CreateCollectionResponse(_message.Message):
    __slots__ = ("collection", "generation_id", "created")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    GENERATION_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_FIELD_NUMBER: _ClassVar[int]
    collection: Collection
    generation_id: str
    created: bool
    def __init__(self, collection: _Optional[_Union[Collection, _Mapping]] = ..., generation_id: _Optional[str] = ..., created: bool = ...) -> None: ...

class UpdateCollectionRequest(_message.Message):
    __slots__ = ("name", "settings_json")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_JSON_FIELD_NUMBER: _ClassVar[int]
    name: str
    settings_json: str
    def __init__(self, name: _Optional[str] = ..., settings_json: _Optional[str] = ...) -> None: ...

class UpdateCollectionResponse(_message.Message):
    __slots__ = ("collection",)
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    collection: Collection
    def __init__(self, collection: _Optional[_Union[Collection, _Mapping]] = ...) -> None: ...

class DeleteCollectionRequest(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DeleteCollectionResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Document(_message.Message):
    __slots__ = ("id", "title", "uri", "locale", "date", "metadata", "text", "markdown", "html")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _filter_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_filter_pb2.Value, _Mapping]] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    MARKDOWN_FIELD_NUMBER: _ClassVar[int]
    HTML_FIELD_NUMBER: _ClassVar[int]
    id: str
    title: str
    uri: str
    locale: str
    date: str
    metadata: _containers.MessageMap[str, _filter_pb2.Value]
    text: str
    markdown: str
    html: str
    def __init__(self, id: _Optional[str] = ..., title: _Optional[str] = ..., uri: _Optional[str] = ..., locale: _Optional[str] = ..., date: _Optional[str] = ..., metadata: _Optional[_Mapping[str, _filter_pb2.Value]] = ..., text: _Optional[str] = ..., markdown: _Optional[str] = ..., html: _Optional[str] = ...) -> None: ...

class PutDocumentsRequest(_message.Message):
    __slots__ = ("collection", "documents", "idempotency_key")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    collection: str
    documents: _containers.RepeatedCompositeFieldContainer[Document]
    idempotency_key: str
    def __init__(self, collection: _Optional[str] = ..., documents: _Optional[_Iterable[_Union[Document, _Mapping]]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class PutDocumentsResponse(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class FileStart(_message.Message):
    __slots__ = ("name", "media_type")
    NAME_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    media_type: str
    def __init__(self, name: _Optional[str] = ..., media_type: _Optional[str] = ...) -> None: ...

class UploadStart(_message.Message):
    __slots__ = ("collection", "metadata", "idempotency_key")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _filter_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_filter_pb2.Value, _Mapping]] = ...) -> None: ...
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    collection: str
    metadata: _containers.MessageMap[str, _filter_pb2.Value]
    idempotency_key: str
    def __init__(self, collection: _Optional[str] = ..., metadata: _Optional[_Mapping[str, _filter_pb2.Value]] = ..., idempotency_key: _Optional[str] = ...) -> None: ...

class UploadFilesRequest(_message.Message):
    __slots__ = ("upload", "file", "data")
    UPLOAD_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    upload: UploadStart
    file: FileStart
    data: bytes
    def __init__(self, upload: _Optional[_Union[UploadStart, _Mapping]] = ..., file: _Optional[_Union[FileStart, _Mapping]] = ..., data: _Optional[bytes] = ...) -> None: ...

class UploadFilesResponse(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class DeleteDocumentsRequest(_message.Message):
    __slots__ = ("collection", "document_ids")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_IDS_FIELD_NUMBER: _ClassVar[int]
    collection: str
    document_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, collection: _Optional[str] = ..., document_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteDocumentsResponse(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class Outcomes(_message.Message):
    __slots__ = ("reused", "embedded", "deleted", "failed")
    REUSED_FIELD_NUMBER: _ClassVar[int]
    EMBEDDED_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    reused: int
    embedded: int
    deleted: int
    failed: int
    def __init__(self, reused: _Optional[int] = ..., embedded: _Optional[int] = ..., deleted: _Optional[int] = ..., failed: _Optional[int] = ...) -> None: ...

class DocumentFailure(_message.Message):
    __slots__ = ("document_id", "reason")
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    document_id: str
    reason: str
    def __init__(self, document_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class Job(_message.Message):
    __slots__ = ("job_id", "collection", "state", "total", "done", "outcomes", "failures")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    OUTCOMES_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    collection: str
    state: JobState
    total: int
    done: int
    outcomes: Outcomes
    failures: _containers.RepeatedCompositeFieldContainer[DocumentFailure]
    def __init__(self, job_id: _Optional[str] = ..., collection: _Optional[str] = ..., state: _Optional[_Union[JobState, str]] = ..., total: _Optional[int] = ..., done: _Optional[int] = ..., outcomes: _Optional[_Union[Outcomes, _Mapping]] = ..., failures: _Optional[_Iterable[_Union[DocumentFailure, _Mapping]]] = ...) -> None: ...

class WatchJobRequest(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class WatchJobResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class CancelJobRequest(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class CancelJobResponse(_message.Message):
    __slots__ = ("job",)
    JOB_FIELD_NUMBER: _ClassVar[int]
    job: Job
    def __init__(self, job: _Optional[_Union[Job, _Mapping]] = ...) -> None: ...

class Manifest(_message.Message):
    __slots__ = ("model", "weights_sha256", "dimensions", "profile", "chunk_target", "chunk_overlap", "chunk_minimum", "analyzer_version", "documents", "chunks", "content_sha256", "precision")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_TARGET_FIELD_NUMBER: _ClassVar[int]
    CHUNK_OVERLAP_FIELD_NUMBER: _ClassVar[int]
    CHUNK_MINIMUM_FIELD_NUMBER: _ClassVar[int]
    ANALYZER_VERSION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    CONTENT_SHA256_FIELD_NUMBER: _ClassVar[int]
    PRECISION_FIELD_NUMBER: _ClassVar[int]
    model: str
    weights_sha256: str
    dimensions: int
    profile: str
    chunk_target: int
    chunk_overlap: int
    chunk_minimum: int
    analyzer_version: str
    documents: int
    chunks: int
    content_sha256: str
    precision: str
    def __init__(self, model: _Optional[str] = ..., weights_sha256: _Optional[str] = ..., dimensions: _Optional[int] = ..., profile: _Optional[str] = ..., chunk_target: _Optional[int] = ..., chunk_overlap: _Optional[int] = ..., chunk_minimum: _Optional[int] = ..., analyzer_version: _Optional[str] = ..., documents: _Optional[int] = ..., chunks: _Optional[int] = ..., content_sha256: _Optional[str] = ..., precision: _Optional[str] = ...) -> None: ...

class GenerationInfo(_message.Message):
    __slots__ = ("generation_id", "state", "revision", "lag", "manifest", "created_at")
    GENERATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    LAG_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    generation_id: str
    state: GenerationState
    revision: int
    lag: int
    manifest: Manifest
    created_at: str
    def __init__(self, generation_id: _Optional[str] = ..., state: _Optional[_Union[GenerationState, str]] = ..., revision: _Optional[int] = ..., lag: _Optional[int] = ..., manifest: _Optional[_Union[Manifest, _Mapping]] = ..., created_at: _Optional[str] = ...) -> None: ...

class BuildGenerationRequest(_message.Message):
    __slots__ = ("collection", "model", "profile")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    collection: str
    model: str
    profile: str
    def __init__(self, collection: _Optional[str] = ..., model: _Optional[str] = ..., profile: _Optional[str] = ...) -> None: ...

class BuildGenerationResponse(_message.Message):
    __slots__ = ("generation", "job_id")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    generation: GenerationInfo
    job_id: str
    def __init__(self, generation: _Optional[_Union[GenerationInfo, _Mapping]] = ..., job_id: _Optional[str] = ...) -> None: ...

class PromoteGenerationRequest(_message.Message):
    __slots__ = ("collection", "generation_id", "max_ndcg_loss")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    GENERATION_ID_FIELD_NUMBER: _ClassVar[int]
    MAX_NDCG_LOSS_FIELD_NUMBER: _ClassVar[int]
    collection: str
    generation_id: str
    max_ndcg_loss: float
    def __init__(self, collection: _Optional[str] = ..., generation_id: _Optional[str] = ..., max_ndcg_loss: _Optional[float] = ...) -> None: ...

class GateFigures(_message.Message):
    __slots__ = ("queries", "serving_ndcg10", "candidate_ndcg10")
    QUERIES_FIELD_NUMBER: _ClassVar[int]
    SERVING_NDCG10_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_NDCG10_FIELD_NUMBER: _ClassVar[int]
    queries: int
    serving_ndcg10: float
    candidate_ndcg10: float
    def __init__(self, queries: _Optional[int] = ..., serving_ndcg10: _Optional[float] = ..., candidate_ndcg10: _Optional[float] = ...) -> None: ...

class PromoteGenerationResponse(_message.Message):
    __slots__ = ("generation", "gate")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    GATE_FIELD_NUMBER: _ClassVar[int]
    generation: GenerationInfo
    gate: GateFigures
    def __init__(self, generation: _Optional[_Union[GenerationInfo, _Mapping]] = ..., gate: _Optional[_Union[GateFigures, _Mapping]] = ...) -> None: ...

class RollBackGenerationRequest(_message.Message):
    __slots__ = ("collection",)
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    collection: str
    def __init__(self, collection: _Optional[str] = ...) -> None: ...

class RollBackGenerationResponse(_message.Message):
    __slots__ = ("generation",)
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    generation: GenerationInfo
    def __init__(self, generation: _Optional[_Union[GenerationInfo, _Mapping]] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("source_id", "website", "notion", "folder_url", "sync_every_s", "misses_before_delete")
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    WEBSITE_FIELD_NUMBER: _ClassVar[int]
    NOTION_FIELD_NUMBER: _ClassVar[int]
    FOLDER_URL_FIELD_NUMBER: _ClassVar[int]
    SYNC_EVERY_S_FIELD_NUMBER: _ClassVar[int]
    MISSES_BEFORE_DELETE_FIELD_NUMBER: _ClassVar[int]
    source_id: str
    website: Website
    notion: Notion
    folder_url: str
    sync_every_s: int
    misses_before_delete: int
    def __init__(self, source_id: _Optional[str] = ..., website: _Optional[_Union[Website, _Mapping]] = ..., notion: _Optional[_Union[Notion, _Mapping]] = ..., folder_url: _Optional[str] = ..., sync_every_s: _Optional[int] = ..., misses_before_delete: _Optional[int] = ...) -> None: ...

class Website(_message.Message):
    __slots__ = ("start_url", "max_depth", "max_pages")
    START_URL_FIELD_NUMBER: _ClassVar[int]
    MAX_DEPTH_FIELD_NUMBER: _ClassVar[int]
    MAX_PAGES_FIELD_NUMBER: _ClassVar[int]
    start_url: str
    max_depth: int
    max_pages: int
    def __init__(self, start_url: _Optional[str] = ..., max_depth: _Optional[int] = ..., max_pages: _Optional[int] = ...) -> None: ...

class Notion(_message.Message):
    __slots__ = ("token_name", "root_page_id")
    TOKEN_NAME_FIELD_NUMBER: _ClassVar[int]
    ROOT_PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    token_name: str
    root_page_id: str
    def __init__(self, token_name: _Optional[str] = ..., root_page_id: _Optional[str] = ...) -> None: ...

class PutSourceRequest(_message.Message):
    __slots__ = ("collection", "source")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    collection: str
    source: Source
    def __init__(self, collection: _Optional[str] = ..., source: _Optional[_Union[Source, _Mapping]] = ...) -> None: ...

class PutSourceResponse(_message.Message):
    __slots__ = ("source",)
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    source: Source
    def __init__(self, source: _Optional[_Union[Source, _Mapping]] = ...) -> None: ...

class SyncSourceRequest(_message.Message):
    __slots__ = ("collection", "source_id")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    collection: str
    source_id: str
    def __init__(self, collection: _Optional[str] = ..., source_id: _Optional[str] = ...) -> None: ...

class SyncSourceResponse(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...

class DeleteSourceRequest(_message.Message):
    __slots__ = ("collection", "source_id", "delete_documents")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ID_FIELD_NUMBER: _ClassVar[int]
    DELETE_DOCUMENTS_FIELD_NUMBER: _ClassVar[int]
    collection: str
    source_id: str
    delete_documents: bool
    def __init__(self, collection: _Optional[str] = ..., source_id: _Optional[str] = ..., delete_documents: bool = ...) -> None: ...

class DeleteSourceResponse(_message.Message):
    __slots__ = ("job_id",)
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    def __init__(self, job_id: _Optional[str] = ...) -> None: ...
