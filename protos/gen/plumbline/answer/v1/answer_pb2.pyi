from plumbline.search.v1 import search_pb2 as _search_pb2
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
    MODE_DOCUMENTS: _ClassVar[Mode]
    MODE_GENERAL_KNOWLEDGE: _ClassVar[Mode]

class RefusalReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REFUSAL_REASON_UNSPECIFIED: _ClassVar[RefusalReason]
    REFUSAL_REASON_LOW_CONFIDENCE: _ClassVar[RefusalReason]
    REFUSAL_REASON_NOTHING_MATCHES_FILTER: _ClassVar[RefusalReason]
    REFUSAL_REASON_GENERATOR_REFUSED: _ClassVar[RefusalReason]

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FINISH_REASON_UNSPECIFIED: _ClassVar[FinishReason]
    FINISH_REASON_STOP: _ClassVar[FinishReason]
    FINISH_REASON_LENGTH: _ClassVar[FinishReason]
    FINISH_REASON_REFUSAL: _ClassVar[FinishReason]
MODE_UNSPECIFIED: Mode
MODE_DOCUMENTS: Mode
MODE_GENERAL_KNOWLEDGE: Mode
REFUSAL_REASON_UNSPECIFIED: RefusalReason
REFUSAL_REASON_LOW_CONFIDENCE: RefusalReason
REFUSAL_REASON_NOTHING_MATCHES_FILTER: RefusalReason
REFUSAL_REASON_GENERATOR_REFUSED: RefusalReason
FINISH_REASON_UNSPECIFIED: FinishReason
FINISH_REASON_STOP: FinishReason
FINISH_REASON_LENGTH: FinishReason
FINISH_REASON_REFUSAL: FinishReason

class AnswerSettings(_message.Message):
    __slots__ = ("refusal_sentence", "nothing_matches_sentence", "general_knowledge_allowed", "same_field", "fall_back_to_extractive", "max_passage_tokens", "min_confidence", "profile")
    REFUSAL_SENTENCE_FIELD_NUMBER: _ClassVar[int]
    NOTHING_MATCHES_SENTENCE_FIELD_NUMBER: _ClassVar[int]
    GENERAL_KNOWLEDGE_ALLOWED_FIELD_NUMBER: _ClassVar[int]
    SAME_FIELD_FIELD_NUMBER: _ClassVar[int]
    FALL_BACK_TO_EXTRACTIVE_FIELD_NUMBER: _ClassVar[int]
    MAX_PASSAGE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MIN_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    refusal_sentence: str
    nothing_matches_sentence: str
    general_knowledge_allowed: bool
    same_field: str
    fall_back_to_extractive: bool
    max_passage_tokens: int
    min_confidence: float
    profile: str
    def __init__(self, refusal_sentence: _Optional[str] = ..., nothing_matches_sentence: _Optional[str] = ..., general_knowledge_allowed: bool = ..., same_field: _Optional[str] = ..., fall_back_to_extractive: bool = ..., max_passage_tokens: _Optional[int] = ..., min_confidence: _Optional[float] = ..., profile: _Optional[str] = ...) -> None: ...

class AnswerRequest(_message.Message):
    __slots__ = ("question", "mode", "max_tokens", "search", "settings", "temperature")
    QUESTION_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    MAX_TOKENS_FIELD_NUMBER: _ClassVar[int]
    SEARCH_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    question: str
    mode: Mode
    max_tokens: int
    search: _search_pb2.SearchRequest
    settings: AnswerSettings
    temperature: float
    def __init__(self, question: _Optional[str] = ..., mode: _Optional[_Union[Mode, str]] = ..., max_tokens: _Optional[int] = ..., search: _Optional[_Union[_search_pb2.SearchRequest, _Mapping]] = ..., settings: _Optional[_Union[AnswerSettings, _Mapping]] = ..., temperature: _Optional[float] = ...) -> None: ...

