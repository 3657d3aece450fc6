import pytest

from services.shared.text.words import (
    Piece,
    capitals_tell,
    code_parts,
    find_pieces,
    is_ideograph,
    is_in_capitals,
    run_characters,
    without_optional_signs,
)


def texts(text: str) -> list[str]:
    return [piece.text for piece in find_pieces(text)]


@pytest.mark.parametrize(
    "code",
    [
        "1-12",
        "E5_3",
        "C++",
        "C#",
        "TOIL",
        ".NET",
        "v2.1",
        "node.js",
        "R&D",
        "a@b.co",
        "1,000",
        "10:30",
        "1/2",
        "__init__",
    ],
)
def test_a_code_is_one_piece_wherever_it_stands(code: str) -> None:
    assert texts(code) == [code]
    assert texts(f"see ({code}), then") == ["see", code, "then"]
    assert texts(f"It was {code}.") == ["It", "was", code]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Türkiye'nin", ["Türkiye", "nin"]),
        ("l'eau", ["l", "eau"]),
        ("TCP/IP and/or", ["TCP", "IP", "and", "or"]),
        ("note:this,that", ["note", "this", "that"]),
        ("wait...what .5", ["wait", "what", "5"]),
        ("pre- and post-war", ["pre", "and", "post-war"]),
        ("हिन्दी विकिपीडिया", ["हिन्दी", "विकिपीडिया"]),
        ("C++11", ["C++", "11"]),
        ("C#7 A+", ["C#7", "A+"]),
    ],
)
def test_words_end_where_a_reader_ends_them(text: str, pieces: list[str]) -> None:
    assert texts(text) == pieces


def test_scripts_without_spaces_are_runs_apart_from_what_stands_in_them() -> None:
    assert list(find_pieces("丢了308分，NFL队")) == [
        Piece("丢了", True),
        Piece("308", False),
        Piece("分", True),
        Piece("NFL", False),
        Piece("队", True),
    ]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("word", ("word",)),
        ("E5_3", ("E5", "3")),
        ("1-12", ("1", "12")),
        (".NET", ("NET",)),
        ("C++", ("C++",)),
        ("C#7", ("C#", "7")),
        ("notepad++", ("notepad",)),
        ("state-of-the-art", ("state", "of", "the", "art")),
        ("می\u200cروم", ("می", "روم")),
    ],
)
def test_a_code_has_its_words_as_parts(word: str, parts: tuple[str, ...]) -> None:
    assert code_parts(word) == parts


def test_a_character_of_a_run_keeps_its_marks() -> None:
    assert run_characters("ที่นี่") == ["ที่", "นี่"]


@pytest.mark.parametrize(
    ("text", "tell"),
    [("what is TOIL", True), ("WHAT IS TOIL", False), ("TOIL", False), ("TOIL 是什么", True), ("", False)],
)
def test_capitals_tell_nothing_in_a_text_of_capitals(text: str, tell: bool) -> None:
    assert capitals_tell(text) is tell


@pytest.mark.parametrize(
    ("word", "yes"), [("TOIL", True), ("R&D", True), ("GPT4", True), ("I", False), ("NGOs", False)]
)
def test_one_capital_letter_is_not_a_word_in_capitals(word: str, yes: bool) -> None:
    assert is_in_capitals(word) is yes


def test_only_han_characters_are_ideographs() -> None:
    assert [is_ideograph(character) for character in "月ーか가ก"] == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("code", "without"),
    [
        ("e-mail", "email"),
        ("state-of-the-art", "stateoftheart"),
        ("U.S.A", "USA"),
        ("1,000", "1000"),
        ("12,345,678", "12345678"),
        ("1-12", "1-12"),
        ("COVID-19", "COVID-19"),
        ("node.js", "node.js"),
        ("1,5", "1,5"),
        ("C++", "C++"),
        ("word", "word"),
    ],
)
def test_signs_that_some_leave_out_go(code: str, without: str) -> None:
    assert without_optional_signs(code) == without
