import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from services.ingest.domain.blocks import Block, ParsedDocument
from services.ingest.domain.chunk_profile import ChunkProfile, chunk_profile
from services.ingest.domain.chunking import Chunk, split_into_chunks


def count_words(texts: Sequence[str]) -> list[int]:
    """Words, and every character of a script without spaces: a tokenizer small enough to check by hand."""
    return [len(regex.findall(r"(?V1)[\p{Han}\p{Thai}]|[\S--[\p{Han}\p{Thai}]]+", text)) for text in texts]


def chunks_of(*blocks: Block, title: str = "", profile: ChunkProfile) -> list[Chunk]:
    return split_into_chunks(ParsedDocument(title, blocks), profile, count_words)


def words(count: int, word: str = "word") -> str:
    return " ".join([word] * (count - 1)) + f" {word}."


def test_a_short_document_is_one_chunk_under_its_title_and_headings() -> None:
    assert chunks_of(
        Block("paragraph", "One. Two.", ("Guide", "Install")),
        Block("list", "- a", ("Guide", "Install")),
        title="Manual",
        profile=ChunkProfile(10, 2, 0),
    ) == [Chunk(0, "One. Two.\n\n- a", "Manual\nGuide > Install", ("Guide", "Install"), (), 0, 14, 4)]


def test_a_title_that_is_also_the_first_heading_is_said_once() -> None:
    (chunk,) = chunks_of(Block("paragraph", "x", ("Guide", "Install")), title="Guide", profile=ChunkProfile(10, 2, 0))
    assert chunk.context == "Guide\nInstall"
    assert chunk.heading_path == ("Guide", "Install")


def test_a_document_without_blocks_has_no_chunks() -> None:
    assert chunks_of(title="Empty", profile=ChunkProfile(10, 2, 0)) == []


@pytest.mark.parametrize("name", ["docs", "paper", "lesson", "entry", "plain"])
def test_sections_are_not_mixed_however_short(name: str) -> None:
    chunks = chunks_of(
        Block("paragraph", "a", ("A",)),
        Block("paragraph", "b", ("A", "B")),
        Block("paragraph", "c", ("C",)),
        profile=chunk_profile(name, target=400, overlap=50, minimum=100),
    )
    assert [(chunk.heading_path, chunk.text) for chunk in chunks] == [(("A",), "a"), (("A", "B"), "b"), (("C",), "c")]


def test_overlap_stays_inside_a_section() -> None:
    chunks = chunks_of(
        Block("paragraph", " ".join(["One two three."] * 8), ("A",)),
        Block("paragraph", "Four.", ("B",)),
        profile=chunk_profile("paper", target=12, overlap=3, minimum=0),
    )
    assert [chunk.tokens for chunk in chunks] == [12, 12, 9 - 3, 1]  # 24 words: 1-12, 10-21, 19-24; then B
    assert chunks[-1].text == "Four."


def test_a_card_with_its_examples_is_one_chunk_and_units_are_not_mixed() -> None:
    card, examples = ("Unit 1", "Present simple"), ("Unit 1", "Present simple", "Examples")
    chunks = chunks_of(
        Block("paragraph", "Welcome.", ("Unit 1",), (1,)),
        Block("paragraph", words(900), card, (1, 2)),
        Block("list", "- I go.", examples, (1, 2, 3)),
        Block("paragraph", "Another card.", ("Unit 1", "Articles"), (1, 4)),
        Block("paragraph", "Welcome again.", ("Unit 2",), (5,)),
        profile=chunk_profile("lesson", target=400, overlap=50, minimum=100),
    )
    assert [chunk.heading_path for chunk in chunks] == [("Unit 1",), card, ("Unit 1", "Articles"), ("Unit 2",)]
    assert chunks[1].text.endswith("- I go.")
    assert chunks[1].context == "Unit 1 > Present simple\nUnit 1 > Present simple > Examples"


