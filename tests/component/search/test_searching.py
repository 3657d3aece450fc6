"""What a search gives, with everything it stands on in good health."""

from collections.abc import AsyncIterator
from itertools import pairwise

import grpc
import numpy as np
import pytest

from plumbline.embedding.v1 import embedding_pb2
from plumbline.ranking.v1 import ranking_pb2
from plumbline.search.v1 import filter_pb2
from plumbline.search.v1 import search_pb2 as pb
from services.search.ports import Generation
from services.shared.runtime.errors import InvalidInput
from tests.component.search.searching import (
    COLLECTION,
    FIELDS,
    RANKING,
    VECTORS,
    WEIGHTS,
    Searching,
    a_chunk,
    documents,
    id_of,
    only,
    refusal,
    retrieval,
    rows,
    searching,
)
from tests.fakes.fake_index import FakeIndex
from tests.fakes.query_embedding import embeds

KEYWORD, VECTOR = pb.MODE_KEYWORD, pb.MODE_VECTOR


@pytest.fixture
async def service() -> AsyncIterator[Searching]:
    async with searching() as running:
        yield running


async def test_both_legs_are_fused_and_ranked(service: Searching) -> None:
    response = await service.search("turbine")
    assert documents(response)[0] == "wind"
    assert set(documents(response)) == {chunk.document_id for chunk in COLLECTION}
    assert (response.generation.id, response.generation.revision) == ("g1", 7)
    assert (list(response.degraded), response.window, response.next) == ([], 4, "")
    assert [hit.rank for hit in response.hits] == [1, 2, 3, 4]
    assert all(better.score >= worse.score for better, worse in pairwise(response.hits))


async def test_a_hit_tells_all_about_its_passage(service: Searching) -> None:
    hit = (await service.search()).hits[0]
    solar = COLLECTION[0]
    assert (hit.chunk_id, hit.document_id, hit.title, hit.uri) == (id_of("solar"), "solar", solar.title, solar.uri)
    assert (hit.text, list(hit.heading_path), hit.locale) == (solar.text, ["Chapter"], "en")
    assert (hit.start, hit.end, hit.tokens, hit.ordinal) == (0, len(solar.text), solar.tokens, 0)
    assert (hit.metadata["kind"].text, hit.metadata["year"].integer) == ("paper", 2021)
    assert not hit.HasField("ledger")


async def test_stages_are_timed_and_signals_are_raw_cosines(service: Searching) -> None:
    response = await service.search()
    timings, signals = response.timings, response.signals
    stages = [timings.embed_ms, timings.keyword_ms, timings.vector_ms, timings.fuse_ms, timings.rank_ms]
    assert all(0 < stage < timings.total_ms for stage in stages)
    best = float(VECTORS["solar cells"][0] @ COLLECTION[0].vectors[0])
    assert signals.best_cosine == signals.first_cosine == pytest.approx(best)
    assert signals.legs_agree
    assert signals.model == "tiny"
    assert not signals.HasField("filtered_count")


async def test_keyword_mode_finds_words_and_asks_for_no_vector(service: Searching) -> None:
    response = await service.search("turbine", mode=KEYWORD)
    assert documents(response) == ["wind"]
    assert service.embedding.requests == []
    assert response.timings.embed_ms == response.timings.vector_ms == 0
    assert not response.signals.HasField("best_cosine")


async def test_vector_mode_finds_what_is_near_and_reads_no_words(service: Searching) -> None:
    assert (await service.found("turbine", mode=VECTOR))[:2] == ["wind", "solar"]
    assert "keyword" not in service.index.calls


async def test_a_keyword_hit_far_from_the_query_s_vector_stays(service: Searching) -> None:
    response = await service.search("what is TOIL", limit=1)
    assert documents(response) == ["toil"]


