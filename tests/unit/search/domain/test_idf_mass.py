import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.idf_mass import IdfMass
from services.search.domain.query_words import QueryWord
from services.search.domain.term_statistics import TermStatistics

STATISTICS = TermStatistics(chunks=100, tokens=1000, frequencies={"s:rare": 1, "s:often": 50})
RARE = math.log(1 + 99.5 / 1.5)  # 4.21
OFTEN = math.log(1 + 50.5 / 50.5)  # 0.69


def word(token: str, *forms: set[str]) -> QueryWord:
    return QueryWord(token, tuple(frozenset(form) for form in forms or ({token},)))


MASS = IdfMass.of([word("s:rare"), word("s:often")], STATISTICS)


def test_a_chunk_holds_the_share_of_the_words_it_has() -> None:
    assert MASS.share_in("w:x s:rare s:x") == pytest.approx(RARE / (RARE + OFTEN))
    assert MASS.share_in("s:often") == pytest.approx(OFTEN / (RARE + OFTEN))
    assert MASS.share_in("w:rare s:rareness") == 0


def test_a_chunk_with_all_words_holds_exactly_all() -> None:
    assert MASS.share_in("s:often w:x s:rare s:rare") == 1.0


def test_a_word_in_no_chunk_weighs_most_and_is_never_held() -> None:
    unknown = math.log(1 + 100.5 / 0.5)
    mass = IdfMass.of([word("s:rare"), word("s:unknown")], STATISTICS)

    assert mass.share_in("s:rare") == pytest.approx(RARE / (RARE + unknown))


def test_a_word_is_held_in_any_of_its_forms_but_only_whole() -> None:
    mass = IdfMass.of([word("s:toil", {"s:toil"}, {"s:time", "s:lieu"})], STATISTICS)

    assert mass.share_in("s:toil") == mass.share_in("s:lieu w:x s:time") == 1.0
    assert mass.share_in("s:time") == 0


def test_a_query_without_words_is_held_by_every_chunk() -> None:
    assert IdfMass.of([], STATISTICS).share_in("s:x") == 1.0


@given(st.lists(st.sampled_from(["s:rare", "s:often", "s:x", "w:rare"])))
def test_a_share_is_between_none_and_all_and_more_tokens_never_take_from_it(tokens: list[str]) -> None:
    share = MASS.share_in(" ".join(tokens))

    assert 0 <= share <= 1
    assert MASS.share_in(" ".join([*tokens, "s:often"])) >= share
