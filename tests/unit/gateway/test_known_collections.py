import pytest
from prometheus_client import CollectorRegistry, Counter

from services.gateway.known_collections import FRESH_S, KnownCollections
from services.shared.catalog.collections import Collection
from services.shared.runtime.errors import DependencyUnavailable, NotFound
from tests.unit.gateway.collection import collection


class FakeCatalog:
    """Answers with `found`, or raises it."""

    def __init__(self) -> None:
        self.found: Collection | Exception = collection()
        self.asked = 0

    async def collection(self, name: str) -> Collection:
        self.asked += 1
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def opened(catalog: FakeCatalog) -> tuple[KnownCollections, Clock, CollectorRegistry]:
    clock, registry = Clock(), CollectorRegistry()
    return KnownCollections(catalog, Counter("stale", "Stale.", registry=registry), clock=clock), clock, registry


async def test_a_collection_is_read_once_a_second() -> None:
    catalog = FakeCatalog()
    known_collections, clock, _ = opened(catalog)
    first = await known_collections.get("notes")
    clock.now += FRESH_S / 2
    assert await known_collections.get("notes") is first
    assert catalog.asked == 1
    clock.now += FRESH_S / 2
    await known_collections.get("notes")
    assert catalog.asked == 2


async def test_settings_come_resolved() -> None:
    catalog = FakeCatalog()
    catalog.found = collection(profile="paper", settings={"retrieval": {"depth": 7}})
    known = await opened(catalog)[0].get("notes")
    assert (known.settings.retrieval.depth, known.settings.ranking.min_distinct) == (7, 3)


async def test_the_last_known_one_is_served_while_the_catalog_is_away() -> None:
    catalog = FakeCatalog()
    known_collections, clock, registry = opened(catalog)
    before = await known_collections.get("notes")
    catalog.found = DependencyUnavailable("away")
    clock.now += 3600
    known = await known_collections.get("notes")
    assert (known.stale, known.collection) == (True, before.collection)
    assert registry.get_sample_value("stale_total") == 1


async def test_a_catalog_that_is_away_is_asked_once_a_second_as_well() -> None:
    catalog = FakeCatalog()
    known_collections, clock, registry = opened(catalog)
    await known_collections.get("notes")
    catalog.found = DependencyUnavailable("away")
    clock.now += FRESH_S
    for _ in range(3):
        await known_collections.get("notes")
    assert catalog.asked == 2
    assert registry.get_sample_value("stale_total") == 3


async def test_a_catalog_that_is_back_is_believed_again() -> None:
    catalog = FakeCatalog()
    known_collections, clock, _ = opened(catalog)
    await known_collections.get("notes")
    catalog.found = DependencyUnavailable("away")
    clock.now += FRESH_S
    await known_collections.get("notes")
    catalog.found = collection()
    clock.now += FRESH_S
    assert not (await known_collections.get("notes")).stale


async def test_a_collection_that_was_never_known_fails_with_the_catalog() -> None:
    catalog = FakeCatalog()
    catalog.found = DependencyUnavailable("away")
    with pytest.raises(DependencyUnavailable):
        await opened(catalog)[0].get("notes")


async def test_a_deleted_collection_is_not_served_as_last_known() -> None:
    catalog = FakeCatalog()
    known_collections, clock, _ = opened(catalog)
    await known_collections.get("notes")
    clock.now += FRESH_S
    for found in (NotFound("gone"), DependencyUnavailable("away")):
        catalog.found = found
        with pytest.raises(type(found)):
            await known_collections.get("notes")


async def test_a_forgotten_collection_is_read_anew() -> None:
    catalog = FakeCatalog()
    known_collections, _, _ = opened(catalog)
    await known_collections.get("notes")
    known_collections.forget("notes")
    await known_collections.get("notes")
    assert catalog.asked == 2
