from collections.abc import Sequence

from services.ingest.domain.blocks import Block, ParsedDocument
from services.ingest.domain.chunk_profile import ChunkProfile
from services.ingest.domain.units import Unit, cut_into_units, size_of


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def unit_texts(*blocks: Block, target: int = 100, depth: int | None = None) -> list[list[str]]:
    document = ParsedDocument("", blocks)
    sections = cut_into_units(document, ChunkProfile(target, 0, 0, section_depth=depth), count_words)
    return [[document.body[unit.start : unit.end] for unit in section] for section in sections]


def test_each_kind_of_block_has_its_own_units() -> None:
    assert unit_texts(
        Block("paragraph", "One. Two\nlines."),
        Block("list", "- a. b\n- c"),
        Block("code", "f()\n\n  # g. H"),
        Block("table", "| h |\n| - |\n| x. Y |\n| z |", table_header="| h |\n| - |"),
        Block("table", "| no |\n| header |"),
        Block("table", "| h |\n| - |", table_header="| h |\n| - |"),
    ) == [
        [
            "One.",
            "Two\nlines.",
            "- a. b",
            "- c",
            "f()",
            "  # g. H",
            "| h |\n| - |\n| x. Y |",
            "| z |",
            "| no |",
            "| header |",
            "| h |\n| - |",
        ]
    ]


def test_what_is_larger_than_a_chunk_is_cut_finer_and_finer() -> None:
    assert unit_texts(Block("list", "- one two. Three four\n- five"), target=3) == [
        ["- one two.", "Three four", "- five"]
    ]
    assert unit_texts(Block("paragraph", "one two three four"), target=3) == [["one", "two", "three", "four"]]


def test_a_blob_that_a_tokenizer_takes_for_one_token_is_cut_by_its_length() -> None:
    (units,) = unit_texts(Block("paragraph", "x" * 1000), target=40)
    # 40 tokens of at most 16 characters are less than the blob, so it is cut into characters, one 40th of 40 at a time.
    assert units == ["x"] * 1000


def test_sections_part_where_the_headings_change() -> None:
    blocks = (
        Block("paragraph", "a", ("A",), (1,)),
        Block("paragraph", "b", ("A", "B"), (1, 2)),
        Block("paragraph", "c", ("A", "B"), (1, 3)),  # another heading of the same name
        Block("paragraph", "d", ("A", "B"), (1, 3)),
    )
    assert unit_texts(*blocks) == [["a"], ["b"], ["c", "d"]]
    assert unit_texts(*blocks, depth=1) == [["a", "b", "c", "d"]]


def test_tokens_are_counted_in_few_calls_with_many_texts() -> None:
    calls: list[int] = []

    def counted(texts: Sequence[str]) -> list[int]:
        calls.append(len(texts))
        return count_words(texts)

    document = ParsedDocument("", tuple(Block("paragraph", "One two. Three.") for _ in range(1000)))
    cut_into_units(document, ChunkProfile(10, 0, 0), counted)
    assert calls == [2000]


def test_characters_need_no_counting() -> None:
    document = ParsedDocument("", (Block("paragraph", "One. Two."),))
    profile = ChunkProfile(10, 0, 0, measure="characters")
    (units,) = cut_into_units(document, profile, lambda texts: 1 / 0)  # type: ignore[arg-type,return-value]
    assert size_of(units, profile)(0, 2) == 9
    assert size_of(units, profile)(1, 1) == 0


def test_tokens_of_units_add_up() -> None:
    units = [Unit(0, 0, 1, 3), Unit(0, 2, 3, 4), Unit(0, 4, 100, 1)]
    # The last has 96 characters: at 16 for a token it takes up 6.
    assert size_of(units, ChunkProfile(10, 0, 0))(0, 3) == 3 + 4 + 6
