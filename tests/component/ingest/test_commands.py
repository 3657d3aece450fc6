"""Commands of an operator, each a process of its own beside the stopped service."""

import os
import time
from pathlib import Path

from services.ingest.settings import IngestSettings
from services.shared.blobs.blob_store import BlobStore
from services.shared.catalog.catalog import Catalog
from tests.component.ingest.conftest import command
from tests.contract.catalog.examples import a_collection, a_page, accept, claim


async def failed_page(catalog: Catalog, blob: str) -> None:
    """Two accepted pages, of which `bad` failed for good."""
    await a_collection(catalog, "pages", generation_id="g1")
    await accept(catalog, a_page("bad", blob=blob), a_page("good", blob=blob))
    (item,) = await claim(catalog)
    await catalog.work.fail(item, reason="the table on page 3 cannot be read", now=21.0, retry_at=None)


async def test_dead_letters_are_told_with_their_reasons_and_put_back(settings: IngestSettings) -> None:
    catalog = await Catalog.open(settings.catalog_url.get_secret_value())
    await failed_page(catalog, blob="a" * 64)
    letter = "1970-01-01T00:00:10Z pages 'bad' revision 1, job job, 1 attempts: the table on page 3 cannot be read"

    assert await command(settings, "dead-letters") == (1, [letter, "1 dead letters"])
    assert await command(settings, "dead-letters", "--retry") == (
        0,
        [letter, "1 dead letters, 1 put back into the queue"],
    )
    waiting = await claim(catalog, now=time.time() + 60, limit=5)
    assert [item.document_id for item in waiting] == ["bad", "good"]
    await catalog.close()


async def test_garbage_is_collected_in_one_round_and_told(settings: IngestSettings) -> None:
    catalog = await Catalog.open(settings.catalog_url.get_secret_value())
    blobs = BlobStore(settings.blobs_url, max_bytes=1_000)
    named, unnamed = await blobs.put(b"named"), await blobs.put(b"unnamed")
    await failed_page(catalog, blob=named)
    two_days_ago = time.time() - 2 * 86_400
    for path in Path(settings.blobs_url).rglob("*"):
        if path.name in (named, unnamed):
            os.utime(path, (two_days_ago, two_days_ago))

    told = "originals that no revision names: 1 set aside, 0 put back, 0 removed"
    assert await command(settings, "collect-garbage") == (0, [told])

    assert await blobs.condemned() == [unnamed]
    assert await blobs.get(named) == b"named"
    await catalog.close()


async def test_missing_setting_leaves_with_2(settings: IngestSettings) -> None:
    nowhere = settings.model_copy(update={"blobs_url": None})
    assert (await command(nowhere, "dead-letters"))[0] == 2
