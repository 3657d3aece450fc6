"""The same texts each time, of the lengths that are said, and no query twice."""

from itertools import islice

from loadtests.embed_bench.texts import facts, filler_words, passages, queries


def test_passages_are_the_same_each_time_and_of_every_length() -> None:
    made = passages(60, 1)
    assert made == passages(60, 1) != passages(60, 2)
    assert sorted({len(text.split()) for text in made}) == [12, 25, 50, 80, 120, 160]


def test_no_query_comes_twice_so_that_no_cache_answers_it() -> None:
    asked = list(islice(queries(1), 2000))
    assert len(set(asked)) == 2000
    assert asked[:5] == list(islice(queries(1), 5))


def test_there_are_enough_facts_and_the_filler_names_none_of_them() -> None:
    known = facts()
    assert len(known) >= 60
    filler = " ".join(filler_words())
    assert not [fact for _, fact in known if fact in filler]
