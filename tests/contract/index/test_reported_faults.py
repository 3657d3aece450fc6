"""What users of other systems reported about keyword search, languages and filters, through the analyzer."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.shared.index.chunk import IndexedChunk
from services.shared.index.filters import Comparison, Op
from services.shared.index.port import Index
from services.shared.text.analyzer import analyze_document, analyze_query
from tests.contract.index.conftest import OpenIndex
from tests.contract.index.examples import FIELDS, GENERATION, a_chunk, found_by_vector, found_by_words

POEM = {"moonlight": "床前明月光", "frost": "疑是地上霜", "moon": "举头望明月", "home": "低头思故乡"}


def written(chunk_id: str, text: str, locale: str, **changes: Any) -> IndexedChunk:
    """A chunk that reads `text`."""
    return a_chunk(
        chunk_id, text=text, locale=locale, analysed=" ".join(analyze_document(text, locale)), **changes
    )  # fmt: skip


async def found(index: Index, query: str, locale: str, **changes: Any) -> list[str]:
    """The chunks that the words of `query` find, best first."""
    return await found_by_words(index, *analyze_query(query, locale), **changes)


async def test_a_chinese_word_finds_the_lines_that_hold_it_with_a_score_and_no_other(index: Index) -> None:
    # Case 13, run-llama/llama_index #13866: every score was 0, and all lines came back.
    await index.upsert(GENERATION, [written(name, line, "zh") for name, line in POEM.items()])
    hits = await index.keyword(GENERATION, analyze_query("故乡", "zh"), filter=None, limit=10)
    assert [hit.chunk.chunk_id for hit in hits] == ["home"]
    assert hits[0].score > 0.5
    assert set(await found(index, "明月", "zh")) == {"moonlight", "moon"}


async def test_a_chinese_name_inside_a_run_of_titles_is_found_and_a_number_is_not_cut(index: Index) -> None:
    # Case 15, weaviate/weaviate #6115: names and numbers were cut apart.
    await index.upsert(
        GENERATION,
        [
            written("secretary", "省委副书记、市委书记刘捷", "zh", metadata={"unit": "刘捷"}),
            written("another", "市委书记刘洋", "zh", metadata={"unit": "刘洋"}),
            written("twenty", "共20人", "zh"),
            written("two", "共2人", "zh"),
        ],
    )
    assert (await found(index, "刘捷", "zh"))[0] == "secretary"
    only_him = Comparison("unit", Op.EQ, ("刘捷",))
    assert await found(index, "刘捷", "zh", filter=only_him) == ["secretary"]
    assert await found(index, "书记", "zh", filter=only_him) == ["secretary"]
    assert await found(index, "20", "zh") == ["twenty"]
    assert await found(index, "2", "zh") == ["two"]


async def test_hindi_words_keep_their_vowel_signs(index: Index) -> None:
    # Case 16, google-research/bert #138, openai/tiktoken #292, karpathy/minbpe #73: signs were dropped, or cut words.
    await index.upsert(
        GENERATION,
        [written("ku", "कु", "hi"), written("ki", "कि", "hi"), written("wiki", "हिन्दी विकिपीडिया", "hi")],
    )
    assert (await found(index, "कु", "hi"))[0] == "ku"
    assert (await found(index, "कि", "hi"))[0] == "ki"
    assert await found(index, "विकिपीडिया", "hi") == ["wiki"]
    for part in ("क", "ह", "विकि", "डया"):
        assert "wiki" not in await found(index, part, "hi")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("İnş", "inş"),
        ("inş", "İnş"),
        ("Işık", "ışık"),
        ("ışık", "IŞIK"),
        ("Satış Teklifleri", "satış teklİflerİ"),
        ("satış teklİflerİ", "Satış Teklifleri"),
    ],
)
async def test_turkish_words_are_found_whatever_their_i(index: Index, query: str, text: str) -> None:
    # Case 17, 4gray/iptvnator #609, krisk/Fuse #701: i and U+0307 in place of İ; I and ı never met.
    await index.upsert(GENERATION, [written("it", text, "tr"), written("other", "başka bir kelime", "tr")])
    assert await found(index, query, "tr") == ["it"]


@pytest.mark.parametrize("count", [0, 1, 2])
async def test_a_filter_that_leaves_nothing_finds_nothing_in_collections_of_any_size(index: Index, count: int) -> None:
    # Case 21, run-llama/llama_index #9705, weaviate/weaviate #4516: fusion threw, or an index was out of range.
    await index.upsert(GENERATION, [a_chunk(f"c{number}", metadata={"unit": "a"}) for number in range(count)])
    nowhere = Comparison("unit", Op.EQ, ("b",))
    assert await found_by_words(index, "w:all", filter=nowhere, limit=10) == []
    assert await found_by_vector(index, filter=nowhere, limit=10) == []
    assert len(await found_by_words(index, "w:all", limit=10)) == count
    assert len(await found_by_vector(index, limit=10)) == count


@pytest.mark.parametrize("query", ["???", "   ", '"', "…", "* ^ ~", "-", "&& || !"])
async def test_a_query_of_punctuation_finds_nothing(index: Index, query: str) -> None:
    # Case 23, aws-solutions-library-samples/qnabot-on-aws PR #439, typesense/typesense PR #2914: it found everything.
    await index.upsert(GENERATION, [written("marks", "Why??? * - && || ^ ~", "en"), written("words", "Bread", "en")])
    assert await found(index, query, "en") == []


async def test_a_query_of_stop_words_finds_the_texts_that_hold_them_and_not_everything(index: Index) -> None:
    # Case 23 as well.
    await index.upsert(
        GENERATION,
        [written("all three", "the end of salt and bread", "en"), written("one", "the end", "en"),
         written("none", "salt, bread", "en")],
    )  # fmt: skip
    assert await found(index, "the of and", "en") == ["all three", "one"]


async def test_a_filter_on_one_type_holds_in_both_legs(index: Index) -> None:
    # Case 24, FlowiseAI/Flowise PR #6408, weaviate/weaviate #11262: it held for vectors only.
    await index.upsert(
        GENERATION, [a_chunk("kept", metadata={"unit": "a"}), a_chunk("left out", metadata={"unit": "b"})]
    )
    only_a = Comparison("unit", Op.EQ, ("a",))
    assert await found_by_words(index, "w:all", filter=only_a) == ["kept"]
    assert await found_by_vector(index, filter=only_a) == ["kept"]


TEXTS = {
    "salt": "Salt and pepper",
    "salty": "salty snacks",
    "and": "AND gates, OR gates, NOT gates",
    "code": "Exercise E5_3",
    "range": "pages 1-12",
    "cpp": "C++ and .NET",
    "field": "title: the title of a book",
    "prefix": "w: a letter and a colon",
    "brackets": "f(x) = [y]",
    "quoted": 'she said "salt"',
    "star": "a * b",
    "slash": "/etc/salt",
    "umlaut": "Größe",
    "chinese": "床前明月光",
    "no word": "—",
}
WORDS = ["salt", "Salt", "salty", "gates", "AND", "OR", "NOT", "and", "E5_3", "E5", "1-12", "12", "C++", "C", ".NET"]
WORDS += ["title", "f(x)", "明月", "größe"]
SIGNS = [*"\"'“”-+*?()[]{}:^~/\\!<=%;|&\0\n", "&&", "||"]
SYNTAX = ["analysed:", "title:", "w:salt", "s:salt", "-salt", "+salt", "sal*", "s?lt", "salt~1", "salt^5", "[a TO z]"]
SYNTAX += ["/sal.*/", '"salt pepper"', '"', "_exists_:x", "* : *", "${x}", "'; DROP TABLE x"]
PIECES = st.lists(st.sampled_from([*WORDS, *SIGNS, *SYNTAX]), max_size=8)


def test_no_query_text_is_read_as_syntax(open_index: OpenIndex) -> None:
    """Whatever a query is made of, it finds the texts that hold one of its tokens, and no others."""
    tokens = {name: analyze_document(text, "en") for name, text in TEXTS.items()}

    async def filled() -> Index:
        opened = await open_index()
        await opened.create_generation(GENERATION, 4, FIELDS)
        await opened.upsert(GENERATION, [written(name, text, "en") for name, text in TEXTS.items()])
        return opened

    with asyncio.Runner() as runner:
        index = runner.run(filled())

        @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(PIECES.map(" ".join) | PIECES.map("".join) | st.text())
        def finds_what_its_tokens_say(query: str) -> None:
            wanted = set(analyze_query(query, "en"))
            expected = {name for name, held in tokens.items() if not wanted.isdisjoint(held)}
            assert set(runner.run(found_by_words(index, *wanted))) == expected

        finds_what_its_tokens_say()
        runner.run(index.close())
