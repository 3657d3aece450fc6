from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.domain.markers import MAX_MARKER, Marker, MarkerScanner


def scanned(*pieces: str, sources: int = 5) -> list[str | Marker]:
    """Text and markers that come out, text between two markers joined."""
    scanner = MarkerScanner(sources)
    found = [item for piece in pieces for item in scanner.push(piece)] + scanner.flush()
    joined: list[str | Marker] = []
    for is_text, group in groupby(found, key=lambda item: isinstance(item, str)):
        items = list(group)
        joined += ["".join(map(str, items))] if is_text else items
    return joined


def cited(text: str, sources: int = 5) -> list[int | None]:
    return [item.source for item in scanned(text, sources=sources) if isinstance(item, Marker)]


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("[Source 2]", [2]),
        ("[source 2]", [2]),
        ("[Source 1, 2]", [1, 2]),
        ("[Source 1, Source 2]", [1, 2]),
        ("[Sources 1; 2]", [1, 2]),
        ("[Source 1-3]", [1, 2, 3]),
        ("[Source 1 – Source 3]", [1, 2, 3]),
        ("[1]", [1]),
        ("[1,2]", [1, 2]),
        ("[1][2]", [1, 2]),
        ("[1-3]", [1, 2, 3]),
        ("[1, 1-2]", [1, 2]),
        ("[[3]]", [3]),
    ],
)
def test_every_way_to_name_sources_is_recognised(text: str, sources: list[int]) -> None:
    assert cited(f"So it is {text}.") == sources


@pytest.mark.parametrize(
    "text",
    ["[E1, E3, E5]", "[2024 report", "[2024]", "[0, 1]", "[6]", "[1-9]", "[3-1]", "[x]", "[ ]", "[Source]",
     "[Source N]", "[source code]", "[1](https://example.org)", "\\[1\\]", "arr[i]", "[1 2]", "[1.5]", "[Source 1",
     "[1", "[", "[1,]",
     "`[1]`", "```\n[1]\n```", "[" + " " * MAX_MARKER + "1]"],
)  # fmt: skip
def test_what_only_looks_like_a_marker_comes_out_unchanged(text: str) -> None:
    assert scanned(text) == [text]


def test_a_source_marker_that_names_no_passage_is_dropped_and_told() -> None:
    assert scanned("Yes [Source 9].") == ["Yes ", Marker(None), "."]
    assert cited("[Source 0]") == [None]
    assert cited("[Source 4, 9]") == [4, None]
    assert cited("[Source 4-999999]") == [4, 5, None]
    assert cited("[Source 1234567]") == [None]
    assert cited("[Source 0000002]") == [2]


def test_numbers_count_from_one() -> None:
    assert cited("Only the second file says so [2].", sources=2) == [2]
    assert cited("[Source 1]", sources=1) == [1]


def test_without_sources_only_the_word_makes_a_marker() -> None:
    assert scanned("So [1] and [Source 1]", sources=0) == ["So [1] and ", Marker(None)]


def test_text_around_markers_is_kept() -> None:
    assert scanned("a [1] b [Source 2, 3] c") == ["a ", Marker(1), " b ", Marker(2), Marker(3), " c"]


def test_code_after_which_the_text_goes_on_hides_nothing_else() -> None:
    assert cited("`x[1]` [2]\n```\n[3]\n```\n[4]") == [2, 4]


def test_only_what_may_become_a_marker_is_held_back() -> None:
    scanner = MarkerScanner(5)
    assert scanner.push("see [2024 report") == ["see [2024 report"]
    assert scanner.push(" [Sou") == [" "]
    assert scanner.push("p") == ["[Soup"]
    assert scanner.push(" [1]") == [" "]  # a link target may follow
    assert scanner.push("!") == [Marker(1), "!"]


@given(st.sampled_from(["[", "[Source ", "[1, ", "[" + " " * 30]), st.integers(0, 200), st.sampled_from(" 1,x"))
def test_at_most_one_markers_length_is_held_back(opening: str, more: int, filler: str) -> None:
    scanner = MarkerScanner(5)
    given_text = opening + filler * more
    out = "".join(str(item) for item in scanner.push(given_text))
    assert len(given_text) - len(out) < MAX_MARKER


def test_a_megabyte_after_a_bracket_comes_out_at_once() -> None:
    flood = "[" + "x" * 1_000_000
    assert MarkerScanner(5).push(flood) == [flood]


FRAGMENTS = st.sampled_from(
    ["[", "]", "[1]", "[Source 1]", "[Source 9]", "[1, 2]", "[1-3]", "Source ", "1", ", ", "`", "```", "\n", "~~~",
     "\\", "(", " ", "word", "ě", "🌶", "กำ"]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=12).map("".join), st.data())
def test_however_a_text_is_cut_the_same_comes_out(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert scanned(*pieces) == scanned(text)
    assert scanned(*text) == scanned(text)
