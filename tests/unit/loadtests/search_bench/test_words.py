from collections import Counter

import numpy as np
import pytest

from loadtests.search_bench.words import VOCABULARY, Words, code_of
from services.shared.text.analyzer import analyze_query
from services.shared.text.exact import exact_terms
from services.shared.text.stop_words import STOP_WORDS


@pytest.fixture(scope="module")
def words() -> Words:
    return Words(topics=4, seed=1)


def test_no_word_is_there_twice(words: Words) -> None:
    assert len(set(words.vocabulary)) == VOCABULARY


def test_a_few_words_are_most_of_a_text_and_most_words_are_rare(words: Words) -> None:
    rng = np.random.default_rng(1)
    counts = Counter(word for number in range(300) for word in words.chunk(number % 4, rng))
    by_rank = [count for _, count in counts.most_common()]
    assert sum(by_rank[:100]) > 0.3 * sum(by_rank)
    assert sum(count == 1 for count in by_rank) > 0.3 * len(by_rank)


def test_texts_of_one_topic_share_telling_words(words: Words) -> None:
    rng = np.random.default_rng(1)

    def telling(topic: int) -> set[str]:
        return {word for _ in range(20) for word in words.chunk(topic, rng)} - STOP_WORDS["en"]

    first, same, other = telling(0), telling(0), telling(1)
    # A topic has 80 words of its own.
    assert len(first & same) - len(first & other) > 40


def test_a_query_has_words_of_its_text_beside_function_words(words: Words) -> None:
    rng = np.random.default_rng(1)
    text = words.chunk(2, rng)
    asked = words.query(2, text, rng)
    assert len(set(asked.split()) & set(text)) >= 3
    assert len(analyze_query(asked, "en")) < 2 * len(asked.split())


def test_a_code_is_one_for_the_exact_tier() -> None:
    assert exact_terms(f"what is {code_of(4711)} about", "en").codes == (code_of(4711).lower(),)
