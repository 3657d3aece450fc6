"""A collection as the catalog gives it."""

from typing import Any

from services.gateway.ports import KnownCollection
from services.shared.catalog.collections import Collection
from services.shared.catalog.declaration import declare
from services.shared.catalog.manifest import Generation, GenerationState, Manifest


def collection(**declared: Any) -> Collection:
    """A `docs` collection that declares `department` unless told otherwise."""
    parts = {"profile": "docs", "locale": "en", "fields": {"department": "keyword"}, "settings": {}} | declared
    manifest = Manifest("m", "ab", 384, parts["profile"], 400, 50, 100, "1")
    active = Generation("g", "notes", GenerationState.ACTIVE, manifest, 1, 0, 0, 0, 0.0)
    return Collection(declare("notes", **parts), active, previous_generation_id=None, sequence=0, created_at=0.0)


def known(**declared: Any) -> KnownCollection:
    """The same with its settings."""
    found = collection(**declared)
    return KnownCollection(found, found.declaration.resolved_settings())
