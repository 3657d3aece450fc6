"""What the catalog's tests put into it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from services.shared.catalog.acceptance import Change, Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.collections import Collection
from services.shared.catalog.declaration import Declaration, declare
from services.shared.catalog.documents import Put
from services.shared.catalog.jobs import Job
from services.shared.catalog.manifest import Manifest
from services.shared.catalog.work_item import WorkItem

MANIFEST = Manifest(
    model="all-MiniLM-L6-v2",
    weights_sha256="5" * 64,
    dimensions=384,
    profile="docs",
    chunk_target=400,
    chunk_overlap=50,
    chunk_minimum=100,
    analyzer_version="1",
)
_PAGE = Put(
    id="page",
    title="A page",
    uri="https://example.org/page",
    locale="en",
    date="2024-03",
    metadata={"year": 2024, "draft": False},
    media_type="text/markdown",
    blob="a" * 64,
    content_digest="b" * 64,
)


def a_page(page_id: str = "page", **changes: Any) -> Put:
    return replace(_PAGE, id=page_id, **changes)


def a_declaration(name: str, *, settings: Mapping[str, Any] | None = None, profile: str = "docs") -> Declaration:
    fields = {"year": "integer", "draft": "boolean"}
    return declare(name, profile=profile, locale="en", fields=fields, settings=settings or {})


async def a_collection(catalog: Catalog, name: str, *, generation_id: str) -> Collection:
    return await catalog.collections.create(
        a_declaration(name), generation_id=generation_id, manifest=MANIFEST, now=1.0
    )


async def accept(catalog: Catalog, *changes: Change, job_id: str = "job", now: float = 10.0) -> Job:
    return await catalog.jobs.accept("pages", changes, job_id=job_id, now=now)


async def claim(catalog: Catalog, *, owner: str = "worker", now: float = 20.0, limit: int = 1) -> list[WorkItem]:
    return list(await catalog.work.claim(owner=owner, now=now, lease_s=30.0, limit=limit))


async def apply_all(
    catalog: Catalog, *, chunk_ids: Sequence[str] = ("c1", "c2"), outcome: Outcome = Outcome.EMBEDDED
) -> None:
    """Apply everything that waits, to every live generation, each document as `chunk_ids`."""
    while items := await claim(catalog):
        for item in items:
            ids = () if item.action == "delete" else tuple(chunk_ids)
            live = await catalog.generations.live(item.collection)
            await catalog.work.commit_applied(
                item,
                chunk_ids={generation.id: ids for generation in live},
                outcome=Outcome.DELETED if item.action == "delete" else outcome,
                now=30.0,
            )
