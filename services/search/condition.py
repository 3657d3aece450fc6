"""The condition that every hit meets, and the values of a stored chunk that it reads."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from services.shared.index.chunk import StoredChunk
from services.shared.index.fields import BUILT_IN_FIELDS, FieldType, FieldValue, comparable, start_of_period
from services.shared.index.filters import AllOf, Comparison, Filter, Not, Op, matches


def field_value(chunk: StoredChunk, field: str) -> FieldValue | None:
    """The value of a declared or built-in field, as it was written; None when it is missing."""
    if field not in BUILT_IN_FIELDS:
        return chunk.metadata.get(field)
    value: str = chunk.document_id if field == "id" else getattr(chunk, field)
    return value or None


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter in its normal form over declared `fields` and the built-in ones; None lets everything through."""

    filter: Filter | None
    fields: Mapping[str, FieldType]

    def without_document(self, document_id: str) -> Self:
        """This condition for all documents but one."""
        other = Not(Comparison("id", Op.EQ, (document_id,)))
        return replace(self, filter=other if self.filter is None else AllOf((self.filter, other)))

    def holds_for(self, chunk: StoredChunk) -> bool:
        """Whether the chunk, as it is stored now, meets it; the index says the same."""
        if self.filter is None:
            return True
        fields = {**self.fields, **BUILT_IN_FIELDS}
        return matches(self.filter, {field: _comparable(chunk, field, declared) for field, declared in fields.items()})


def _comparable(chunk: StoredChunk, field: str, declared: FieldType) -> FieldValue | None:
    if field == "date":  # any text is kept as a document's date; what names no day, month or year is missing
        return start_of_period(chunk.date)
    value = field_value(chunk, field)
    return None if value is None else comparable(value, declared)
