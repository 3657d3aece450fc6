from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.answer.domain.sentences import UNSEEN, Span, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("One", ["One"]),
        ("One. Two! Three? Four…", ["One.", "Two!", "Three?", "Four…"]),
        ('He said "Yes." She left.', ['He said "Yes."', "She left."]),
        ("It is **so.** Then.", ["It is **so.**", "Then."]),
        ("It costs 3.50 at example.org today. Buy.", ["It costs 3.50 at example.org today.", "Buy."]),
        ("Dr. Smith of the U.S. Army came. He left.", ["Dr. Smith of the U.S. Army came.", "He left."]),
        ("Some, e.g. this one, i.e. that. Yes.", ["Some, e.g. this one, i.e. that.", "Yes."]),
        ("No. It is not.", ["No.", "It is not."]),
        ("What now? he asked.", ["What now? he asked."]),
        ("天是蓝的。草是绿的！真的？是", ["天是蓝的。", "草是绿的！", "真的？", "是"]),
        ("यह एक वाक्य है। यह दूसरा है।", ["यह एक वाक्य है।", "यह दूसरा है।"]),
        ("ďábelské 🌶. กำลังมา", ["ďábelské 🌶.", "กำลังมา"]),
        ("A line that is\nwrapped at 20. Next.", ["A line that is\nwrapped at 20.", "Next."]),
        ("One paragraph\n\nAnother", ["One paragraph", "Another"]),
        ("First:\n- a\n- b\n1. c\n2. d", ["First:", "- a", "- b", "1. c", "2. d"]),
        ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
        ("# Head\nText", ["# Head", "Text"]),
        ("So:\n```\nx. Y\n\n- z\n```\nThen. Yes.", ["So:", "```\nx. Y\n\n- z\n```", "Then.", "Yes."]),
        ("So\n  ~~~~ py\nx\n~~~\n~~~~\n\nThen", ["So", "~~~~ py\nx\n~~~\n~~~~", "Then"]),
        ("```\nx\n``` no\n```\nYes", ["```\nx\n``` no\n```", "Yes"]),
        ("```x``` is code. Yes.", ["```x``` is code.", "Yes."]),
        ("1. Do this. Then that.", ["1. Do this.", "Then that."]),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_unseen_characters_belong_to_no_sentence() -> None:
    text = f"Yes{UNSEEN * 3}. {UNSEEN * 3} No.{UNSEEN * 3} So"
    assert sentences(text) == [f"Yes{UNSEEN * 3}.", "No.", "So"]
    assert sentence_spans(UNSEEN * 3) == []


PIECES = st.sampled_from(["A", "b", ".", "!", "。", " ", "\n", "1", "- ", "# ", '"', "Dr", UNSEEN, "天", "```", "~~~"])


@given(st.lists(PIECES, max_size=20).map("".join), st.lists(PIECES, max_size=10).map("".join))
def test_text_at_the_end_changes_only_the_last_span(text: str, more: str) -> None:
    before, after = sentence_spans(text), sentence_spans(text + more)
    certain = before[:-1]
    assert after[: len(certain)] == certain


@given(st.text(max_size=60))
def test_spans_are_in_order_and_hold_every_visible_character(text: str) -> None:
    spans = sentence_spans(text)
    assert all(first.end <= second.start for first, second in pairwise(spans))
    inside = {place for span in spans for place in range(span.start, span.end)}
    assert all(place in inside for place, sign in enumerate(text) if not sign.isspace() and sign != UNSEEN)


def test_a_span_counts_code_points() -> None:
    assert sentence_spans("🌶🌶. Ok") == [Span(0, 3), Span(4, 6)]
