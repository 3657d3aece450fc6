import asyncio

import pytest

from services.shared.catalog.catalog import Catalog
from services.shared.catalog.manifest import GenerationState
from services.shared.runtime.errors import AlreadyExists, InvalidInput, NotFound
from tests.contract.catalog.examples import MANIFEST, a_collection, a_declaration, a_page, accept, apply_all, claim


async def test_new_collection_serves_its_first_generation_empty(catalog: Catalog) -> None:
    collection = await catalog.collections.get("pages")

    assert collection.declaration == a_declaration("pages")
    assert collection.active.id == "g1"
    assert collection.active.state is GenerationState.ACTIVE
    assert collection.active.manifest == MANIFEST
    assert (collection.active.revision, collection.active.documents, collection.active.chunks) == (0, 0, 0)
    assert collection.lag == 0


async def test_same_declaration_again_returns_the_collection_as_it_stands(catalog: Catalog) -> None:
    await accept(catalog, a_page())

    again = await a_collection(catalog, "pages", generation_id="another")

    assert again == await catalog.collections.get("pages")
    assert again.active.id == "g1"
    assert [generation.id for generation in await catalog.generations.list("pages")] == ["g1"]


async def test_other_declaration_of_the_same_name_is_refused_naming_the_part(catalog: Catalog) -> None:
    other = a_declaration("pages", settings={"retrieval": {"rrf_k": 10}})

    with pytest.raises(AlreadyExists, match="exists with other settings") as refused:
        await catalog.collections.create(other, generation_id="g2", manifest=MANIFEST, now=2.0)

    assert refused.value.field == "settings"


async def test_two_processes_creating_one_collection_get_the_same_one(
    catalog: Catalog, second_catalog: Catalog
) -> None:
    created = await asyncio.gather(
        a_collection(catalog, "papers", generation_id="p1"), a_collection(second_catalog, "papers", generation_id="p2")
    )

    assert created[0] == created[1]


async def test_settings_are_kept_as_overrides_and_replaced_whole(catalog: Catalog) -> None:
    await catalog.collections.replace_settings("pages", {"retrieval": {"rrf_k": 10}, "ranking": {"mmr": True}})
    await catalog.collections.replace_settings("pages", {"retrieval": {"depth": 7}})

    declaration = (await catalog.collections.get("pages")).declaration
    assert declaration.settings == {"retrieval": {"depth": 7}}
    resolved = declaration.resolved_settings()
    assert (resolved.retrieval.rrf_k, resolved.retrieval.depth, resolved.ranking.mmr) == (60, 7, False)


async def test_settings_out_of_bound_leave_the_old_ones(catalog: Catalog) -> None:
    with pytest.raises(InvalidInput) as refused:
        await catalog.collections.replace_settings("pages", {"retrieval": {"rrf_k": 0}})

    assert refused.value.field == "settings.retrieval.rrf_k"
    assert (await catalog.collections.get("pages")).declaration.settings == {}


async def test_unknown_collection_is_not_found_with_the_way_to_the_list(catalog: Catalog) -> None:
    sentence = "collection 'nothing' does not exist; GET /v1/collections lists them"
    for call in (
        catalog.collections.get("nothing"),
        catalog.collections.replace_settings("nothing", {}),
        catalog.collections.delete("nothing", now=2.0),
        catalog.documents.list("nothing", after=None, limit=10),
        catalog.jobs.accept("nothing", [a_page()], job_id="job", now=2.0),
        catalog.builds.start("nothing", generation_id="g2", manifest=MANIFEST, job_id="build", now=2.0),
        catalog.generations.promote("nothing", "g1"),
        catalog.generations.roll_back("nothing"),
    ):
        with pytest.raises(NotFound) as missing:
            await call
        assert (missing.value.message, missing.value.field) == (sentence, "collection")


async def test_list_is_in_the_order_of_names(catalog: Catalog) -> None:
    await a_collection(catalog, "zebra", generation_id="z")
    await a_collection(catalog, "apple", generation_id="a")

    names = [collection.declaration.name for collection in await catalog.collections.list()]
    assert names == ["apple", "pages", "zebra"]


async def test_deleted_collection_takes_everything_with_it_and_cancels_what_waits(catalog: Catalog) -> None:
    await accept(catalog, a_page("applied"), job_id="first")
    await apply_all(catalog)
    await accept(catalog, a_page("begun"), a_page("waiting"), job_id="second")
    (begun,) = await claim(catalog)

    assert await catalog.collections.delete("pages", now=40.0) == ("g1",)

    assert await catalog.collections.list() == ()
    assert await claim(catalog, now=1e9) == []
    assert (await catalog.jobs.get("first")).state == "succeeded"
    assert (await catalog.jobs.get("second")).state == "cancelled"
    with pytest.raises(NotFound):
        await catalog.generations.get("g1")
    assert begun.document_id == "begun"


async def test_collection_made_again_under_a_deleted_name_starts_empty(catalog: Catalog) -> None:
    await catalog.jobs.accept("pages", [a_page()], job_id="old", now=10.0, idempotency_key="key")
    await apply_all(catalog)
    await catalog.collections.delete("pages", now=40.0)

    await a_collection(catalog, "pages", generation_id="g2")
    job = await catalog.jobs.accept("pages", [a_page()], job_id="new", now=50.0, idempotency_key="key")

    assert (job.id, job.done) == ("new", 0)
    assert (await catalog.documents.get("pages", "page")).chunks == 0
