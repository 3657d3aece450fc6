import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.domain.citations import AnswerReader, CitedSentence, Piece, Refused, Shown

REFUSAL = "The provided document does not contain enough information to answer this question."


def read(*texts: str, sources: int = 5, refusal: str | None = REFUSAL) -> tuple[str, list[Piece], int]:
    """The text shown, the other pieces, and the number of dropped markers."""
    reader = AnswerReader(sources=sources, refusal_sentence=refusal)
    pieces: list[Piece] = []
    for text in texts:
        pieces += reader.read(text)
        if Refused() in pieces:
            return "", pieces, 0
    pieces += reader.finish()
    shown = "".join(piece.text for piece in pieces if isinstance(piece, Shown))
    return shown, [piece for piece in pieces if not isinstance(piece, Shown)], reader.dropped_markers


def cited(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """The sentences that cite, as they stand in the shown text."""
    shown, pieces, _ = read(text)
    return [(shown[piece.start : piece.end], piece.sources) for piece in pieces if isinstance(piece, CitedSentence)]


def test_markers_are_shown_in_one_form() -> None:
    assert read("A [1, 2] b [Source 3].")[0] == "A [Source 1][Source 2] b [Source 3]."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sky is blue [1]. So is ice [2].", [("Sky is blue [Source 1].", (1,)), ("So is ice [Source 2].", (2,))]),
        ("Sky is blue. [1] Grass is green. [2][3]", [("Sky is blue.", (1,)), ("Grass is green.", (2, 3))]),
        ("Uncited. Cited [1]. Uncited.", [("Cited [Source 1].", (1,))]),
        ("Twice [1] the same [1].", [("Twice [Source 1] the same [Source 1].", (1,))]),
        ("- one [1]\n- two [2]", [("- one", (1,)), ("- two", (2,))]),
        ("天是蓝的[1]。草是绿的[2]。", [("天是蓝的[Source 1]。", (1,)), ("草是绿的[Source 2]。", (2,))]),
        ("Only the second says so [2]", [("Only the second says so", (2,))]),
        ("[1] says so.", [("says so.", (1,))]),
        ("[1]", []),
    ],
)  # fmt: skip
def test_a_marker_cites_the_sentence_it_stands_in_or_after(
    text: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert cited(text) == expected


def test_a_cited_sentence_is_told_without_its_markers() -> None:
    _, pieces, _ = read("Sky [1] is blue.")
    assert pieces == [CitedSentence(0, 23, "Sky  is blue.", (1,))]


def test_a_sentence_is_told_when_the_next_one_begins() -> None:
    reader = AnswerReader(sources=2, refusal_sentence=None)
    assert reader.read("So. [1] ") == [Shown("So. [Source 1]")]
    assert reader.read("Then") == [Shown(" Then"), CitedSentence(0, 3, "So.", (1,))]


def test_dropped_markers_are_counted() -> None:
    assert read("A [Source 9] b [Source 7, 1].")[2] == 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A block [Source 9].", "A block."),
        ("A block [Source 9] ends.", "A block ends."),
        ("A block [Source 8] [Source 9].", "A block."),
        ("A block (see [Source 9]).", "A block (see)."),
        ("A block [Source 7, 1].", "A block [Source 1]."),
        ("A block [Source 1] [Source 9].", "A block [Source 1]."),
        ("[Source 9] A block.", "A block."),
        ("块\u3000[Source 9]。", "块。"),
        ("A block\n[Source 9]\nends. ", "A block\n\nends. "),
    ],
)
def test_a_dropped_marker_takes_the_blank_before_it_along(text: str, shown: str) -> None:
    assert read(text)[0] == shown
    assert read(*text)[0] == shown


@pytest.mark.parametrize("code", ["```python\nx = 1. \n\n# Then\n```", "~~~\nx\n~~~"])
def test_a_block_of_code_is_not_cited_with_the_sentence_around_it(code: str) -> None:
    assert cited(f"Use this:\n{code}\nThen it works [1].") == [("Then it works [Source 1].", (1,))]
    assert cited(f"{code}\n[1] Then it works [2].") == [(code, (1,)), ("Then it works [Source 2].", (2,))]


@pytest.mark.parametrize("text", [REFUSAL, f"\n  {REFUSAL}", f"{REFUSAL} But I think [1] that", REFUSAL + "\n\nNo."])
def test_an_answer_that_begins_with_the_refusal_sentence_is_a_refusal(text: str) -> None:
    assert read(text)[1] == [Refused()]
    assert read(*text)[1] == [Refused()]


