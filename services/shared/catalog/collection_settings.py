"""How a collection is cut, searched, ranked and answered from: every setting with its unit, bound and effect.

The values here are the defaults of a `docs` collection; `profiles.py` says where another profile differs.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal, TypeAlias

from pydantic import ConfigDict, Field, StringConstraints
from pydantic.dataclasses import dataclass

from services.shared.catalog.fields import LOCALE_PATTERN
from services.shared.index.precision import Precision

REFUSAL = "The provided document does not contain enough information to answer this question."
NOTHING_MATCHES = "No document matches the filter."

_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Weight: TypeAlias = Annotated[float, Field(ge=0, le=10)]
Words: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Synonyms: TypeAlias = Annotated[tuple[Words, ...], Field(min_length=1, max_length=20)]
Sentence: TypeAlias = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Locale: TypeAlias = Annotated[str, StringConstraints(pattern=f"^{LOCALE_PATTERN}$")]
# (greatest age in whole calendar years, multiplier); the last tier has no greatest age.
RecencyTier: TypeAlias = tuple[Annotated[int, Field(ge=0)] | None, Annotated[float, Field(ge=0.1, le=10)]]


@dataclass(frozen=True, slots=True, config=_STRICT)
class RetrievalSettings:
    """How the two legs search and are fused."""

    # The k of reciprocal rank fusion. Lower trusts the first ranks of a leg more.
    rrf_k: Annotated[int, Field(ge=1, le=1000)] = 60
    # A leg of weight 0 adds nothing; not both can be 0.
    keyword_weight: Weight = 1.0
    vector_weight: Weight = 1.0
    # Chunks (documents, when collapsed) that each leg fetches. More finds more and costs latency.
    depth: Annotated[int, Field(ge=1, le=1000)] = 100
    # Fused candidates that are ranked, and all that can be paged through.
    window: Annotated[int, Field(ge=1, le=1000)] = 100
    # One hit per document instead of one per chunk.
    collapse_by_document: bool = False
    # A hit that covers less than this share of the query's idf mass earns no keyword rank; 0 is off.
    keyword_gate: Share = 0.0
    # A term of a query -> what it is searched as beside itself (`TOIL` -> `time off in lieu`).
    synonyms: Annotated[Mapping[Words, Synonyms], Field(max_length=5000)] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, config=_STRICT)
class RankingSettings:
    """How the window is put in order."""

    # `completed` joins both raw scores of every hit, `fused` is the score of the fusion.
    relevance: Literal["fused", "completed"] = "completed"
    # Share of the cosine in `completed` relevance; the rest is the keyword score's.
    cosine_share: Share = 0.6
    # Undated documents are untouched by recency, so it may be on everywhere; without tiers it is off.
    recency_tiers: Annotated[tuple[RecencyTier, ...], Field(max_length=10)] = (
        (1, 1.2),
        (5, 1.0),
        (None, 0.9),
    )
    # Places that recency may move a hit, up or down.
    recency_places: Annotated[int, Field(ge=0, le=1000)] = 5
    # A hit that is first in both legs keeps place 1.
    protect_leader: bool = True
    # Whether near-duplicates and a repeated attribute push a hit down.
    mmr: bool = False
    # Share of relevance against novelty; 1 leaves the order as it is.
    mmr_lambda: Share = 0.6
    # What relevance is raised to for it. More guards the first places and spreads the later ones, which hold less.
    mmr_relevance_power: Annotated[float, Field(ge=1, le=10)] = 2.0
    # Share of the cosine in redundancy; the rest is that of the repeated value of `diversify_by`. Why 0.7:
    # docs/decisions/how-diverse.md.
    mmr_cosine_share: Share = 0.7
    # The field whose values are spread; with None redundancy is the cosine alone.
    diversify_by: str | None = None
    # Different values of `diversify_by` among the first `min_distinct_within` hits; 0 asks for none.
    min_distinct: Annotated[int, Field(ge=0, le=100)] = 0
    min_distinct_within: Annotated[int, Field(ge=1, le=1000)] = 20
    # Hits of the same text, or whose vectors have at least this cosine, become one that lists the others; 1 is the same
    # text only, 0 keeps all apart.
    near_duplicate_cosine: Share = 0.0
    # Whether the cross-encoder of the embedding service tells relevance; without one there, searches say `degraded`.
    cross_encoder: bool = False
    # Milliseconds that it may take for a window; then the order without it stands. A search takes that much longer.
    cross_encoder_budget_ms: Annotated[int, Field(ge=1, le=10_000)] = 300


@dataclass(frozen=True, slots=True, config=_STRICT)
class ChunkingSettings:
    """Sizes of chunks: characters in a `plain` collection, the embedding model's own tokens elsewhere."""

    # Larger chunks hold more context, smaller ones match and cite more exactly.
    target: Annotated[int, Field(ge=16, le=8192)] = 400
    # Repeated at the start of the next chunk; less than `target`.
    overlap: Annotated[int, Field(ge=0, le=4096)] = 50
    # A shorter rest joins the chunk before it; at most `target`.
    minimum: Annotated[int, Field(ge=0, le=8192)] = 100


