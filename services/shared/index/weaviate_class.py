"""A generation as a class of Weaviate: its name, its definition, and what can be read back from it. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from services.shared.index.fields import FieldType
from services.shared.index.precision import Precision
from services.shared.index.weaviate_filter import property_of

VECTORS = "windows"
"""The name of the one vector space: a matrix per object, compared by its best row."""
ANALYSED = "analysed"

_PREFIX = "Generation_"
_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_PLAIN = re.compile(r"[0-9a-z]")
_ESCAPED = re.compile(r"_([0-9a-f]{2})")

_DATA_TYPES = {
    FieldType.KEYWORD: "text",
    FieldType.INTEGER: "int",
    FieldType.NUMBER: "number",
    FieldType.DATE: "int",
    FieldType.BOOLEAN: "boolean",
}
_ORDERED_NUMBERS = frozenset({FieldType.INTEGER, FieldType.NUMBER, FieldType.DATE})
# What a chunk is read back from and no query compares.
_ONLY_STORED = {
    "chunk_id": "text",
    "revision": "int",
    "date": "text",
    "heading_path": "text[]",
    "pages": "int[]",
    "text": "text",
    "context": "text",
    "start": "int",
    "end": "int",
    "tokens": "int",
    "metadata": "text",
    "windows": "int",
}
_KEYWORDS = ("document_id", "title", "uri", "locale")


@dataclass(frozen=True, slots=True)
class GenerationClass:
    """What a class says of its generation."""

    dimensions: int
    fields: Mapping[str, FieldType]
    precision: Precision = Precision.FULL


def is_generation_id(generation_id: str) -> bool:
    """Whether a generation may have this id: 1 to 64 letters, digits, `_`, `.` and `-`, none of them outside ASCII."""
    return _ID.fullmatch(generation_id) is not None


def class_name(generation_id: str) -> str:
    """The class of a generation; Weaviate takes two names that differ in case for one, so capitals are spelt out."""
    return _PREFIX + "".join(letter if _PLAIN.fullmatch(letter) else f"_{ord(letter):02x}" for letter in generation_id)


def generation_of(name: str) -> str | None:
    """The generation whose class has this name; None for a class that is not ours."""
    if not name.startswith(_PREFIX):
        return None
    generation_id = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name.removeprefix(_PREFIX))
    return generation_id if is_generation_id(generation_id) and class_name(generation_id) == name else None


def definition_of(
    generation_id: str,
    dimensions: int,
    fields: Mapping[str, FieldType],
    *,
    replication_factor: int,
    ef: int,
    precision: Precision = Precision.FULL,
) -> dict[str, Any]:
    """The class as Weaviate's schema takes it; every setting that search depends on is named, defaults change."""
    return {
        "class": class_name(generation_id),
        "description": str(dimensions),
        "properties": [
            *(_stored_property(name, data_type) for name, data_type in _ONLY_STORED.items()),
            *(_filtered_property(name, FieldType.KEYWORD) for name in _KEYWORDS),
            _filtered_property("ordinal", FieldType.INTEGER),
            _filtered_property("date_start", FieldType.DATE),
            _analysed_property(),
            *(declared_property(name, declared) for name, declared in fields.items()),
        ],
        "vectorConfig": {
            VECTORS: {
                "vectorizer": {"none": {}},
                "vectorIndexType": "hnsw",
                "vectorIndexConfig": {
                    "distance": "cosine",
                    "efConstruction": 256,
                    "maxConnections": 64,
                    "ef": ef,
                    "multivector": {"enabled": True, "aggregation": "maxSim", "muvera": {"enabled": False}},
                    # A server's default quantisation is refused: whole vectors take 3 KiB of memory each at 768
                    # dimensions, and their 8-bit codes a quarter of it.
                    "skipDefaultQuantization": True,
                    **{kind: {"enabled": False} for kind in ("pq", "bq", "sq")},
                    "rq": {"enabled": precision is Precision.COMPACT, "bits": 8},
                },
            }
        },
        "invertedIndexConfig": {
            "bm25": {"k1": 1.2, "b": 0.75},
            "stopwords": {"preset": "none"},
            "indexNullState": True,
            "indexPropertyLength": False,
            "indexTimestamps": False,
        },
        "shardingConfig": {"desiredCount": 1},
        "replicationConfig": {
            "factor": replication_factor,
            "asyncEnabled": replication_factor > 1,
            # Of a deletion and a write that replicas disagree on, the later holds: what was deleted stays deleted, and
            # what was written again after it stays.
            "deletionStrategy": "TimeBasedResolution",
        },
        "multiTenancyConfig": {"enabled": False},
    }


def declared_property(name: str, declared: FieldType) -> dict[str, Any]:
    """The property of a declared field; its description keeps the field's type."""
    return {**_filtered_property(property_of(name), declared), "description": declared.value}


def generation_class(definition: Mapping[str, Any]) -> GenerationClass:
    """What the definition of one of our classes, as Weaviate gives it back, says."""
    return GenerationClass(
        dimensions=int(definition["description"]),
        fields={
            described["name"].removeprefix("m_"): FieldType(described["description"])
            for described in definition["properties"]
            if described["name"].startswith("m_")
        },
        precision=_precision_of(definition["vectorConfig"][VECTORS]["vectorIndexConfig"]),
    )


def _precision_of(vector_index: Mapping[str, Any]) -> Precision:
    return Precision.COMPACT if vector_index.get("rq", {}).get("enabled") else Precision.FULL


def _stored_property(name: str, data_type: str) -> dict[str, Any]:
    return {"name": name, "dataType": [data_type], "indexFilterable": False, "indexSearchable": False}


def _filtered_property(name: str, declared: FieldType) -> dict[str, Any]:
    filtered: dict[str, Any] = {"name": name, "dataType": [_DATA_TYPES[declared]], "indexFilterable": True}
    if declared is FieldType.KEYWORD:
        filtered |= {"tokenization": "field", "indexSearchable": False}
    if declared in _ORDERED_NUMBERS:
        filtered |= {"indexRangeFilters": True}
    return filtered


def _analysed_property() -> dict[str, Any]:
    return {
        "name": ANALYSED,
        "dataType": ["text"],
        "tokenization": "whitespace",
        "indexFilterable": False,
        "indexSearchable": True,
    }
