from dataclasses import replace

import pytest

from services.shared.catalog.catalog import Catalog
from services.shared.catalog.judgments import Judgment
from services.shared.runtime.errors import InvalidInput, NotFound
from tests.contract.catalog.examples import a_collection

JUDGED = Judgment(
    id="çay",
    query="明月 nerede?",
    locale="tr",
    filter={"all": [{"field": "year", "op": "gte", "value": 2**53}]},
    relevance={"a/b": 3, "c": 0},
)


async def all_of(catalog: Catalog, collection: str = "pages") -> list[Judgment]:
    return list((await catalog.judgments.list(collection, after=None, limit=1000)).judgments)


async def test_judgment_comes_back_as_it_was_put(catalog: Catalog) -> None:
    bare = replace(JUDGED, id="bare", locale=None, filter=None)
    await catalog.judgments.put("pages", [JUDGED, bare])

    assert await all_of(catalog) == [bare, JUDGED]


async def test_judgment_takes_the_place_of_the_one_with_its_id_and_leaves_the_others(catalog: Catalog) -> None:
    other = replace(JUDGED, id="other")
    await catalog.judgments.put("pages", [JUDGED, other])
    changed = replace(JUDGED, query="Nerede?", relevance={"d": 1})
    await catalog.judgments.put("pages", [changed])

    assert await all_of(catalog) == [other, changed]


async def test_judgments_belong_to_their_collection_and_go_with_it(catalog: Catalog) -> None:
    await a_collection(catalog, "other", generation_id="o1")
    await catalog.judgments.put("pages", [JUDGED])
    await catalog.judgments.put("other", [replace(JUDGED, query="elsewhere")])
    assert [judgment.query for judgment in await all_of(catalog)] == [JUDGED.query]

    await catalog.collections.delete("other", now=50.0)
    await a_collection(catalog, "other", generation_id="o2")
    assert await all_of(catalog, "other") == []
    assert await all_of(catalog) == [JUDGED]


async def test_pages_of_judgments_follow_each_other_without_overlap_or_gap(catalog: Catalog) -> None:
    ids = [f"q{n}" for n in range(7)]
    await catalog.judgments.put("pages", [replace(JUDGED, id=one) for one in reversed(ids)])

    pages, after = [], None
    while True:
        page = await catalog.judgments.list("pages", after=after, limit=3)
        pages.append([judgment.id for judgment in page.judgments])
        if (after := page.next) is None:
            break

    assert pages == [ids[:3], ids[3:6], ids[6:]]


async def test_a_collection_that_does_not_exist_is_not_found(catalog: Catalog) -> None:
    for call in (
        catalog.judgments.put("nothing", [JUDGED]),
        catalog.judgments.list("nothing", after=None, limit=10),
    ):
        with pytest.raises(NotFound, match="'nothing' does not exist"):
            await call


@pytest.mark.parametrize("limit", [0, 1001])
async def test_page_size_is_bounded(catalog: Catalog, limit: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        await catalog.judgments.list("pages", after=None, limit=limit)
    assert refused.value.field == "limit"
