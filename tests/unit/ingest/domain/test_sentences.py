import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from services.ingest.domain.sentences import cluster_spans, line_spans, sentence_spans, word_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]


@pytest.mark.parametrize(
    "parts",
    [
        ["One sentence.", "Another one!", "A third?", "The rest"],
        ['He said: "Go!"', "(She stayed.)", "Then left..."],
        ["Bu bir cümle.", "Bu da öyle mi?", "Evet."],
        ["Это предложение.", "И это!"],
        ["यह एक वाक्य है।", "यह दूसरा है॥", "क्या यह तीसरा है?"],
        ["هل هذا سؤال؟", "نعم هو كذلك.", "یہ اردو ہے۔"],
        ["ဒါကစာကြောင်းပါ။", "နောက်တစ်ကြောင်း။"],
        ["នេះជាប្រយោគ។", "មួយទៀត។"],
        ["አንድ።", "ሁለት።"],
    ],
)
def test_the_punctuation_of_the_script_ends_a_sentence(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts


def test_chinese_and_japanese_need_no_space_between_sentences() -> None:
    assert sentences("床前明月光。疑是地上霜！「好。」他说") == ["床前明月光。", "疑是地上霜！", "「好。」", "他说"]


@pytest.mark.parametrize(
    "text",
    [
        "Use Dr. Smith and J. Doe.",
        "See Fig. 3 and e.g. Python.",
        "Am 3. Mai war es so.",
        "Version 3.14 of node.js is out.",
        "The end. of file marker",
        "He paused... and went on",
        "No full stop at all",
    ],
)
def test_in_doubt_a_sentence_goes_on(text: str) -> None:
    assert sentences(text) == [text]


def test_a_sentence_may_run_over_lines() -> None:
    assert sentences("One\nsentence. \n Two\n") == ["One\nsentence.", "Two"]


def test_lines_keep_their_indentation_and_lose_blank_ends() -> None:
    text = "if x:\n    y  \n\n \t\nz"
    assert [text[start:end] for start, end in line_spans(text, 0, len(text))] == ["if x:", "    y", "z"]


def test_only_the_given_range_is_cut() -> None:
    text = "aa. Bb. Cc. Dd"
    assert [text[start:end] for start, end in sentence_spans(text, 4, 10)] == ["Bb.", "Cc"]
    assert [text[start:end] for start, end in word_spans(text, 5, 10)] == ["b.", "Cc"]
    assert [text[start:end] for start, end in line_spans(text, 4, 10)] == ["Bb. Cc"]


def test_clusters_stay_whole() -> None:
    text = "कुe\u0301👩‍👩‍👧x"
    groups = [text[start:end] for start, end in cluster_spans(text, 0, len(text), 2)]
    assert groups == ["कुe\u0301", "👩‍👩‍👧x"]


TEXT = st.text(st.sampled_from("ab. !?\n\u0301\u200dक्ि।。\u0e33\x1c\xa0👩🏽\U0001f1e9"), max_size=60) | st.text(
    max_size=60
)


@given(TEXT, st.sampled_from([line_spans, sentence_spans, word_spans]))
def test_cuts_are_in_order_lose_nothing_and_split_no_cluster(text: str, cut) -> None:  # type: ignore[no-untyped-def]
    spans = list(cut(text, 0, len(text)))
    assert all(start < end for start, end in spans)
    assert spans == sorted(spans)
    kept = "".join(text[start:end] for start, end in spans)
    assert "".join(kept.split()) == "".join(text.split())
    edges = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
    assert {edge for span in spans for edge in span} <= edges


@pytest.mark.parametrize("blob", [" " * 200_000, "." * 200_000, "." + ")" * 200_000, "a " * 100_000, "\n" * 200_000])
@pytest.mark.parametrize("cut", [line_spans, sentence_spans, word_spans])
@pytest.mark.timeout(20)
def test_monotonous_text_takes_linear_time(blob: str, cut) -> None:  # type: ignore[no-untyped-def]
    assert sum(end - start for start, end in cut(blob, 0, len(blob))) <= len(blob)
