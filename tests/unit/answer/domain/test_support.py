import pytest

from services.answer.domain.support import Support, check_support

PASSAGE = (
    "The Panthers defense gave up just 308 points in 2015, ranking sixth in the league. "
    "Kawann Short led the team in sacks with 1,100 tackles. The old stadium was not used."
)


def check(sentence: str, passage: str = PASSAGE, *others: str, locale: str = "en") -> Support:
    return check_support(sentence, passage=passage, cited=[passage, *others], locale=locale)


def test_the_passages_own_words_are_fully_supported() -> None:
    assert check("The Panthers defense gave up just 308 points in 2015, ranking sixth in the league.") == Support(
        1.0, ()
    )


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("The Panthers defense gave up just 318 points, ranking sixth in the league.", "number"),
        ("The Panthers defense gave up just 308 points in 2016, ranking sixth.", "number"),
        ("In the league, the Falcons gave up just 308 points, ranking sixth.", "name"),
        ("The NFL defense gave up just 308 points, ranking sixth in the league.", "name"),
        ("The Panthers defense never gave up 308 points, ranking sixth in the league.", "negation"),
        ("The old stadium was used.", "negation"),
        ("Bananas ripen faster beside apples.", "meaning"),
    ],
)
def test_what_a_passage_does_not_say_is_named(sentence: str, reason: str) -> None:
    assert check(sentence).reasons == (reason,)


@pytest.mark.parametrize(
    "sentence",
    ["Short led the team with 1100 tackles.", "The stadium wasn’t used.", "The defense of the Panthers ranked sixth."],
)
def test_another_way_to_write_the_same_is_supported(sentence: str) -> None:
    assert check(sentence).reasons == ()


def test_a_sentence_that_joins_two_passages_may_have_its_numbers_from_either() -> None:
    other = "The Broncos gave up 296 points in the league."
    sentence = "In the league the Panthers gave up 308 points and the Broncos 296 points."
    assert check(sentence, PASSAGE, other).reasons == ()
    assert "number" in check(sentence).reasons


def test_chinese_is_compared_by_its_characters() -> None:
    passage = "故宫位于北京。它建于1420年。"
    assert check("故宫建于1420年。", passage, locale="zh").reasons == ()
    assert check("故宫建于1421年。", passage, locale="zh").reasons == ("number",)


@pytest.mark.parametrize(("sentence", "passage"), [("", PASSAGE), ("???", PASSAGE), ("The sky.", "")])
def test_nothing_supports_nothing(sentence: str, passage: str) -> None:
    assert check(sentence, passage) == Support(0.0, ("meaning",))
