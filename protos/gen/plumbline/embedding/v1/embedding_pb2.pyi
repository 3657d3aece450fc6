from plumbline.embedding.v1 import vectors_pb2 as _vectors_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Purpose(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PURPOSE_UNSPECIFIED: _ClassVar[Purpose]
    PURPOSE_QUERY: _ClassVar[Purpose]
    PURPOSE_PASSAGE: _ClassVar[Purpose]
PURPOSE_UNSPECIFIED: Purpose
PURPOSE_QUERY: Purpose
PURPOSE_PASSAGE: Purpose

class ModelIdentity(_message.Message):
    __slots__ = ("name", "weights_sha256", "dimensions")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    name: str
    weights_sha256: str
    dimensions: int
    def __init__(self, name: _Optional[str] = ..., weights_sha256: _Optional[str] = ..., dimensions: _Optional[int] = ...) -> None: ...

class EmbedRequest(_message.Message):
    __slots__ = ("model", "purpose", "texts", "dtype", "truncate", "dimensions")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    TRUNCATE_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    model: str
    purpose: Purpose
    texts: _containers.RepeatedScalarFieldContainer[str]
    dtype: _vectors_pb2.VectorDtype
    truncate: bool
    dimensions: int
    def __init__(self, model: _Optional[str] = ..., purpose: _Optional[_Union[Purpose, str]] = ..., texts: _Optional[_Iterable[str]] = ..., dtype: _Optional[_Union[_vectors_pb2.VectorDtype, str]] = ..., truncate: bool = ..., dimensions: _Optional[int] = ...) -> None: ...

class Window(_message.Message):
    __slots__ = ("start", "end")
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    start: int
    end: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class EmbeddedText(_message.Message):
    __slots__ = ("tokens", "windows", "first_row", "truncated")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    FIRST_ROW_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    windows: _containers.RepeatedCompositeFieldContainer[Window]
    first_row: int
    truncated: bool
    def __init__(self, tokens: _Optional[int] = ..., windows: _Optional[_Iterable[_Union[Window, _Mapping]]] = ..., first_row: _Optional[int] = ..., truncated: bool = ...) -> None: ...

class EmbedTimings(_message.Message):
    __slots__ = ("tokenize_ms", "queue_ms", "forward_ms", "post_ms")
    TOKENIZE_MS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_MS_FIELD_NUMBER: _ClassVar[int]
    FORWARD_MS_FIELD_NUMBER: _ClassVar[int]
    POST_MS_FIELD_NUMBER: _ClassVar[int]
    tokenize_ms: float
    queue_ms: float
    forward_ms: float
    post_ms: float
    def __init__(self, tokenize_ms: _Optional[float] = ..., queue_ms: _Optional[float] = ..., forward_ms: _Optional[float] = ..., post_ms: _Optional[float] = ...) -> None: ...

class EmbedResponse(_message.Message):
    __slots__ = ("vectors", "texts", "model", "timings")
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TIMINGS_FIELD_NUMBER: _ClassVar[int]
    vectors: _vectors_pb2.PackedVectors
    texts: _containers.RepeatedCompositeFieldContainer[EmbeddedText]
    model: ModelIdentity
    timings: EmbedTimings
    def __init__(self, vectors: _Optional[_Union[_vectors_pb2.PackedVectors, _Mapping]] = ..., texts: _Optional[_Iterable[_Union[EmbeddedText, _Mapping]]] = ..., model: _Optional[_Union[ModelIdentity, _Mapping]] = ..., timings: _Optional[_Union[EmbedTimings, _Mapping]] = ...) -> None: ...

class ScorePair(_message.Message):
    __slots__ = ("query", "passage")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PASSAGE_FIELD_NUMBER: _ClassVar[int]
    query: str
    passage: str
    def __init__(self, query: _Optional[str] = ..., passage: _Optional[str] = ...) -> None: ...

class ScoreRequest(_message.Message):
    __slots__ = ("model", "pairs")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    model: str
    pairs: _containers.RepeatedCompositeFieldContainer[ScorePair]
    def __init__(self, model: _Optional[str] = ..., pairs: _Optional[_Iterable[_Union[ScorePair, _Mapping]]] = ...) -> None: ...

class ScoreResponse(_message.Message):
    __slots__ = ("scores", "model", "timings", "windows")
    SCORES_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    TIMINGS_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    scores: _containers.RepeatedScalarFieldContainer[float]
    model: ModelIdentity
    timings: EmbedTimings
    windows: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, scores: _Optional[_Iterable[float]] = ..., model: _Optional[_Union[ModelIdentity, _Mapping]] = ..., timings: _Optional[_Union[EmbedTimings, _Mapping]] = ..., windows: _Optional[_Iterable[int]] = ...) -> None: ...

class DescribeModelRequest(_message.Message):
    __slots__ = ("model", "with_tokenizer")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    WITH_TOKENIZER_FIELD_NUMBER: _ClassVar[int]
    model: str
    with_tokenizer: bool
    def __init__(self, model: _Optional[str] = ..., with_tokenizer: bool = ...) -> None: ...

class DescribeModelResponse(_message.Message):
    __slots__ = ("model", "max_tokens", "special_tokens", "tokenizer_json", "device", "dtype", "languages", "loaded", "kind", "tokens_estimated", "revision", "shorter_dimensions")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SPECIAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKENIZER_JSON_FIELD_NUMBER: _ClassVar[int]
    DEVICE_FIELD_NUMBER: _ClassVar[int]
    DTYPE_FIELD_NUMBER: _ClassVar[int]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    LOADED_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TOKENS_ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SHORTER_DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    model: ModelIdentity
    max_tokens: int
    special_tokens: int
    tokenizer_json: bytes
    device: str
    dtype: str
    languages: _containers.RepeatedScalarFieldContainer[str]
    loaded: _containers.RepeatedScalarFieldContainer[str]
    kind: str
    tokens_estimated: bool
    revision: str
    shorter_dimensions: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, model: _Optional[_Union[ModelIdentity, _Mapping]] = ..., max_tokens: _Optional[int] = ..., special_tokens: _Optional[int] = ..., tokenizer_json: _Optional[bytes] = ..., device: _Optional[str] = ..., dtype: _Optional[str] = ..., languages: _Optional[_Iterable[str]] = ..., loaded: _Optional[_Iterable[str]] = ..., kind: _Optional[str] = ..., tokens_estimated: bool = ..., revision: _Optional[str] = ..., shorter_dimensions: _Optional[_Iterable[int]] = ...) -> None: ...

class LoadModelRequest(_message.Message):
    __slots__ = ("model", "weights_sha256")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    WEIGHTS_SHA256_FIELD_NUMBER: _ClassVar[int]
    model: str
    weights_sha256: str
    def __init__(self, model: _Optional[str] = ..., weights_sha256: _Optional[str] = ...) -> None: ...

class LoadModelResponse(_message.Message):
    __slots__ = ("model", "loaded")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    LOADED_FIELD_NUMBER: _ClassVar[int]
    model: ModelIdentity
    loaded: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model: _Optional[_Union[ModelIdentity, _Mapping]] = ..., loaded: _Optional[_Iterable[str]] = ...) -> None: ...

class DropModelRequest(_message.Message):
    __slots__ = ("model",)
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class DropModelResponse(_message.Message):
    __slots__ = ("loaded",)
    LOADED_FIELD_NUMBER: _ClassVar[int]
    loaded: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, loaded: _Optional[_Iterable[str]] = ...) -> None: ...
