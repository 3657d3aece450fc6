import pytest

from services.shared.catalog.acceptance import Outcome
from services.shared.catalog.catalog import Catalog
from services.shared.catalog.manifest import Generation
from services.shared.catalog.term_statistics import DocumentTerms
from services.shared.runtime.errors import Conflict, NotFound
from tests.contract.catalog.examples import MANIFEST, a_collection, a_page, accept, apply_all


async def start(catalog: Catalog, generation_id: str, *, now: float = 2.0) -> Generation:
    return await catalog.builds.start(
        "pages", generation_id=generation_id, manifest=MANIFEST, job_id=f"build-{generation_id}", now=now
    )


async def build_all(catalog: Catalog) -> None:
    """Build everything that waits for it, each document as two chunks."""
    while items := await catalog.builds.claim(owner="builder", now=50.0, lease_s=30.0, limit=2):
        for item in items:
            await catalog.builds.commit(
                item, chunk_ids=["b1", "b2"], terms=DocumentTerms(), outcome=Outcome.EMBEDDED, now=51.0
            )


async def ready(catalog: Catalog, generation_id: str, *, now: float = 2.0) -> None:
    await start(catalog, generation_id, now=now)
    await build_all(catalog)


async def with_a_page(catalog: Catalog) -> None:
    """Something to build."""
    await accept(catalog, a_page("seed"), job_id="seed")
    await apply_all(catalog)


async def states(catalog: Catalog) -> dict[str, str]:
    return {generation.id: generation.state.value for generation in await catalog.generations.list("pages")}


async def live(catalog: Catalog) -> list[str]:
    return [generation.id for generation in await catalog.generations.live("pages")]


async def test_promotion_switches_what_serves_and_keeps_the_one_before(catalog: Catalog) -> None:
    await ready(catalog, "g2")
    await catalog.generations.promote("pages", "g2")

    collection = await catalog.collections.get("pages")
    assert (collection.active.id, collection.previous_generation_id) == ("g2", "g1")
    assert await states(catalog) == {"g1": "retired", "g2": "active"}
    assert await live(catalog) == ["g1", "g2"]


async def test_second_promotion_lets_go_of_the_one_before_the_previous(catalog: Catalog) -> None:
    for generation_id, now in (("g2", 2.0), ("g3", 3.0)):
        await ready(catalog, generation_id, now=now)
        await catalog.generations.promote("pages", generation_id)

    assert await live(catalog) == ["g2", "g3"]
    await catalog.generations.remove("g1")
    assert await states(catalog) == {"g2": "retired", "g3": "active"}


async def test_roll_back_swaps_the_two_and_can_be_undone(catalog: Catalog) -> None:
    await ready(catalog, "g2")
    await catalog.generations.promote("pages", "g2")

    await catalog.generations.roll_back("pages")
    assert (await catalog.collections.get("pages")).active.id == "g1"
    assert await states(catalog) == {"g1": "active", "g2": "retired"}

    await catalog.generations.roll_back("pages")
    assert (await catalog.collections.get("pages")).active.id == "g2"


async def test_roll_back_without_a_previous_generation_is_refused(catalog: Catalog) -> None:
    with pytest.raises(Conflict, match="no previous generation"):
        await catalog.generations.roll_back("pages")


async def test_change_is_applied_to_every_live_generation(catalog: Catalog) -> None:
    await ready(catalog, "g2")
    await catalog.generations.promote("pages", "g2")
    await with_a_page(catalog)
    await start(catalog, "g3", now=3.0)
    await accept(catalog, a_page())
    await apply_all(catalog)

    generations = await catalog.generations.live("pages")
    assert [(one.id, one.revision, one.documents) for one in generations] == [("g1", 2, 2), ("g2", 2, 2), ("g3", 1, 1)]


async def test_failed_generation_is_passed_by_and_cannot_be_promoted(catalog: Catalog) -> None:
    await with_a_page(catalog)
    await start(catalog, "g2")
    await catalog.jobs.cancel("build-g2", now=3.0)

    assert await live(catalog) == ["g1"]
    with pytest.raises(Conflict, match="is failed, not ready"):
        await catalog.generations.promote("pages", "g2")


async def test_generation_that_is_being_built_cannot_be_promoted(catalog: Catalog) -> None:
    await with_a_page(catalog)
    await start(catalog, "g2")

    with pytest.raises(Conflict, match="is building, not ready"):
        await catalog.generations.promote("pages", "g2")
    assert (await catalog.collections.get("pages")).active.id == "g1"


async def test_one_generation_is_built_at_a_time(catalog: Catalog) -> None:
    await with_a_page(catalog)
    await start(catalog, "g2")

    with pytest.raises(Conflict, match="'g2' of 'pages' is being built already"):
        await start(catalog, "g3")


async def test_sequence_of_a_building_generation_counts_from_when_it_is_ready(catalog: Catalog) -> None:
    await with_a_page(catalog)
    await start(catalog, "g2")
    await accept(catalog, a_page())
    await apply_all(catalog)
    assert (await catalog.generations.get("g2")).applied_sequence == 0

    await build_all(catalog)
    assert (await catalog.generations.get("g2")).applied_sequence == 2


async def test_live_generation_cannot_be_removed(catalog: Catalog) -> None:
    with pytest.raises(Conflict, match="'g1' is in use"):
        await catalog.generations.remove("g1")


async def test_generation_of_another_collection_is_not_found(catalog: Catalog) -> None:
    await a_collection(catalog, "other", generation_id="o1")

    for call in (catalog.generations.promote("pages", "o1"), catalog.generations.get("nothing")):
        with pytest.raises(NotFound) as missing:
            await call
        assert missing.value.field == "generation_id"
