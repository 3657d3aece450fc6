"""A filter on its way to Weaviate, and what it says of the chunks that come back. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from weaviate.proto.v1 import base_pb2

from services.shared.index.chunk import LegHit
from services.shared.index.fields import BUILT_IN_FIELDS, FieldType
from services.shared.index.filters import Filter, matches
from services.shared.index.weaviate_filter import fields_of, property_of, to_weaviate
from services.shared.index.weaviate_objects import compared_values, to_hit
from services.shared.index.weaviate_requests import Copy


@dataclass(frozen=True, slots=True)
class Condition:
    """A filter as Weaviate reads it; `filters` is None when every chunk meets it, `is_never` says that none does.

    `compared` are the fields that the filter names and the generation has.
    """

    filter: Filter | None
    compared: Mapping[str, FieldType]
    filters: base_pb2.Filters | None
    is_never: bool

    @classmethod
    def of(cls, filter: Filter | None, fields: Mapping[str, FieldType]) -> Self:
        """The condition of a filter in normal form over a generation with these declared fields."""
        if filter is None:
            return cls(filter, {}, None, is_never=False)
        there = {**fields, **BUILT_IN_FIELDS}
        compared = {name: there[name] for name in sorted(fields_of(filter)) if name in there}
        translated = to_weaviate(filter, fields)
        if isinstance(translated, bool):
            return cls(filter, compared, None, is_never=not translated)
        return cls(filter, compared, translated, is_never=False)

    @property
    def properties(self) -> list[str]:
        """What a search must bring of each chunk so that `hits` can look at it again."""
        return [property_of(name) for name in self.compared]

    def hits(self, found: Iterable[Copy]) -> list[LegHit]:
        """The chunks found that meet the filter as they are now.

        Weaviate finds a chunk by its index and then reads it: one that is changed in between comes with what it has
        become, which may be another unit or year than the filter asks for.
        """
        return [
            to_hit(copy.result, copy.chunk_id, copy.score)
            for copy in found
            if self.filter is None or matches(self.filter, compared_values(copy.result, self.compared))
        ]
