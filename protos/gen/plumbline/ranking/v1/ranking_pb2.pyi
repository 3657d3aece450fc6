from plumbline.embedding.v1 import vectors_pb2 as _vectors_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Relevance(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RELEVANCE_UNSPECIFIED: _ClassVar[Relevance]
    RELEVANCE_FUSED: _ClassVar[Relevance]
    RELEVANCE_COMPLETED: _ClassVar[Relevance]
    RELEVANCE_CROSS_ENCODER: _ClassVar[Relevance]
RELEVANCE_UNSPECIFIED: Relevance
RELEVANCE_FUSED: Relevance
RELEVANCE_COMPLETED: Relevance
RELEVANCE_CROSS_ENCODER: Relevance

class RecencyTier(_message.Message):
    __slots__ = ("up_to_years", "multiplier")
    UP_TO_YEARS_FIELD_NUMBER: _ClassVar[int]
    MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    up_to_years: int
    multiplier: float
    def __init__(self, up_to_years: _Optional[int] = ..., multiplier: _Optional[float] = ...) -> None: ...

class RankingSettings(_message.Message):
    __slots__ = ("relevance", "cosine_share", "recency_tiers", "recency_places", "protect_leader", "mmr", "mmr_lambda", "mmr_cosine_share", "diversify_by", "min_distinct", "min_distinct_within", "cross_encoder", "cross_encoder_budget_ms", "near_duplicate_cosine", "clock_date", "mmr_relevance_power")
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    COSINE_SHARE_FIELD_NUMBER: _ClassVar[int]
    RECENCY_TIERS_FIELD_NUMBER: _ClassVar[int]
    RECENCY_PLACES_FIELD_NUMBER: _ClassVar[int]
    PROTECT_LEADER_FIELD_NUMBER: _ClassVar[int]
    MMR_FIELD_NUMBER: _ClassVar[int]
    MMR_LAMBDA_FIELD_NUMBER: _ClassVar[int]
    MMR_COSINE_SHARE_FIELD_NUMBER: _ClassVar[int]
    DIVERSIFY_BY_FIELD_NUMBER: _ClassVar[int]
    MIN_DISTINCT_FIELD_NUMBER: _ClassVar[int]
    MIN_DISTINCT_WITHIN_FIELD_NUMBER: _ClassVar[int]
    CROSS_ENCODER_FIELD_NUMBER: _ClassVar[int]
    CROSS_ENCODER_BUDGET_MS_FIELD_NUMBER: _ClassVar[int]
    NEAR_DUPLICATE_COSINE_FIELD_NUMBER: _ClassVar[int]
    CLOCK_DATE_FIELD_NUMBER: _ClassVar[int]
    MMR_RELEVANCE_POWER_FIELD_NUMBER: _ClassVar[int]
    relevance: Relevance
    cosine_share: float
    recency_tiers: _containers.RepeatedCompositeFieldContainer[RecencyTier]
    recency_places: int
    protect_leader: bool
    mmr: bool
    mmr_lambda: float
    mmr_cosine_share: float
    diversify_by: str
    min_distinct: int
    min_distinct_within: int
    cross_encoder: bool
    cross_encoder_budget_ms: int
    near_duplicate_cosine: float
    clock_date: str
    mmr_relevance_power: float
    def __init__(self, relevance: _Optional[_Union[Relevance, str]] = ..., cosine_share: _Optional[float] = ..., recency_tiers: _Optional[_Iterable[_Union[RecencyTier, _Mapping]]] = ..., recency_places: _Optional[int] = ..., protect_leader: bool = ..., mmr: bool = ..., mmr_lambda: _Optional[float] = ..., mmr_cosine_share: _Optional[float] = ..., diversify_by: _Optional[str] = ..., min_distinct: _Optional[int] = ..., min_distinct_within: _Optional[int] = ..., cross_encoder: bool = ..., cross_encoder_budget_ms: _Optional[int] = ..., near_duplicate_cosine: _Optional[float] = ..., clock_date: _Optional[str] = ..., mmr_relevance_power: _Optional[float] = ...) -> None: ...

class LegRank(_message.Message):
    __slots__ = ("rank", "score", "completed", "fused_share")
    RANK_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    FUSED_SHARE_FIELD_NUMBER: _ClassVar[int]
    rank: int
    score: float
    completed: bool
    fused_share: float
    def __init__(self, rank: _Optional[int] = ..., score: _Optional[float] = ..., completed: bool = ..., fused_share: _Optional[float] = ...) -> None: ...

class Candidate(_message.Message):
    __slots__ = ("id", "fused_score", "keyword", "vector", "exact", "date", "attribute", "vector_row", "text", "text_sha256")
    ID_FIELD_NUMBER: _ClassVar[int]
    FUSED_SCORE_FIELD_NUMBER: _ClassVar[int]
    KEYWORD_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    DATE_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    VECTOR_ROW_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TEXT_SHA256_FIELD_NUMBER: _ClassVar[int]
    id: str
    fused_score: float
    keyword: LegRank
    vector: LegRank
    exact: bool
    date: str
    attribute: str
    vector_row: int
    text: str
    text_sha256: str
    def __init__(self, id: _Optional[str] = ..., fused_score: _Optional[float] = ..., keyword: _Optional[_Union[LegRank, _Mapping]] = ..., vector: _Optional[_Union[LegRank, _Mapping]] = ..., exact: bool = ..., date: _Optional[str] = ..., attribute: _Optional[str] = ..., vector_row: _Optional[int] = ..., text: _Optional[str] = ..., text_sha256: _Optional[str] = ...) -> None: ...

class RankRequest(_message.Message):
    __slots__ = ("candidates", "vectors", "query_vector", "query", "settings", "fused_top", "fused_floor", "limit", "without_ledgers")
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    QUERY_VECTOR_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    SETTINGS_FIELD_NUMBER: _ClassVar[int]
    FUSED_TOP_FIELD_NUMBER: _ClassVar[int]
    FUSED_FLOOR_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    WITHOUT_LEDGERS_FIELD_NUMBER: _ClassVar[int]
    candidates: _containers.RepeatedCompositeFieldContainer[Candidate]
    vectors: _vectors_pb2.PackedVectors
    query_vector: _vectors_pb2.PackedVectors
    query: str
    settings: RankingSettings
    fused_top: float
    fused_floor: float
    limit: int
    without_ledgers: bool
    def __init__(self, candidates: _Optional[_Iterable[_Union[Candidate, _Mapping]]] = ..., vectors: _Optional[_Union[_vectors_pb2.PackedVectors, _Mapping]] = ..., query_vector: _Optional[_Union[_vectors_pb2.PackedVectors, _Mapping]] = ..., query: _Optional[str] = ..., settings: _Optional[_Union[RankingSettings, _Mapping]] = ..., fused_top: _Optional[float] = ..., fused_floor: _Optional[float] = ..., limit: _Optional[int] = ..., without_ledgers: bool = ...) -> None: ...

class Place(_message.Message):
    __slots__ = ("step", "place")
    STEP_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    step: str
    place: int
    def __init__(self, step: _Optional[str] = ..., place: _Optional[int] = ...) -> None: ...

class Ledger(_message.Message):
    __slots__ = ("keyword", "vector", "fused_score", "exact", "relevance", "relevance_kind", "age_years", "multiplier", "marginal_gain", "redundancy", "places", "floor_reason", "duplicates", "cross_encoder_score")
    KEYWORD_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    FUSED_SCORE_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_FIELD_NUMBER: _ClassVar[int]
    RELEVANCE_KIND_FIELD_NUMBER: _ClassVar[int]
    AGE_YEARS_FIELD_NUMBER: _ClassVar[int]
    MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    MARGINAL_GAIN_FIELD_NUMBER: _ClassVar[int]
    REDUNDANCY_FIELD_NUMBER: _ClassVar[int]
    PLACES_FIELD_NUMBER: _ClassVar[int]
    FLOOR_REASON_FIELD_NUMBER: _ClassVar[int]
    DUPLICATES_FIELD_NUMBER: _ClassVar[int]
    CROSS_ENCODER_SCORE_FIELD_NUMBER: _ClassVar[int]
    keyword: LegRank
    vector: LegRank
    fused_score: float
    exact: bool
    relevance: float
    relevance_kind: Relevance
    age_years: int
    multiplier: float
    marginal_gain: float
    redundancy: float
    places: _containers.RepeatedCompositeFieldContainer[Place]
    floor_reason: str
    duplicates: _containers.RepeatedScalarFieldContainer[str]
    cross_encoder_score: float
    def __init__(self, keyword: _Optional[_Union[LegRank, _Mapping]] = ..., vector: _Optional[_Union[LegRank, _Mapping]] = ..., fused_score: _Optional[float] = ..., exact: bool = ..., relevance: _Optional[float] = ..., relevance_kind: _Optional[_Union[Relevance, str]] = ..., age_years: _Optional[int] = ..., multiplier: _Optional[float] = ..., marginal_gain: _Optional[float] = ..., redundancy: _Optional[float] = ..., places: _Optional[_Iterable[_Union[Place, _Mapping]]] = ..., floor_reason: _Optional[str] = ..., duplicates: _Optional[_Iterable[str]] = ..., cross_encoder_score: _Optional[float] = ...) -> None: ...

class Ranked(_message.Message):
    __slots__ = ("id", "score", "ledger")
    ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    LEDGER_FIELD_NUMBER: _ClassVar[int]
    id: str
    score: float
    ledger: Ledger
    def __init__(self, id: _Optional[str] = ..., score: _Optional[float] = ..., ledger: _Optional[_Union[Ledger, _Mapping]] = ...) -> None: ...

class RankResponse(_message.Message):
    __slots__ = ("ranked", "degraded", "rank_ms")
    RANKED_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    RANK_MS_FIELD_NUMBER: _ClassVar[int]
    ranked: _containers.RepeatedCompositeFieldContainer[Ranked]
    degraded: _containers.RepeatedScalarFieldContainer[str]
    rank_ms: float
    def __init__(self, ranked: _Optional[_Iterable[_Union[Ranked, _Mapping]]] = ..., degraded: _Optional[_Iterable[str]] = ..., rank_ms: _Optional[float] = ...) -> None: ...