def test_a_long_article_of_a_lesson_is_cut() -> None:
    chunks = chunks_of(
        Block("paragraph", " ".join([words(20)] * 150), ("Unit 1", "Article")),
        profile=chunk_profile("lesson", target=400, overlap=50, minimum=100),
    )
    assert all(chunk.tokens <= 400 + 100 for chunk in chunks)


def test_an_entry_is_never_cut() -> None:
    chunks = chunks_of(
        Block("paragraph", words(5000), ("T", "TOIL"), (1, 2)),
        Block("quote", words(3000), ("T", "TOIL", "Example"), (1, 2, 3)),
        Block("paragraph", "A bank of a river.", ("T", "bank"), (1, 4)),
        Block("paragraph", "A bank for money.", ("T", "bank"), (1, 5)),
        profile=chunk_profile("entry", target=400, overlap=0, minimum=0),
    )
    assert [chunk.tokens for chunk in chunks] == [8000, 5, 4]


def test_an_entry_of_the_size_of_a_book_is_cut() -> None:
    chunks = chunks_of(
        Block("paragraph", words(20_001), ("T", "TOIL"), (1, 2)),
        profile=chunk_profile("entry", target=400, overlap=0, minimum=0),
    )
    assert max(chunk.tokens for chunk in chunks) == 400


def test_a_header_that_would_outweigh_the_rows_is_not_repeated() -> None:
    header = f"| {'h' * 2_000} |\n| --- |"
    chunks = chunks_of(
        Block("table", header + "".join(f"\n| {n} |" for n in range(20)), table_header=header),
        profile=ChunkProfile(target=150, overlap=0, minimum=0),
    )
    assert len(chunks) > 1
    assert {chunk.context for chunk in chunks} == {""}


# The numbers of the cases are those of the list of faults that others' users reported.


def test_case_32_no_chunk_lies_inside_the_one_before() -> None:
    text = "x" * 300
    chunks = chunks_of(Block("paragraph", text), profile=chunk_profile("plain", target=100, overlap=20, minimum=0))
    assert [(chunk.start, chunk.end) for chunk in chunks] == [(0, 100), (80, 180), (160, 260), (240, 300)]


def test_case_33_overlap_invents_no_text() -> None:
    text = "Overview\nThis module handles the parsing of files.\n\nDetails\nIt reads each of them once and keeps order."
    blocks = [Block("paragraph", part) for part in text.split("\n\n")]
    chunks = chunks_of(*blocks, profile=chunk_profile("plain", target=50, overlap=10, minimum=0))
    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.text in text
        assert text[chunk.start : chunk.end] == chunk.text


def test_case_19_and_20_every_part_of_a_table_reads_as_a_table() -> None:
    header = "| Category | Q1 |\n|  | Jan-Mar |\n| --- | --- |"
    rows = [f"| Row {number} | {number} |" for number in range(20)]
    chunks = chunks_of(
        Block("caption", "Table 1: sales"),
        Block("table", "\n".join([header, *rows]), table_header=header),
        Block("paragraph", "After the table."),
        title="Report",
        profile=ChunkProfile(40, 10, 0),
    )
    assert len(chunks) > 3
    assert chunks[0].text.startswith("Table 1: sales\n\n" + header)
    assert chunks[0].context == "Report"
    for chunk in chunks[1:]:
        assert chunk.context == "Report\n" + header
        assert chunk.text.startswith("| Row ")
        assert "---" not in chunk.text and "Table 1" not in chunk.text
    assert chunks[-1].text.endswith("| Row 19 | 19 |\n\nAfter the table.")


def test_a_table_that_begins_after_a_paragraph_is_whole_in_its_first_part() -> None:
    header = "| h |\n| - |"
    chunks = chunks_of(
        Block("paragraph", words(8)),
        Block("table", header + "\n| 1 |\n| 2 |\n| 3 |", table_header=header),
        profile=ChunkProfile(12, 0, 0),
    )
    assert [(chunk.context, chunk.text) for chunk in chunks] == [
        ("", words(8)),
        ("", header + "\n| 1 |\n| 2 |"),
        (header, "| 3 |"),
    ]