async def test_a_query_vector_is_asked_of_the_generation_s_model(service: Searching) -> None:
    await service.search()
    (request,) = service.embedding.requests
    assert (request.model, request.purpose) == ("tiny", embedding_pb2.PURPOSE_QUERY)
    assert list(request.texts) == ["solar cells"]


async def test_a_long_query_is_searched_by_all_its_windows(service: Searching) -> None:
    windows = np.concatenate([rows([1, 0, 0, 0]), rows([0, 0, 0, 1])])
    service.embedding.behaviour = embeds({"long": windows}, weights_sha256=WEIGHTS)
    response = await service.search("long", mode=VECTOR)
    assert set(documents(response)[:2]) == {"solar", "toil"}
    assert response.signals.best_cosine == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize("mode", [pb.MODE_HYBRID, KEYWORD, VECTOR])
async def test_a_filter_holds_in_every_mode(service: Searching, mode: int) -> None:
    assert set(await service.found("turbine", mode=mode, filter=only("kind", "recipe"))) <= {"bread"}
    assert await service.found("turbine", mode=mode, filter=only("year", 2021)) == (
        [] if mode == KEYWORD else ["solar"]
    )


async def test_a_filter_that_leaves_nothing_is_told_from_no_hit(service: Searching) -> None:
    nothing = await service.search(filter=only("kind", "poem"))
    assert (len(nothing.hits), nothing.window, list(nothing.degraded)) == (0, 0, [])
    assert nothing.signals.HasField("filtered_count")
    assert nothing.signals.filtered_count == 0
    no_hit = await service.search(mode=KEYWORD, filter=only("kind", "recipe"))
    assert (len(no_hit.hits), no_hit.signals.filtered_count) == (0, 1)


@pytest.mark.parametrize("query", ["???", "\u200b", '"'])
async def test_a_query_without_words_has_no_keyword_hits(service: Searching, query: str) -> None:
    response = await service.search(query, mode=KEYWORD)
    assert (len(response.hits), list(response.degraded)) == (0, [])


async def test_a_query_without_words_is_answered_by_the_vector_leg_alone(service: Searching) -> None:
    response = await service.search("???", explain=True)
    assert (documents(response)[0], list(response.degraded)) == ("bread", [])
    # The only leg that ran has every vote, so its first hit has full relevance.
    assert response.hits[0].ledger.relevance == pytest.approx(1.0)


async def test_a_query_that_the_model_cannot_read_finds_nothing_and_lacks_nothing(service: Searching) -> None:
    async def refuses(_: embedding_pb2.EmbedRequest) -> embedding_pb2.EmbedResponse:
        raise InvalidInput("no token", field="texts[0]")

    service.embedding.behaviour = refuses
    response = await service.search("\u200b")
    assert (len(response.hits), list(response.degraded)) == (0, [])


async def test_stop_words_alone_find_only_what_holds_them(service: Searching) -> None:
    assert await service.found("the of and", mode=KEYWORD) == ["toil"]


async def test_chinese_words_are_found_without_spaces() -> None:
    lines = ["床前明月光", "疑是地上霜", "举头望明月", "低头思故乡"]
    chunks = [a_chunk(line, line, [1, 0, 0, 0], locale="zh") for line in lines]
    async with searching(*chunks) as service:
        assert await service.found("故乡", mode=KEYWORD, locale="zh") == ["低头思故乡"]
        assert set(await service.found("明月", mode=KEYWORD, locale="zh")) == {"床前明月光", "举头望明月"}


async def test_hits_with_the_code_of_the_query_stand_first() -> None:
    near, far = [1, 0, 0, 0], [0, 1, 0, 0]
    chunks = (
        a_chunk("near", "All about the exercise, exercise after exercise.", near),
        a_chunk("longer", "Exercise E5_31 is another exercise.", near),
        a_chunk("code", "Put the verb in its place.", far, context="Unit 5\nE5_3"),
    )
    async with searching(*chunks) as service:
        service.embedding.behaviour = embeds({"exercise E5_3": rows(near)}, weights_sha256=WEIGHTS)
        response = await service.search("exercise E5_3", explain=True)
        assert documents(response)[0] == "code"
        assert [hit.ledger.exact for hit in response.hits] == [True, False, False]


