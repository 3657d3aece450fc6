"""The catalog as the gateway's port: opened when it can be, each call bounded in time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import structlog

from services.shared.catalog.catalog import Catalog
from services.shared.catalog.collections import Collection
from services.shared.catalog.documents import Document, DocumentPage
from services.shared.catalog.jobs import Failure, Job
from services.shared.catalog.judgments import Judgment, JudgmentPage
from services.shared.catalog.manifest import Generation
from services.shared.runtime.errors import DependencyUnavailable, NotFound

log = structlog.get_logger()

_MAX_FAILURES = 100
_RETRY_AFTER_S = 1.0


class SharedCatalog:
    """The catalog at `url`, opened by `open` or by the first call; a call that comes meanwhile waits for it."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._opening = asyncio.Lock()
        self._catalog: Catalog | None = None

    async def open(self) -> Catalog:
        """The catalog, open. Raises InvalidInput for a wrong address, DependencyUnavailable to be tried again."""
        async with self._opening:
            if self._catalog is None:
                self._catalog = await Catalog.open(self._url)
            return self._catalog

    async def collection(self, name: str) -> Collection:
        """See `CatalogReader`."""
        async with self._asked() as catalog:
            return await catalog.collections.get(name)

    async def collections(self) -> tuple[Collection, ...]:
        """See `CatalogReader`."""
        async with self._asked() as catalog:
            return await catalog.collections.list()

    async def generations(self, collection: str) -> tuple[Generation, ...]:
        """See `CatalogReader`."""
        async with self._asked() as catalog:
            return await catalog.generations.list(collection)

    async def document(self, collection: str, document_id: str) -> Document:
        """See `CatalogReader`."""
        async with self._asked() as catalog:
            try:
                return await catalog.documents.get(collection, document_id)
            except NotFound:
                await catalog.collections.get(collection)  # the one that is missing, if it is this, says so
                raise

    async def documents(self, collection: str, *, after: str | None, limit: int) -> DocumentPage:
        """See `CatalogReader`."""
        async with self._asked() as catalog:
            return await catalog.documents.list(collection, after=after, limit=limit)

    async def job(self, job_id: str) -> Job:
        """See `CatalogReader`."""
        async with self._asked() as catalog:
            return await catalog.jobs.get(job_id)

    async def failures(self, job_id: str) -> tuple[Failure, ...]:
        """See `CatalogReader`."""
        async with self._asked() as catalog:
            return await catalog.jobs.failures(job_id, limit=_MAX_FAILURES)

    async def jobs(self, *, collection: str | None, limit: int) -> tuple[Job, ...]:
        """See `CatalogReader`."""
        async with self._asked() as catalog:
            return await catalog.jobs.list(collection=collection, limit=limit)

    async def put_judgments(self, collection: str, judged: Sequence[Judgment]) -> None:
        """See `JudgmentStore`."""
        async with self._asked() as catalog:
            await catalog.judgments.put(collection, judged)

    async def judgments(self, collection: str, *, after: str | None, limit: int) -> JudgmentPage:
        """See `JudgmentStore`."""
        async with self._asked() as catalog:
            return await catalog.judgments.list(collection, after=after, limit=limit)

    async def close(self) -> None:
        """Close the catalog if it was opened."""
        if self._catalog is not None:
            await self._catalog.close()

    @asynccontextmanager
    async def _asked(self) -> AsyncIterator[Catalog]:
        try:
            async with asyncio.timeout(self._timeout_s):
                yield await self.open()
        except TimeoutError:
            log.warning("catalog_unavailable", reason=f"no answer within {self._timeout_s} s")
            raise _unavailable() from None
        except DependencyUnavailable as error:  # its text is the driver's
            log.warning("catalog_unavailable", reason=error.message)
            raise _unavailable() from None


def _unavailable() -> DependencyUnavailable:
    return DependencyUnavailable("the catalog does not answer", retry_after_s=_RETRY_AFTER_S)
