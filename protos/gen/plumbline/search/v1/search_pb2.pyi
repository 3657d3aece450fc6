from plumbline.ranking.v1 import ranking_pb2 as _ranking_pb2
from plumbline.search.v1 import filter_pb2 as _filter_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Mode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODE_UNSPECIFIED: _ClassVar[Mode]
    MODE_HYBRID: _ClassVar[Mode]
    MODE_KEYWORD: _ClassVar[Mode]
    MODE_VECTOR: _ClassVar[Mode]

class FieldType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FIELD_TYPE_UNSPECIFIED: _ClassVar[FieldType]
    FIELD_TYPE_KEYWORD: _ClassVar[FieldType]
    FIELD_TYPE_INTEGER: _ClassVar[FieldType]
    FIELD_TYPE_NUMBER: _ClassVar[FieldType]
    FIELD_TYPE_DATE: _ClassVar[FieldType]
    FIELD_TYPE_BOOLEAN: _ClassVar[FieldType]
MODE_UNSPECIFIED: Mode
MODE_HYBRID: Mode
MODE_KEYWORD: Mode
MODE_VECTOR: Mode
FIELD_TYPE_UNSPECIFIED: FieldType
FIELD_TYPE_KEYWORD: FieldType
FIELD_TYPE_INTEGER: FieldType
FIELD_TYPE_NUMBER: FieldType
FIELD_TYPE_DATE: FieldType
FIELD_TYPE_BOOLEAN: FieldType

class Synonym(_message.Message):
    __slots__ = ("term", "expansions")
    TERM_FIELD_NUMBER: _ClassVar[int]
    EXPANSIONS_FIELD_NUMBER: _ClassVar[int]
    term: str
    expansions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, term: _Optional[str] = ..., expansions: _Optional[_Iterable[str]] = ...) -> None: ...

class RetrievalSettings(_message.Message):
    __slots__ = ("locale", "fields", "rrf_k", "keyword_weight", "vector_weight", "depth", "window", "collapse_by_document", "keyword_gate", "synonyms")
    class FieldsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: FieldType
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[FieldType, str]] = ...) -> None: ...
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    RRF_K_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    VECTOR_WEIGHT_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    COLLAPSE_BY_DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_GATE_FIELD_NUMBER: _ClassVar[int]
    SYNONYMS_FIELD_NUMBER: _ClassVar[int]
    locale: str
    fields: _containers.ScalarMap[str, FieldType]
    rrf_k: int
    keyword_weight: float
    vector_weight: float
    depth: int
    window: int
    collapse_by_document: bool
    keyword_gate: float
    synonyms: _containers.RepeatedCompositeFieldContainer[Synonym]
    def __init__(self, locale: _Optional[str] = ..., fields: _Optional[_Mapping[str, FieldType]] = ..., rrf_k: _Optional[int] = ..., keyword_weight: _Optional[float] = ..., vector_weight: _Optional[float] = ..., depth: _Optional[int] = ..., window: _Optional[int] = ..., collapse_by_document: bool = ..., keyword_gate: _Optional[float] = ..., synonyms: _Optional[_Iterable[_Union[Synonym, _Mapping]]] = ...) -> None: ...

class SearchRequest(_message.Message):
    __slots__ = ("collection", "generation_id", "query", "like_document_id", "locale", "mode", "filter", "limit", "offset", "cursor", "explain", "retrieval", "ranking")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    GENERATION_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    LIKE_DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    RETRIEVAL_FIELD_NUMBER: _ClassVar[int]
    RANKING_FIELD_NUMBER: _ClassVar[int]
    collection: str
    generation_id: str
    query: str
    like_document_id: str
    locale: str
    mode: Mode
    filter: _filter_pb2.Filter
    limit: int
    offset: int
    cursor: str
    explain: bool
    retrieval: RetrievalSettings
    ranking: _ranking_pb2.RankingSettings
    def __init__(self, collection: _Optional[str] = ..., generation_id: _Optional[str] = ..., query: _Optional[str] = ..., like_document_id: _Optional[str] = ..., locale: _Optional[str] = ..., mode: _Optional[_Union[Mode, str]] = ..., filter: _Optional[_Union[_filter_pb2.Filter, _Mapping]] = ..., limit: _Optional[int] = ..., offset: _Optional[int] = ..., cursor: _Optional[str] = ..., explain: bool = ..., retrieval: _Optional[_Union[RetrievalSettings, _Mapping]] = ..., ranking: _Optional[_Union[_ranking_pb2.RankingSettings, _Mapping]] = ...) -> None: ...