async def test_a_synonym_widens_the_keyword_leg(service: Searching) -> None:
    synonyms = [pb.Synonym(term="windmill", expansions=["wind turbine"])]
    assert await service.found("windmill", mode=KEYWORD) == []
    assert await service.found("windmill", mode=KEYWORD, retrieval=retrieval(synonyms=synonyms)) == ["wind"]


async def test_the_ledger_explains_each_hit(service: Searching) -> None:
    ledger = (await service.search(explain=True)).hits[0].ledger
    assert (ledger.keyword.rank, ledger.vector.rank) == (1, 1)
    assert ledger.keyword.score > 0
    assert ledger.vector.score == pytest.approx(1, abs=0.01)
    assert ledger.fused_score == pytest.approx(2 / 61)
    assert ledger.keyword.fused_share == pytest.approx(1 / 61)
    assert [place.step for place in ledger.places] == ["fused"]


async def test_weights_decide_between_the_legs(service: Searching) -> None:
    words = await service.found("what is TOIL", retrieval=retrieval(vector_weight=0.01), limit=1)
    assert words == ["toil"]
    legs = await service.search("turbine", retrieval=retrieval(keyword_weight=0.01), explain=True)
    assert legs.hits[0].ledger.keyword.fused_share == pytest.approx(0.01 / 61)


def two_documents(chunks_of_first: int) -> list:
    first = [
        a_chunk(f"a{n}", "Solar cells in series.", [1, n / 100, 0, 0], document_id="a", ordinal=n)
        for n in range(chunks_of_first)
    ]
    return [*first, a_chunk("b", "Solar power.", [0, 1, 0, 0])]


async def test_a_collapsing_collection_gives_documents_with_their_further_chunks() -> None:
    async with searching(*two_documents(3)) as service:
        response = await service.search(retrieval=retrieval(collapse_by_document=True))
        assert documents(response) == ["a", "b"]
        also = response.hits[0].also
        shown = {response.hits[0].chunk_id, *(other.chunk_id for other in also)}
        assert shown == {id_of("a0"), id_of("a1"), id_of("a2")}
        assert sorted(other.fused_place for other in also) == [other.fused_place for other in also]
        assert list(also[0].heading_path) == ["Chapter"]
        assert response.window == 2


async def test_a_collapsing_collection_fetches_on_until_it_has_enough_documents() -> None:
    async with searching(*two_documents(9)) as service:
        collapsing = retrieval(collapse_by_document=True, depth=4)
        assert await service.found(mode=VECTOR, retrieval=collapsing) == ["a", "b"]
        assert service.index.calls.count("nearest") == 2
        assert await service.found(mode=VECTOR, retrieval=retrieval(depth=4)) == ["a"] * 4


async def test_of_two_revisions_of_a_document_only_the_newer_one_is_shown() -> None:
    old = a_chunk("old", "Solar cells cost a fortune.", [1, 0, 0, 0], document_id="d", revision=1)
    new = a_chunk("new", "Solar power is cheap.", [0, 1, 0, 0], document_id="d", revision=2)
    async with searching(old, new) as service:
        response = await service.search()
        assert [hit.chunk_id for hit in response.hits] == [id_of("new")]


class Update:
    """An update that an engine of a cluster shows chunk by chunk: one chunk is raised, the other not yet replaced."""

    STANDS = a_chunk("stands", "Solar cells are made of silicon.", [1, 0, 0, 0], document_id="d", revision=2)
    OLD = a_chunk("old", "Solar cells cost a fortune.", [1, 0.1, 0, 0], document_id="d", revision=1, ordinal=1)
    NEW = a_chunk("new", "Solar cells are cheap.", [1, 0.1, 0, 0], document_id="d", revision=2, ordinal=1)

    def __init__(self, index: FakeIndex, method: str) -> None:
        self._index = index
        self._method = method
        index.faults[method] = self

    async def __call__(self) -> None:
        """Goes on after the first call of the method."""
        if self._index.calls.count(self._method) == 2:
            await self._index.upsert("g1", [self.NEW])
            await self._index.delete("g1", [id_of("old")])


