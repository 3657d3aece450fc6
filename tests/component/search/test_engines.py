"""What the service gives over every engine: modes, exact hits, documents like one, ledgers, pages amid changes."""

import random
from typing import Any

import pytest

from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import search_pb2 as pb
from tests.component.search.conftest import Engine
from tests.component.search.searching import COLLECTION, RANKING, a_chunk, documents, id_of, only, retrieval, rows

HYBRID, KEYWORD, VECTOR = pb.MODE_HYBRID, pb.MODE_KEYWORD, pb.MODE_VECTOR
EAST, NORTH = [1, 0, 0, 0], [0, 1, 0, 0]


def ranking(**changes: Any) -> ranking_pb2.RankingSettings:
    settings = ranking_pb2.RankingSettings()
    settings.CopyFrom(RANKING)
    settings.MergeFrom(ranking_pb2.RankingSettings(**changes))
    return settings


async def test_each_mode_gives_what_its_legs_find(engine: Engine) -> None:
    await engine.hold(*COLLECTION)
    async with engine.searched() as service:
        keyword, vector, hybrid = [await service.search("turbine", mode=mode) for mode in (KEYWORD, VECTOR, HYBRID)]
    assert documents(keyword) == ["wind"]
    assert documents(vector)[:2] == ["wind", "solar"]
    assert documents(hybrid)[0] == "wind"
    assert set(documents(hybrid)) == set(documents(vector)) == {chunk.document_id for chunk in COLLECTION}


@pytest.mark.parametrize(
    ("query", "text", "others"),
    [
        ("what is TOIL", "TOIL is time off in lieu.", ["Toil and trouble, what is toil?", "What is TOILET paper?"]),
        ("exercise E5_3", "E5_3 Put the verb in its place.", ["exercise E5_31, an exercise", "exercise E5_2", "E5 3"]),
        ("E5_3", "Solution of e5_3: went.", ["E5_31 E5_31 E5_31", "E5 and 3", "5_3"]),
        ("1-12", "Pages 1-12.", ["1-1 1-1 12 12 1 12", "1-120", "11-12"]),
        ("learn C++", "C++ in a day.", ["learn C, learn C#, learn C", "learn to learn"]),
        ('"time off in lieu"', "It is time off in lieu of pay.", ["lieu time off time off in", "in lieu of time off"]),
    ],
)
async def test_what_a_query_names_to_the_letter_comes_first(
    engine: Engine, query: str, text: str, others: list[str]
) -> None:
    # The vectors speak for the others.
    await engine.hold(
        a_chunk("it", text, NORTH), *(a_chunk(f"other{n}", other, EAST) for n, other in enumerate(others))
    )
    async with engine.searched({query: rows(EAST)}) as service:
        response = await service.search(query, explain=True)
    assert documents(response)[0] == "it"
    assert [hit.ledger.exact for hit in response.hits] == [True] + [False] * len(others)


async def test_a_code_comes_first_in_a_collapsing_collection_too_and_stands_for_its_document(engine: Engine) -> None:
    await engine.hold(
        a_chunk("a0", "exercise, exercise, exercise", EAST, document_id="a", ordinal=0),
        a_chunk("a1", "exercise E5_3", NORTH, document_id="a", ordinal=1),
        a_chunk("b0", "exercise, exercise", EAST, document_id="b", ordinal=0),
    )
    async with engine.searched({"exercise E5_3": rows(EAST)}) as service:
        response = await service.search("exercise E5_3", retrieval=retrieval(collapse_by_document=True))
    assert [hit.chunk_id for hit in response.hits] == [id_of("a1"), id_of("b0")]


async def test_documents_like_one_come_from_several_departments(engine: Engine) -> None:
    near = [a_chunk(f"physics{n}", "Cells.", [1, n / 100, 0, 0], metadata={"kind": "physics"}) for n in range(8)]
    far = [
        a_chunk("law", "Cells.", [0.7, 0, 0.7, 0], metadata={"kind": "law"}),
        a_chunk("art", "Cells.", [0.7, 0, 0, 0.7], metadata={"kind": "art"}),
    ]
    await engine.hold(*near, *far)
    spread = ranking(mmr=True, mmr_lambda=0.6, mmr_cosine_share=0.5, diversify_by="kind")
    spread.MergeFrom(ranking_pb2.RankingSettings(min_distinct=3, min_distinct_within=5))
    async with engine.searched() as service:
        asked = {"query": "", "like_document_id": "physics0", "limit": 5}
        plain, diverse = await service.search(**asked), await service.search(**asked, ranking=spread)
        left_out = await service.found(**asked, ranking=spread, filter=only("kind", "physics"))
    assert documents(plain) == [f"physics{n}" for n in range(1, 6)]
    assert {hit.metadata["kind"].text for hit in diverse.hits} == {"physics", "law", "art"}
    assert "physics0" not in [*documents(plain), *documents(diverse), *left_out]