class Generation(_message.Message):
    __slots__ = ("id", "revision")
    ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    id: str
    revision: int
    def __init__(self, id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...

class AlsoChunk(_message.Message):
    __slots__ = ("chunk_id", "heading_path", "fused_place", "document_id")
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    FUSED_PLACE_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    chunk_id: str
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    fused_place: int
    document_id: str
    def __init__(self, chunk_id: _Optional[str] = ..., heading_path: _Optional[_Iterable[str]] = ..., fused_place: _Optional[int] = ..., document_id: _Optional[str] = ...) -> None: ...

class Hit(_message.Message):
    __slots__ = ("rank", "score", "chunk_id", "document_id", "title", "uri", "heading_path", "pages", "text", "metadata", "also", "ledger", "locale", "date", "ordinal", "start", "end", "tokens")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _filter_pb2.Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_filter_pb2.Value, _Mapping]] = ...) -> None: ...
    RANK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    PAGES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    ALSO_FIELD_NUMBER: _ClassVar[int]
    LEDGER_FIELD_NUMBER: _ClassVar[int]
    LOCALE_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    rank: int
    score: float
    chunk_id: str
    document_id: str
    title: str
    uri: str
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    pages: _containers.RepeatedScalarFieldContainer[int]
    text: str
    metadata: _containers.MessageMap[str, _filter_pb2.Value]
    also: _containers.RepeatedCompositeFieldContainer[AlsoChunk]
    ledger: _ranking_pb2.Ledger
    locale: str
    date: str
    ordinal: int
    start: int
    end: int
    tokens: int
    def __init__(self, rank: _Optional[int] = ..., score: _Optional[float] = ..., chunk_id: _Optional[str] = ..., document_id: _Optional[str] = ..., title: _Optional[str] = ..., uri: _Optional[str] = ..., heading_path: _Optional[_Iterable[str]] = ..., pages: _Optional[_Iterable[int]] = ..., text: _Optional[str] = ..., metadata: _Optional[_Mapping[str, _filter_pb2.Value]] = ..., also: _Optional[_Iterable[_Union[AlsoChunk, _Mapping]]] = ..., ledger: _Optional[_Union[_ranking_pb2.Ledger, _Mapping]] = ..., locale: _Optional[str] = ..., date: _Optional[str] = ..., ordinal: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., tokens: _Optional[int] = ...) -> None: ...

class Signals(_message.Message):
    __slots__ = ("best_cosine", "first_cosine", "cosine_gap", "idf_coverage", "legs_agree", "filtered_count", "model", "keyword_share")
    BEST_COSINE_FIELD_NUMBER: _ClassVar[int]
    FIRST_COSINE_FIELD_NUMBER: _ClassVar[int]
    COSINE_GAP_FIELD_NUMBER: _ClassVar[int]
    IDF_COVERAGE_FIELD_NUMBER: _ClassVar[int]
    LEGS_AGREE_FIELD_NUMBER: _ClassVar[int]
    FILTERED_COUNT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_SHARE_FIELD_NUMBER: _ClassVar[int]
    best_cosine: float
    first_cosine: float
    cosine_gap: float
    idf_coverage: float
    legs_agree: bool
    filtered_count: int
    model: str
    keyword_share: float
    def __init__(self, best_cosine: _Optional[float] = ..., first_cosine: _Optional[float] = ..., cosine_gap: _Optional[float] = ..., idf_coverage: _Optional[float] = ..., legs_agree: bool = ..., filtered_count: _Optional[int] = ..., model: _Optional[str] = ..., keyword_share: _Optional[float] = ...) -> None: ...

class SearchTimings(_message.Message):
    __slots__ = ("embed_ms", "keyword_ms", "vector_ms", "fuse_ms", "rank_ms", "total_ms")
    EMBED_MS_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_MS_FIELD_NUMBER: _ClassVar[int]
    VECTOR_MS_FIELD_NUMBER: _ClassVar[int]
    FUSE_MS_FIELD_NUMBER: _ClassVar[int]
    RANK_MS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_MS_FIELD_NUMBER: _ClassVar[int]
    embed_ms: float
    keyword_ms: float
    vector_ms: float
    fuse_ms: float
    rank_ms: float
    total_ms: float
    def __init__(self, embed_ms: _Optional[float] = ..., keyword_ms: _Optional[float] = ..., vector_ms: _Optional[float] = ..., fuse_ms: _Optional[float] = ..., rank_ms: _Optional[float] = ..., total_ms: _Optional[float] = ...) -> None: ...

class SearchResponse(_message.Message):
    __slots__ = ("generation", "degraded", "hits", "next", "window", "signals", "timings")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    SIGNALS_FIELD_NUMBER: _ClassVar[int]
    TIMINGS_FIELD_NUMBER: _ClassVar[int]
    generation: Generation
    degraded: _containers.RepeatedScalarFieldContainer[str]
    hits: _containers.RepeatedCompositeFieldContainer[Hit]
    next: str
    window: int
    signals: Signals
    timings: SearchTimings
    def __init__(self, generation: _Optional[_Union[Generation, _Mapping]] = ..., degraded: _Optional[_Iterable[str]] = ..., hits: _Optional[_Iterable[_Union[Hit, _Mapping]]] = ..., next: _Optional[str] = ..., window: _Optional[int] = ..., signals: _Optional[_Union[Signals, _Mapping]] = ..., timings: _Optional[_Union[SearchTimings, _Mapping]] = ...) -> None: ...

class ListChunksRequest(_message.Message):
    __slots__ = ("collection", "document_id")
    COLLECTION_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    collection: str
    document_id: str
    def __init__(self, collection: _Optional[str] = ..., document_id: _Optional[str] = ...) -> None: ...

class Chunk(_message.Message):
    __slots__ = ("chunk_id", "heading_path", "text", "tokens", "pages", "ordinal")
    CHUNK_ID_FIELD_NUMBER: _ClassVar[int]
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    PAGES_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    chunk_id: str
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    text: str
    tokens: int
    pages: _containers.RepeatedScalarFieldContainer[int]
    ordinal: int
    def __init__(self, chunk_id: _Optional[str] = ..., heading_path: _Optional[_Iterable[str]] = ..., text: _Optional[str] = ..., tokens: _Optional[int] = ..., pages: _Optional[_Iterable[int]] = ..., ordinal: _Optional[int] = ...) -> None: ...

class ListChunksResponse(_message.Message):
    __slots__ = ("generation", "chunks")
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    generation: Generation
    chunks: _containers.RepeatedCompositeFieldContainer[Chunk]
    def __init__(self, generation: _Optional[_Union[Generation, _Mapping]] = ..., chunks: _Optional[_Iterable[_Union[Chunk, _Mapping]]] = ...) -> None: ...