class Source(_message.Message):
    __slots__ = ("number", "document_id", "chunk_ids", "pages", "title", "uri", "heading_path", "text", "start", "end")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_ID_FIELD_NUMBER: _ClassVar[int]
    CHUNK_IDS_FIELD_NUMBER: _ClassVar[int]
    PAGES_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    HEADING_PATH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    number: int
    document_id: str
    chunk_ids: _containers.RepeatedScalarFieldContainer[str]
    pages: _containers.RepeatedScalarFieldContainer[int]
    title: str
    uri: str
    heading_path: _containers.RepeatedScalarFieldContainer[str]
    text: str
    start: int
    end: int
    def __init__(self, number: _Optional[int] = ..., document_id: _Optional[str] = ..., chunk_ids: _Optional[_Iterable[str]] = ..., pages: _Optional[_Iterable[int]] = ..., title: _Optional[str] = ..., uri: _Optional[str] = ..., heading_path: _Optional[_Iterable[str]] = ..., text: _Optional[str] = ..., start: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class Sources(_message.Message):
    __slots__ = ("sources", "generation")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    sources: _containers.RepeatedCompositeFieldContainer[Source]
    generation: _search_pb2.Generation
    def __init__(self, sources: _Optional[_Iterable[_Union[Source, _Mapping]]] = ..., generation: _Optional[_Union[_search_pb2.Generation, _Mapping]] = ...) -> None: ...

class Delta(_message.Message):
    __slots__ = ("text",)
    TEXT_FIELD_NUMBER: _ClassVar[int]
    text: str
    def __init__(self, text: _Optional[str] = ...) -> None: ...

class Citation(_message.Message):
    __slots__ = ("source", "start", "end", "support", "supported")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    SUPPORT_FIELD_NUMBER: _ClassVar[int]
    SUPPORTED_FIELD_NUMBER: _ClassVar[int]
    source: int
    start: int
    end: int
    support: float
    supported: bool
    def __init__(self, source: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., support: _Optional[float] = ..., supported: bool = ...) -> None: ...

class Unsupported(_message.Message):
    __slots__ = ("source", "start", "end", "reasons")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    REASONS_FIELD_NUMBER: _ClassVar[int]
    source: int
    start: int
    end: int
    reasons: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, source: _Optional[int] = ..., start: _Optional[int] = ..., end: _Optional[int] = ..., reasons: _Optional[_Iterable[str]] = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ("text", "reason")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    text: str
    reason: RefusalReason
    def __init__(self, text: _Optional[str] = ..., reason: _Optional[_Union[RefusalReason, str]] = ...) -> None: ...

class Usage(_message.Message):
    __slots__ = ("prompt_tokens", "completion_tokens")
    PROMPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    COMPLETION_TOKENS_FIELD_NUMBER: _ClassVar[int]
    prompt_tokens: int
    completion_tokens: int
    def __init__(self, prompt_tokens: _Optional[int] = ..., completion_tokens: _Optional[int] = ...) -> None: ...

class AnswerTimings(_message.Message):
    __slots__ = ("search_ms", "first_token_ms", "generate_ms", "total_ms")
    SEARCH_MS_FIELD_NUMBER: _ClassVar[int]
    FIRST_TOKEN_MS_FIELD_NUMBER: _ClassVar[int]
    GENERATE_MS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_MS_FIELD_NUMBER: _ClassVar[int]
    search_ms: float
    first_token_ms: float
    generate_ms: float
    total_ms: float
    def __init__(self, search_ms: _Optional[float] = ..., first_token_ms: _Optional[float] = ..., generate_ms: _Optional[float] = ..., total_ms: _Optional[float] = ...) -> None: ...

class Done(_message.Message):
    __slots__ = ("finish_reason", "confidence", "calibration", "generator", "usage", "timings", "generation", "degraded", "dropped_markers")
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    CALIBRATION_FIELD_NUMBER: _ClassVar[int]
    GENERATOR_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    TIMINGS_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    DROPPED_MARKERS_FIELD_NUMBER: _ClassVar[int]
    finish_reason: FinishReason
    confidence: float
    calibration: str
    generator: str
    usage: Usage
    timings: AnswerTimings
    generation: _search_pb2.Generation
    degraded: _containers.RepeatedScalarFieldContainer[str]
    dropped_markers: int
    def __init__(self, finish_reason: _Optional[_Union[FinishReason, str]] = ..., confidence: _Optional[float] = ..., calibration: _Optional[str] = ..., generator: _Optional[str] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., timings: _Optional[_Union[AnswerTimings, _Mapping]] = ..., generation: _Optional[_Union[_search_pb2.Generation, _Mapping]] = ..., degraded: _Optional[_Iterable[str]] = ..., dropped_markers: _Optional[int] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ("code", "message", "retry_after_s")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_S_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    retry_after_s: float
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ..., retry_after_s: _Optional[float] = ...) -> None: ...

class AnswerResponse(_message.Message):
    __slots__ = ("sources", "delta", "citation", "unsupported", "refusal", "done", "failure", "mode")
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    DELTA_FIELD_NUMBER: _ClassVar[int]
    CITATION_FIELD_NUMBER: _ClassVar[int]
    UNSUPPORTED_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    sources: Sources
    delta: Delta
    citation: Citation
    unsupported: Unsupported
    refusal: Refusal
    done: Done
    failure: Failure
    mode: Mode
    def __init__(self, sources: _Optional[_Union[Sources, _Mapping]] = ..., delta: _Optional[_Union[Delta, _Mapping]] = ..., citation: _Optional[_Union[Citation, _Mapping]] = ..., unsupported: _Optional[_Union[Unsupported, _Mapping]] = ..., refusal: _Optional[_Union[Refusal, _Mapping]] = ..., done: _Optional[_Union[Done, _Mapping]] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ..., mode: _Optional[_Union[Mode, str]] = ...) -> None: ...

class DescribeGeneratorRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeGeneratorResponse(_message.Message):
    __slots__ = ("generator", "general_knowledge", "context_tokens")
    GENERATOR_FIELD_NUMBER: _ClassVar[int]
    GENERAL_KNOWLEDGE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    generator: str
    general_knowledge: bool
    context_tokens: int
    def __init__(self, generator: _Optional[str] = ..., general_knowledge: bool = ..., context_tokens: _Optional[int] = ...) -> None: ...