async def test_weights_k_and_depth_of_a_request_decide(engine: Engine) -> None:
    await engine.hold(*COLLECTION)
    async with engine.searched() as service:
        words = await service.search("what is TOIL", retrieval=retrieval(vector_weight=0.01, rrf_k=10), explain=True)
        assert words.hits[0].ledger.keyword.fused_share == pytest.approx(1 / 11)
        near = await service.search("solar cells", retrieval=retrieval(keyword_weight=0.01, rrf_k=10), explain=True)
        assert near.hits[0].ledger.vector.fused_share == pytest.approx(1 / 11)
        assert len(await service.found("turbine", mode=VECTOR, retrieval=retrieval(depth=2))) == 2


@pytest.mark.parametrize("mode", [HYBRID, KEYWORD, VECTOR])
async def test_every_hit_explains_itself_when_asked_and_every_page_tells_its_times(engine: Engine, mode: int) -> None:
    await engine.hold(*COLLECTION)
    async with engine.searched() as service:
        explained, plain = [await service.search("turbine", mode=mode, explain=explain) for explain in (True, False)]
    for hit in explained.hits:
        ledger = hit.ledger
        assert ledger.fused_score == pytest.approx(ledger.keyword.fused_share + ledger.vector.fused_share)
        assert ledger.keyword.HasField("score") == (ledger.keyword.rank > 0)
        assert ledger.places[-1].place == hit.rank
    assert not any(hit.HasField("ledger") for hit in plain.hits)
    for timings in (explained.timings, plain.timings):
        assert (timings.keyword_ms > 0) == (mode != VECTOR)
        assert (timings.vector_ms > 0) == (timings.embed_ms > 0) == (mode != KEYWORD)
        assert min(timings.fuse_ms, timings.rank_ms) > 0
        assert timings.total_ms > max(timings.keyword_ms, timings.vector_ms, timings.rank_ms)


async def test_pages_neither_overlap_nor_skip_while_documents_come_change_and_go(engine: Engine) -> None:
    rng = random.Random(11)

    def cell(number: int, revision: int) -> Any:
        return a_chunk(f"d{number:02d}", f"Solar cells {revision}", [1, number / 20, 0, 0], revision=revision)

    await engine.hold(*(cell(number, 1) for number in range(40)))
    async with engine.searched() as service:
        expected = documents(await service.search(limit=40))
        page = await service.search(limit=7)
        seen, gone = documents(page), set()
        while page.next:
            ahead = [name for name in expected if name not in seen and name not in gone]
            gone.add(rng.choice(ahead))
            changed = rng.sample(range(40), k=10)
            await engine.hold(
                *(cell(number, len(seen) + 2) for number in changed if f"d{number:02d}" not in gone),
                *(a_chunk(f"new{len(seen)}-{n}", "Solar cells", EAST) for n in range(5)),
            )
            await engine.index.delete(engine.generation.id, [id_of(name) for name in gone])
            page = await service.search(limit=7, cursor=page.next)
            seen += documents(page)
    assert len(gone) > 3
    assert seen == [name for name in expected if name in seen]
    assert set(expected) - set(seen) == gone


async def test_the_same_text_of_two_sources_is_one_hit_that_lists_the_other_on_every_page(engine: Engine) -> None:
    await engine.hold(
        a_chunk("first", "Copied words.", EAST),
        a_chunk("other", "Other words.", [0.9, 0.43589, 0, 0]),
        a_chunk("copy", "Copied words.", [0.8, 0.6, 0, 0]),
        a_chunk("third", "Third words.", [0.7, 0.71414, 0, 0]),
        a_chunk("its copy", "Third words.", [0.6, 0.8, 0, 0]),
    )
    collapsed = ranking(near_duplicate_cosine=1.0)
    async with engine.searched({"meaning": rows(EAST)}) as service:
        page = await service.search("meaning", ranking=collapsed, limit=2)
        rest = await service.search("meaning", ranking=collapsed, limit=2, cursor=page.next)
    assert documents(page) + documents(rest) == ["first", "other", "third"]
    assert [(also.document_id, also.fused_place) for also in page.hits[0].also] == [("copy", 3)]
    assert [also.document_id for also in rest.hits[0].also] == ["its copy"]
    assert not page.hits[1].also
