"""What users of other systems reported about hybrid search, asked of the service over every engine."""

import grpc
import pytest

from plumbline.search.v1 import search_pb2 as pb
from tests.component.search.conftest import Engine
from tests.component.search.searching import COLLECTION, a_chunk, documents, id_of, only, retrieval, rows

HYBRID, KEYWORD, VECTOR = pb.MODE_HYBRID, pb.MODE_KEYWORD, pb.MODE_VECTOR
EAST, NORTH = [1, 0, 0, 0], [0, 1, 0, 0]


async def test_several_chunks_of_a_document_have_one_vote_in_a_leg(engine: Engine) -> None:
    # Case 3, langchain-ai/langchain #37046: a document voted once for each of its chunks.
    first = [a_chunk(f"a{n}", "Solar " * (3 - n), NORTH, document_id="a", ordinal=n) for n in range(3)]
    await engine.hold(*first, a_chunk("b", "Wind.", EAST))
    async with engine.searched({"solar": rows(EAST)}) as service:
        response = await service.search("solar", explain=True, retrieval=retrieval(collapse_by_document=True))
        ledgers = {hit.document_id: hit.ledger for hit in response.hits}
    # Three votes would be 1/61 + 1/62 + 1/63 from the keyword leg alone.
    assert ledgers["a"].fused_score == pytest.approx(1 / 61 + 1 / 62)
    assert ledgers["b"].fused_score == pytest.approx(1 / 61)


async def test_the_same_text_from_two_sources_is_two_hits_each_with_its_own_metadata(engine: Engine) -> None:
    # Case 4, langchain-ai/langchain #38627: fusion by text kept the metadata of the later one.
    await engine.hold(
        a_chunk("original", "Solar cells.", EAST, metadata={"kind": "paper", "year": 2001}),
        a_chunk("copy", "Solar cells.", EAST, metadata={"kind": "blog", "year": 2020}),
    )
    async with engine.searched() as service:
        hits = (await service.search()).hits
    assert {(hit.document_id, hit.metadata["kind"].text, hit.metadata["year"].integer) for hit in hits} == {
        ("original", "paper", 2001), ("copy", "blog", 2020)
    }  # fmt: skip


async def test_chunks_that_begin_alike_are_different_hits(engine: Engine) -> None:
    # Case 5, param20h/PDF-Assistant-RAG #634: the first 200 characters were the key.
    header = "Solar cells, yearly report. " * 10
    await engine.hold(
        a_chunk("one", header + "Costs fell.", EAST, document_id="report", ordinal=0),
        a_chunk("two", header + "Output rose.", EAST, document_id="report", ordinal=1),
    )
    async with engine.searched() as service:
        assert {hit.chunk_id for hit in (await service.search()).hits} == {id_of("one"), id_of("two")}


@pytest.mark.parametrize("weights", [{}, {"vector_weight": 1e-9}])
async def test_no_distance_takes_an_exact_keyword_hit_away(engine: Engine, weights: dict[str, float]) -> None:
    # Case 19, weaviate/weaviate #10350: a cap on the vector distance removed it. There is no such cap here.
    await engine.hold(*COLLECTION)
    async with engine.searched() as service:
        assert (await service.found("what is TOIL", retrieval=retrieval(**weights)))[0] == "toil"


async def test_pages_by_offset_are_different_hits(engine: Engine) -> None:
    # Case 20, weaviate/weaviate #3205, #3076: page 2 repeated page 1, or the offset was ignored.
    await engine.hold(*(a_chunk(f"d{n:02d}", "Solar cells " + "again " * n, [1, n / 10, 0, 0]) for n in range(20)))
    async with engine.searched() as service:
        pages = [await service.found(limit=5, offset=offset) for offset in (0, 5, 10)]
        assert [len(page) for page in pages] == [5, 5, 5]
        assert len({name for page in pages for name in page}) == 15
        assert [name for page in pages for name in page] == await service.found(limit=15)


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("mode", [HYBRID, KEYWORD, VECTOR])
async def test_a_filter_that_leaves_nothing_is_an_empty_page(engine: Engine, mode: int, count: int) -> None:
    # Case 21, run-llama/llama_index #9705, weaviate/weaviate #4516: fusion threw, or an index was out of range.
    await engine.hold(*COLLECTION[:count])
    async with engine.searched() as service:
        response = await service.search(mode=mode, filter=only("kind", "poem"))
        assert (documents(response), list(response.degraded), response.next) == ([], [], "")
        assert response.signals.filtered_count == 0
        assert len(await service.found(mode=VECTOR)) == count


@pytest.mark.parametrize("query", ["???", '"', "* -", "(~)^"])
async def test_a_query_of_punctuation_has_no_keyword_hits(engine: Engine, query: str) -> None:
    # Case 23, aws-solutions-library-samples/qnabot-on-aws PR #439, typesense/typesense PR #2914: it found everything.
    await engine.hold(*COLLECTION)
    async with engine.searched() as service:
        response = await service.search(query, mode=KEYWORD)
        assert (documents(response), list(response.degraded)) == ([], [])


async def test_a_query_of_stop_words_finds_by_words_only_what_holds_them(engine: Engine) -> None:
    # Case 23 as well. Of the collection, only "TOIL is time off in lieu of overtime pay." has one of them.
    await engine.hold(*COLLECTION)
    async with engine.searched() as service:
        assert await service.found("the of and", mode=KEYWORD) == ["toil"]


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
async def test_a_blank_query_is_refused(engine: Engine, query: str) -> None:
    # Case 23 as well.
    async with engine.searched() as service:
        for mode in (HYBRID, KEYWORD, VECTOR):
            assert await service.refused(query, mode=mode) == (grpc.StatusCode.INVALID_ARGUMENT, "query")


@pytest.mark.parametrize("mode", [HYBRID, KEYWORD, VECTOR])
async def test_a_filter_on_one_type_holds_in_every_mode(engine: Engine, mode: int) -> None:
    # Case 24, FlowiseAI/Flowise PR #6408, weaviate/weaviate #11262: it held for vectors and was ignored for hybrid.
    await engine.hold(
        a_chunk("kept", "Solar cells.", NORTH, metadata={"kind": "a"}),
        a_chunk("left out", "Solar cells, solar cells.", EAST, metadata={"kind": "b"}),
    )
    async with engine.searched() as service:
        assert await service.found(mode=mode, filter=only("kind", "a")) == ["kept"]