@pytest.mark.parametrize("met_by", ["keyword", "nearest"])
async def test_a_search_that_meets_an_update_waits_until_neither_text_is_missing(met_by: str) -> None:
    async with searching(Update.STANDS, Update.OLD) as service:
        Update(service.index, met_by)
        response = await service.search()
        assert {hit.chunk_id for hit in response.hits} == {id_of("stands"), id_of("new")}
        assert len(service.embedding.requests) == 1


async def test_the_chunks_of_a_document_in_the_middle_of_its_update_are_waited_for() -> None:
    async with searching(Update.STANDS, Update.OLD) as service:
        Update(service.index, "document_chunks")
        response = await service.stub.ListChunks(pb.ListChunksRequest(collection="c", document_id="d"), timeout=5)
        assert [chunk.chunk_id for chunk in response.chunks] == [id_of("stands"), id_of("new")]


async def test_documents_like_one_are_near_it_and_not_itself(service: Searching) -> None:
    response = await service.search(query="", like_document_id="solar")
    assert documents(response)[0] == "wind"
    assert "solar" not in documents(response)
    assert service.embedding.requests == []
    assert set(await service.found(query="", like_document_id="solar", filter=only("kind", "entry"))) == {"toil"}


async def test_a_document_without_chunks_has_no_like(service: Searching) -> None:
    assert await service.refused("", like_document_id="unknown") == (grpc.StatusCode.NOT_FOUND, "like_document_id")


async def test_a_named_generation_is_searched_and_others_are_not_there(service: Searching) -> None:
    ready = Generation("g2", revision=1, model="tiny", weights_sha256=WEIGHTS, dimensions=4)
    service.catalog.ready["c"] = ready
    await service.index.create_generation("g2", 4, FIELDS)
    await service.index.upsert("g2", [a_chunk("new", "Solar cells, improved.", [1, 0, 0, 0])])
    response = await service.search(generation_id="g2")
    assert (documents(response), response.generation.id) == (["new"], "g2")
    assert "new" not in await service.found()
    assert await service.refused(generation_id="g3") == (grpc.StatusCode.NOT_FOUND, "generation_id")


async def test_an_unknown_collection_is_not_found(service: Searching) -> None:
    assert await service.refused(collection="x") == (grpc.StatusCode.NOT_FOUND, "collection")


async def test_the_catalog_is_asked_once_in_a_while() -> None:
    async with searching(catalog_memory_s=0.5) as service:
        before = service.catalog.calls
        for _ in range(3):
            await service.search()
        assert service.catalog.calls == before + 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"query": " "}, "query"),
        ({"query": "x" * 100_000}, "query"),
        ({"collection": ""}, "collection"),
        ({"limit": 0}, "limit"),
        ({"limit": 10_001}, "limit"),
        ({"offset": 101}, "offset"),
        ({"cursor": "forged"}, "cursor"),
        ({"mode": 9}, "mode"),
        ({"retrieval": None}, "retrieval"),
        ({"ranking": None}, "ranking"),
        ({"retrieval": retrieval(depth=1001)}, "retrieval.depth"),
        ({"retrieval": retrieval(keyword_gate=1.5)}, "retrieval.keyword_gate"),
        ({"filter": only("colour", "red")}, "filter.field"),
        ({"filter": only("year", "now")}, "filter.value"),
        ({"filter": filter_pb2.Filter()}, "filter"),
        ({"ranking": ranking_pb2.RankingSettings(diversify_by="colour")}, "ranking.diversify_by"),
        ({"ranking": ranking_pb2.RankingSettings()}, "ranking.relevance"),
        ({"ranking": ranking_pb2.RankingSettings(relevance=1, mmr_lambda=2)}, "ranking.mmr_lambda"),
    ],
)
async def test_bad_input_is_refused_by_its_field(service: Searching, changes: dict[str, object], field: str) -> None:
    assert await service.refused(**changes) == (grpc.StatusCode.INVALID_ARGUMENT, field)