@dataclass(frozen=True, slots=True, config=_STRICT)
class VectorSettings:
    """What is kept of vectors. It holds for generations that are built from then on."""

    # The first so many numbers of each vector, for models that were trained for it (Matryoshka); None keeps them all.
    # Fewer take less room and time, and find less.
    dimensions: Annotated[int, Field(ge=1, le=8192)] | None = None
    # `compact` halves what vectors take on disk in the embedded index, and quarters what they take in Weaviate's memory
    # (8-bit codes; what those find is compared by whole vectors). It moves cosines by about 0.0003 and 0.
    precision: Precision = Precision.FULL


@dataclass(frozen=True, slots=True, config=_STRICT)
class AnswerSettings:
    """What an answer may do and says when it cannot."""

    refusal_sentence: Sentence = REFUSAL
    # Locale -> its sentence; `pt` serves `pt-BR` as well.
    refusal_sentence_by_locale: Mapping[Locale, Sentence] = field(default_factory=dict)
    nothing_matches_sentence: Sentence = NOTHING_MATCHES
    nothing_matches_sentence_by_locale: Mapping[Locale, Sentence] = field(default_factory=dict)
    # Whether a caller may ask again, after a refusal, for an answer without documents.
    general_knowledge_allowed: bool = True
    # All passages of one answer share the value of this field (a unit); the best hit decides.
    same_field: str | None = None
    # Whether sentences of the passages stand in when the language model fails.
    fall_back_to_extractive: bool = False
    # Tokens of passages in the prompt, at most. More context costs time to the first token.
    max_passage_tokens: Annotated[int, Field(ge=100, le=100_000)] = 2_500
    # Confidence below which an answer is refused; None is the threshold that comes with model and profile.
    min_confidence: Share | None = None

    def refusal_sentence_in(self, locale: str) -> str:
        """The refusal sentence in `locale`, else in its language, else the collection's."""
        return _in_locale(self.refusal_sentence_by_locale, locale, self.refusal_sentence)

    def nothing_matches_sentence_in(self, locale: str) -> str:
        """The sentence for a filter that leaves no document, chosen in the same way."""
        return _in_locale(self.nothing_matches_sentence_by_locale, locale, self.nothing_matches_sentence)


def _in_locale(sentences: Mapping[str, str], locale: str, otherwise: str) -> str:
    language = locale.partition("-")[0]
    return sentences.get(locale) or sentences.get(language) or otherwise


@dataclass(frozen=True, slots=True, config=_STRICT)
class CollectionSettings:
    """All settings of one collection."""

    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    ranking: RankingSettings = field(default_factory=RankingSettings)
    chunking: ChunkingSettings = field(default_factory=ChunkingSettings)
    vectors: VectorSettings = field(default_factory=VectorSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