@pytest.mark.parametrize("text", [f"Sorry. {REFUSAL}", REFUSAL[:-1], REFUSAL.lower(), "The provided document says so."])
def test_refusals_are_never_guessed_from_prose(text: str) -> None:
    assert read(text) == (text, [], 0)


def test_the_start_is_held_back_only_while_it_may_be_a_refusal() -> None:
    reader = AnswerReader(sources=1, refusal_sentence=REFUSAL)
    assert reader.read("The provided ") == []
    assert reader.read("paper") == [Shown("The provided paper")]
    assert reader.read(" The provided\n") == [Shown(" The provided\n")]


def test_without_a_refusal_sentence_none_is_looked_for() -> None:
    assert read(REFUSAL, refusal=None)[0] == REFUSAL


def test_a_quotation_is_shown_as_it_is_and_cited() -> None:
    reader = AnswerReader(sources=2, refusal_sentence=REFUSAL)
    pieces = [*reader.quote("As [1] shows: `x", 2), *reader.quote("More.", 1), *reader.finish()]
    assert "".join(piece.text for piece in pieces if isinstance(piece, Shown)) == (
        "As [1] shows: `x [Source 2]\n\nMore. [Source 1]"
    )
    assert [(piece.text, piece.sources) for piece in pieces if isinstance(piece, CitedSentence)] == [
        ("As [1] shows: `x", (2,)),
        ("More.", (1,)),
    ]


@pytest.mark.parametrize(
    ("passage", "shown"),
    [
        ("It is 42 [Source 2].", "It is 42 (Source 2)."),
        ("It is 42 [Source 77] [Source 1, 3].", "It is 42 (Source 77) (Source 1, 3)."),
        (
            "[Source 1, Source 2], [source:3] and [ Sources 1–3 ]",
            "(Source 1, Source 2), (source:3) and ( Sources 1–3 )",
        ),
        ("[[Source 2]] and \\[Source 2]", "[(Source 2)] and \\(Source 2)"),
        ("`[Source 2]`", "`(Source 2)`"),
        ("[Source 00000000002]", "(Source 00000000002)"),
        ("As [1] and [2, 3] show, [Source] is [source code].", "As [1] and [2, 3] show, [Source] is [source code]."),
    ],
)
def test_no_marker_of_a_documents_own_comes_out_of_a_quotation(passage: str, shown: str) -> None:
    reader = AnswerReader(sources=3, refusal_sentence=REFUSAL)
    pieces = [*reader.quote(passage, 1), *reader.finish()]
    text = "".join(piece.text for piece in pieces if isinstance(piece, Shown))
    assert text == f"{shown} [Source 1]"
    cites = [piece for piece in pieces if isinstance(piece, CitedSentence)]
    assert {piece.sources for piece in cites} == {(1,)}
    assert cites[-1].end <= len(text)
    assert [text[piece.start : piece.end] for piece in cites] == [piece.text for piece in cites]


def test_the_marker_of_a_quoted_block_of_code_leaves_its_fence_alone() -> None:
    reader = AnswerReader(sources=1, refusal_sentence=None)
    pieces = [*reader.quote("```\nx = 1\n```", 1), *reader.finish()]
    assert pieces == [Shown("```\nx = 1\n```\n[Source 1]"), CitedSentence(0, 13, "```\nx = 1\n```", (1,))]


@pytest.mark.parametrize("text", ["ďábelské [1]. ", "🌶 [1] ", "กำลังมา [1]"])
def test_no_character_is_ever_broken(text: str) -> None:
    shown, pieces, _ = read(*text)
    assert "\ufffd" not in shown
    assert shown == text.replace("[1]", "[Source 1]")
    assert isinstance(pieces[0], CitedSentence)


FRAGMENTS = st.sampled_from(
    ["```python\n", "\n```\n", "~~~",
     "[1]", "[Source 2]", "[Source 9]", "[1, 2]", "[", "]", "(", ". ", ".", "\n", "\n\n", "- ", "Yes", "no", " ", "`",
     "```\n", "1. ", "。", "天", "ě", "🌶", "Dr", REFUSAL, REFUSAL[:20], "\\", "# "]
)  # fmt: skip


@given(st.lists(FRAGMENTS, max_size=14).map("".join), st.data())
def test_however_an_answer_is_cut_the_same_is_read(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert read(*pieces) == read(text)
    assert read(*text) == read(text)