def test_case_25_pages_are_those_of_the_text_also_where_it_overlaps() -> None:
    chunks = chunks_of(
        Block("paragraph", "One two. Three four. Five six.", page=1),
        Block("paragraph", "Seven eight. Nine ten. Eleven twelve.", page=2),
        profile=ChunkProfile(6, 2, 0),
    )
    assert [chunk.pages for chunk in chunks] == [(1,), (1, 2), (2,)]


def test_case_26_hindi_is_cut_after_its_own_full_stop() -> None:
    sentence = "यह हिन्दी का एक साधारण वाक्य है जो परीक्षण के लिए लिखा गया है।"
    text = " ".join([sentence] * (1648 // (len(sentence) + 1)))
    for overlap in (0, 50):
        chunks = chunks_of(Block("paragraph", text), profile=ChunkProfile(800, overlap, 0, measure="characters"))
        assert len(chunks) > 1
        assert all(chunk.text.endswith("।") and chunk.text.startswith("यह") for chunk in chunks)


def test_tokens_of_a_plain_chunk_are_counted_although_characters_decide() -> None:
    (chunk,) = chunks_of(
        Block("paragraph", "one two three"), profile=chunk_profile("plain", target=400, overlap=50, minimum=0)
    )
    assert chunk.tokens == 3


@pytest.mark.timeout(120)
def test_five_megabytes_are_cut_in_seconds() -> None:
    paragraph = " ".join(["The quick brown fox jumps over the lazy dog near the river bank."] * 12)
    blocks = tuple(Block("paragraph", paragraph, (f"Section {number // 10}",)) for number in range(6_500))
    started = time.perf_counter()
    chunks = chunks_of(*blocks, profile=chunk_profile("docs", target=400, overlap=50, minimum=100))
    assert len(chunks) > 1000
    assert time.perf_counter() - started < 60  # about 2 s on two slow cores; quadratic time would take hours


# Properties, over the scripts of the product and a few more.

_LATIN = [
    "The fee is 5 dollars.",
    "Dr. Smith left!",
    "Satış Teklifleri nedir?",
    "naïve cafe\u0301 re\u0301sume\u0301",
    "C++",
]
_DEVANAGARI = ["यह हिन्दी है।", "क्या आप कल आएँगे?", "विकिपीडिया"]
_HAN = ["床前明月光，疑是地上霜。", "他说：「好！」", "低头思故乡"]
_ARABIC = ["هل هذا صحيح؟", "نعم، هذا صحيح.", "مُحَمَّد"]
_THAI = ["ที่นี่มีอาหารอร่อย", "สวัสดีครับ น้ำ"]
_OTHER = ["👩‍👩‍👧 🇩🇪🇹🇷 👍🏽", "x" * 70, "\u0301 stray", "a\u200db"]
_SENTENCE = st.sampled_from(_LATIN + _DEVANAGARI + _HAN + _ARABIC + _THAI + _OTHER)
_TEXT = st.lists(_SENTENCE, min_size=1, max_size=8).map(" ".join)
_LINES = st.lists(_SENTENCE, min_size=1, max_size=6).map("\n".join)
_HEADINGS = st.lists(st.sampled_from(["A", "B", "C"]), max_size=3).map(tuple)


@st.composite
def _blocks(draw: st.DrawFn) -> Block:
    path, page = draw(_HEADINGS), draw(st.none() | st.integers(1, 3))
    kind = draw(st.sampled_from(["paragraph", "quote", "caption", "list", "code", "table"]))
    if kind == "table":
        header = draw(st.sampled_from(["", "| h |\n| --- |"]))
        rows = "\n".join(f"| {line} |" for line in draw(_LINES).split("\n"))
        return Block("table", f"{header}\n{rows}" if header else rows, path, (), page, header)
    return Block(kind, draw(_LINES if kind in ("list", "code") else _TEXT), path, (), page)  # type: ignore[arg-type]


@st.composite
def _profiles(draw: st.DrawFn) -> ChunkProfile:
    name = draw(st.sampled_from(["docs", "paper", "lesson", "entry", "plain"]))
    target = draw(st.integers(1, 60))
    return chunk_profile(
        name, target=target, overlap=draw(st.integers(0, target - 1)), minimum=draw(st.integers(0, target))
    )


_DOCUMENTS = st.builds(ParsedDocument, st.sampled_from(["", "A", "Title"]), st.lists(_blocks(), max_size=8).map(tuple))


@given(_DOCUMENTS, _profiles())
@settings(deadline=None)
def test_the_laws_of_chunks_hold(document: ParsedDocument, profile: ChunkProfile) -> None:
    chunks = split_into_chunks(document, profile, count_words)
    body = document.body
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    covered: set[int] = set()
    edges = {match.start() for match in regex.finditer(r"\X", body)} | {len(body)}
    for chunk in chunks:
        # A chunk is a piece of the body, not blank, and cuts no grapheme cluster.
        assert chunk.text == body[chunk.start : chunk.end]
        assert chunk.text.strip()
        assert {chunk.start, chunk.end} <= edges
        covered.update(range(chunk.start, chunk.end))
    # Nothing is lost.
    assert all(place in covered for place, character in enumerate(body) if not character.isspace())
    for before, after in pairwise(chunks):
        # Chunks follow the text, and none lies wholly inside its neighbour.
        assert before.start < after.start and before.end < after.end


@given(_DOCUMENTS, _profiles())
@settings(deadline=None)
def test_no_chunk_reaches_beyond_its_section(document: ParsedDocument, profile: ChunkProfile) -> None:
    starts = document.block_starts
    for chunk in split_into_chunks(document, profile, count_words):
        paths = {
            block.heading_path[: profile.section_depth]
            for start, block in zip(starts, document.blocks, strict=True)
            if start < chunk.end and chunk.start < start + len(block.text)
        }
        assert len(paths) == 1
        assert chunk.heading_path[: profile.section_depth] in paths


@given(_DOCUMENTS, _profiles())
@settings(deadline=None)
def test_a_chunk_is_below_target_and_minimum_together_unless_it_cannot_be_cut(
    document: ParsedDocument, profile: ChunkProfile
) -> None:
    for chunk in split_into_chunks(document, profile, count_words):
        size = len(chunk.text) if profile.measure == "characters" else chunk.tokens
        one_cluster = len(regex.findall(r"\X", chunk.text)) == 1
        assert one_cluster or size <= max(profile.whole_section, profile.target + max(profile.minimum - 1, 0))


@given(_DOCUMENTS, _profiles())
@settings(deadline=None)
def test_a_section_that_the_profile_keeps_whole_is_one_chunk(document: ParsedDocument, profile: ChunkProfile) -> None:
    chunks = split_into_chunks(document, profile, count_words)
    whole = ChunkProfile(profile.target, 0, 0, profile.measure, profile.section_depth, whole_section=10**9)
    sections = split_into_chunks(document, whole, count_words)
    for section in sections:
        inside = [chunk for chunk in chunks if section.start <= chunk.start < section.end]
        size = len(section.text) if profile.measure == "characters" else section.tokens
        if size <= profile.whole_section:
            assert [(chunk.start, chunk.end) for chunk in inside] == [(section.start, section.end)]


@given(_DOCUMENTS, _profiles())
@settings(deadline=None)
def test_the_same_document_has_the_same_chunks(document: ParsedDocument, profile: ChunkProfile) -> None:
    assert split_into_chunks(document, profile, count_words) == split_into_chunks(document, profile, count_words)
