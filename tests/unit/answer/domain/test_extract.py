import pytest

from services.answer.domain.extract import (
    Candidate,
    candidates_of,
    joined_scores,
    most_promising,
    overlaps_with,
    select_sentences,
)
from tests.fakes.answer_values import source


def candidate(source_number: int, place: int, text: str = "") -> Candidate:
    return Candidate(source_number, place, text or f"{source_number}.{place}", "", "en")


def test_candidates_are_the_sentences_in_reading_order() -> None:
    candidates = candidates_of([source(1, "# Head\nOne. Two."), source(2, "---\n\nThree.", title="T", locale="de")])
    assert [(one.source, one.place, one.text) for one in candidates] == [
        (1, 0, "One."),
        (1, 1, "Two."),
        (2, 0, "Three."),
    ]
    assert (candidates[2].in_context, candidates[2].locale) == ("T\nThree.", "de")


def test_a_source_without_a_sentence_gives_its_whole_text() -> None:
    assert [one.text for one in candidates_of([source(1, "# Only a head")])] == ["# Only a head"]


def test_a_sentence_that_only_announces_what_follows_is_left_out() -> None:
    assert [one.text for one in candidates_of([source(1, "It works as follows: The file is closed.")])] == [
        "It works as follows: The file is closed."
    ]
    assert [one.text for one in candidates_of([source(1, "It is closed.\n\nThe following code:")])] == ["It is closed."]


def test_overlap_is_the_share_of_the_questions_words() -> None:
    candidates = candidates_of([source(1, "Cats chase mice. Dogs sleep.", title="Pets")])
    assert overlaps_with("Do cats sleep?", candidates, locale="en") == [0.5, 0.5]
    assert overlaps_with("pets", candidates, locale="en") == [1.0, 1.0]
    assert overlaps_with("???", candidates, locale="en") == [0.0, 0.0]


COMPANY = "公司成立于2009年。公司有三个研发中心。公司总部设在上海。员工人数为三百五十人。公司的产品有很多。"


@pytest.mark.parametrize("locale", ["zh", "zh-CN", "en"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("公司有多少员工？", "员工人数为三百五十人。"),
        ("公司的总部在哪里？", "公司总部设在上海。"),
        ("公司是什么时候成立的？", "公司成立于2009年。"),
    ],
)
def test_what_a_chinese_question_is_about_weighs_more_than_its_other_words(
    question: str, answer: str, locale: str
) -> None:
    candidates = candidates_of([source(1, COMPANY, locale=locale)])
    overlaps = overlaps_with(question, candidates, locale=locale)
    assert answer in [one.text for one in select_sentences(candidates, overlaps)]


def test_a_question_of_nothing_but_question_words_keeps_them() -> None:
    candidates = candidates_of([source(1, "多少是一个词。别的。", locale="zh")])
    assert overlaps_with("多少？", candidates, locale="zh") == [1.0, 0.0]


def test_scores_join_meaning_and_words_half_and_half() -> None:
    assert joined_scores([1.0, 0.0], [0.5, 0.5]) == [0.75, 0.25]


def test_without_meaning_words_alone_score() -> None:
    assert joined_scores([1.0, 0.0], None) == [1.0, 0.0]


def test_the_most_promising_keep_their_order_and_ties_go_to_the_earlier() -> None:
    assert most_promising([0.1, 0.9, 0.5, 0.5], 2) == [1, 2]
    assert most_promising([], 2) == []


def test_the_best_sentences_come_in_reading_order_best_source_first() -> None:
    candidates = [candidate(1, 0), candidate(2, 0), candidate(2, 1), candidate(2, 2)]
    chosen = select_sentences(candidates, [0.8, 0.7, 0.1, 0.9])
    assert [one.text for one in chosen] == ["2.0", "2.2", "1.0"]


def test_at_most_three_and_ties_go_to_the_earlier() -> None:
    candidates = [candidate(1, place) for place in range(5)]
    assert [one.place for one in select_sentences(candidates, [0.5] * 5)] == [0, 1, 2]


def test_sentences_far_behind_the_best_are_left_out() -> None:
    candidates = [candidate(1, place) for place in range(3)]
    assert [one.place for one in select_sentences(candidates, [0.59, 1.0, 0.6])] == [1, 2]


def test_the_same_sentence_is_said_once() -> None:
    chosen = select_sentences([candidate(1, 0, "Same."), candidate(2, 0, "Same.")], [0.5, 0.9])
    assert [one.source for one in chosen] == [2]


@pytest.mark.parametrize("scores", [[0.0, 0.0], [-0.2, -0.1]])
def test_something_is_chosen_even_where_nothing_is_near(scores: list[float]) -> None:
    assert select_sentences([candidate(1, 0), candidate(1, 1)], scores)


def test_nothing_to_choose_from_gives_nothing() -> None:
    assert select_sentences([], []) == []