async def test_a_filter_nested_too_deep_is_refused(service: Searching) -> None:
    condition = only("kind", "paper")
    for _ in range(16):
        condition = filter_pb2.Filter(all=filter_pb2.FilterList(filters=[condition]))
    code, field = await service.refused(filter=condition)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert field.startswith("filter.all[0]")


async def test_the_chunks_of_a_document_come_in_its_order(service: Searching) -> None:
    chunks = [a_chunk(f"p{n}", f"Part {n}.", [1, 0, 0, 0], document_id="doc", ordinal=n) for n in (2, 0, 1)]
    await service.index.upsert("g1", [*chunks, a_chunk("p9", "Gone.", [1, 0, 0, 0], document_id="doc", revision=0)])
    response = await service.stub.ListChunks(pb.ListChunksRequest(collection="c", document_id="doc"), timeout=5)
    assert [(chunk.ordinal, chunk.text) for chunk in response.chunks] == [
        (0, "Part 0."),
        (1, "Part 1."),
        (2, "Part 2."),
    ]
    assert response.generation.id == "g1"


async def test_an_unknown_document_has_no_chunks_and_an_unknown_collection_is_not_found(service: Searching) -> None:
    response = await service.stub.ListChunks(pb.ListChunksRequest(collection="c", document_id="x"), timeout=5)
    assert not response.chunks
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await service.stub.ListChunks(pb.ListChunksRequest(collection="x", document_id="x"), timeout=5)
    assert refusal(error.value) == (grpc.StatusCode.NOT_FOUND, "collection")


async def test_an_attribute_spreads_the_ranking(service: Searching) -> None:
    settings = ranking_pb2.RankingSettings()
    settings.CopyFrom(RANKING)
    settings.MergeFrom(ranking_pb2.RankingSettings(diversify_by="kind", min_distinct=2, min_distinct_within=2))
    plain = await service.found("turbine", limit=2)
    assert plain == ["wind", "solar"]  # both are papers
    assert len({kind_of(name) for name in await service.found("turbine", limit=2, ranking=settings)}) == 2


def kind_of(document: str) -> object:
    return next(chunk.metadata["kind"] for chunk in COLLECTION if chunk.document_id == document)


async def test_series_exist_at_zero_and_count_searches(service: Searching) -> None:
    sample = service.telemetry.sample
    for stage in ("embed", "keyword", "vector", "fuse", "rank"):
        assert sample("plumbline_search_stage_seconds_count", stage=stage) == 0
    for part in ("catalog", "keyword", "ranking", "vector"):
        assert sample("plumbline_search_degraded_total", part=part) == 0
    assert sample("plumbline_search_empty_total") == 0
    await service.search()
    await service.search("???", mode=KEYWORD)
    assert sample("plumbline_search_stage_seconds_count", stage="vector") == 1
    assert sample("plumbline_search_empty_total") == 1
    assert sample("plumbline_search_window_hits_sum") == 4
    assert sample("plumbline_search_rpc_requests_total", method="Search", code="OK") == 2


async def test_a_trace_shows_the_search_and_the_calls_it_makes(service: Searching) -> None:
    await service.search()
    spans = {span.name.rsplit("/", 1)[1]: span for span in service.telemetry.spans()}
    assert set(spans) == {"Search", "Embed", "Rank"}
    search = spans["Search"].get_span_context().span_id
    assert spans["Embed"].parent.span_id == spans["Rank"].parent.span_id == search
