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


@pytest.mark.parametrize(
    ("locale", "affirmed", "denied"),
    [
        ("de", "Das alte Stadion wird heute benutzt.", "Das alte Stadion wird heute nicht benutzt."),
        ("de", "Heute fährt ein Bus nach Berlin.", "Heute fährt kein Bus nach Berlin."),
        ("en", "The old stadium is used today.", "The old stadium isn’t used today."),
        ("en", "Coffee comes with sugar today.", "Coffee comes without sugar today."),
        ("es", "El viejo estadio abre hoy.", "El viejo estadio no abre hoy."),
        ("fr", "Le vieux stade ouvre aujourd’hui.", "Le vieux stade n’ouvre pas aujourd’hui."),
        ("hi", "पुराना स्टेडियम आज खुला है।", "पुराना स्टेडियम आज खुला नहीं है।"),
        ("it", "Il vecchio stadio apre oggi.", "Il vecchio stadio non apre oggi."),
        ("ja", "古い競技場は今日使われています。", "古い競技場は今日使われていません。"),
        ("nl", "Het oude stadion is vandaag open.", "Het oude stadion is vandaag niet open."),
        ("pt", "O velho estádio abre hoje.", "O velho estádio não abre hoje."),
        ("ru", "Старый стадион сегодня открыт.", "Старый стадион сегодня не открыт."),
        ("tr-TR", "Evet, eski stadyum bugün açık.", "Hayır, eski stadyum bugün açık."),
        ("tr", "Eski stadyum bugün açık.", "Eski stadyum bugün açık değil."),
        ("zh", "旧体育场今天开放。", "旧体育场今天不开放。"),
        ("", "Старый stadium сегодня open.", "Старый stadium сегодня не open."),
        ("en", "旧体育场今天开放。", "旧体育场今天没开放。"),
    ],
)
def test_a_denial_is_told_in_every_language_that_has_stop_words(locale: str, affirmed: str, denied: str) -> None:
    assert check(denied, affirmed, locale=locale).reasons == ("negation",)
    assert check(affirmed, denied, locale=locale).reasons == ("negation",)
    assert check(denied, denied, locale=locale).reasons == ()


@pytest.mark.parametrize(
    ("locale", "sentence", "passage"),
    [
        ("en", "Sugar comes within the notable box.", "Notable sugar comes within the box."),
        ("de", "Die Kniffe sind niedlich.", "Die niedlichen Kniffe sind alt."),
        ("nl", "De trein vertrekt pas om acht uur.", "De trein vertrekt om acht uur."),
        ("pt", "O estádio abre no domingo.", "O estádio abre aos domingo."),
        ("fr", "Une personne ouvre le stade.", "Le stade ouvre pour une personne."),
        ("zh", "体育场未来开放。", "体育场将来开放。"),
        ("zh", "不仅体育场开放。", "体育场开放。"),
        ("ja", "日本の体育場は少ない。", "日本の体育場は少し。"),
    ],
)
def test_a_word_that_only_looks_like_a_denial_is_none(locale: str, sentence: str, passage: str) -> None:
    assert "negation" not in check(sentence, passage, locale=locale).reasons


@pytest.mark.parametrize(
    ("locale", "sentence"),
    [("en", "A with statement wraps a block"), ("tr", "İstanbul"), ("ja", "日本"), ("zh", "日本"), ("de", "Berlin")],
)
def test_what_a_passage_does_not_speak_of_it_does_not_deny(locale: str, sentence: str) -> None:
    assert check(sentence, "It never rains, nicht hier, değil, 不是, ません.", locale=locale).reasons == ("meaning",)


def test_an_invented_denial_in_a_sentence_that_joins_several_is_told() -> None:
    passage = "Cats chase grey mice. Dogs guard big houses. Birds build high nests."
    joined = "Cats chase mice, dogs guard houses, birds build nests"
    assert check(f"{joined}.", passage).reasons == ()
    assert check(f"{joined}, and never rest.", passage).reasons == ("negation",)


@pytest.mark.parametrize(
    ("locale", "sentence"),
    [("en", "See  and [1-3]"), ("en", "It is."), ("en", "See [1, 2]."), ("en", "[12]"), ("de", "Siehe auch [3]"),
     ("tr", "bkz. [2]"), ("fr", "Voir aussi.")],
)  # fmt: skip
def test_a_sentence_that_says_nothing_is_not_borne_out(locale: str, sentence: str) -> None:
    assert check(sentence, sentence, locale=locale) == Support(0.0, ("meaning",))


@pytest.mark.parametrize("sentence", ["308.", "IT is.", "See the defense [2]."])
def test_a_number_or_a_name_says_something(sentence: str) -> None:
    assert check(sentence, f"{sentence} And so on.").score == 1.0


@pytest.mark.parametrize(("sentence", "passage"), [("", PASSAGE), ("???", PASSAGE), ("The sky.", "")])
def test_nothing_supports_nothing(sentence: str, passage: str) -> None:
    assert check(sentence, passage) == Support(0.0, ("meaning",))
