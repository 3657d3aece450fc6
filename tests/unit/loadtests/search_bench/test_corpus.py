import numpy as np
import pytest

from loadtests.search_bench.corpus import FIELDS, SHARES, Corpus
from services.shared.index.filters import matches, validate
from services.shared.text.analyzer import analyze_document

COUNT = 1_000


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(COUNT, queries=16, dimensions=32, seed=3)


def test_every_chunk_comes_once_and_in_order(corpus: Corpus) -> None:
    chunks = [chunk for batch in corpus.chunks(300) for chunk in batch]
    assert [chunk.chunk_id for chunk in chunks] == corpus.chunk_ids
    assert len(set(corpus.chunk_ids)) == COUNT


def test_tokens_are_those_of_the_analyzer(corpus: Corpus) -> None:
    for chunk in next(corpus.chunks(20)):
        assert chunk.analysed.split() == analyze_document(f"{chunk.context}\n{chunk.text}", "en")


def test_one_chunk_in_four_has_two_windows(corpus: Corpus) -> None:
    windows = [len(chunk.vectors) for batch in corpus.chunks(COUNT) for chunk in batch]
    assert set(windows) == {1, 2}
    assert np.mean(windows) == pytest.approx(1.25, abs=0.05)


@pytest.mark.parametrize("share", SHARES)
def test_a_filter_matches_the_share_that_it_says(corpus: Corpus, share: float) -> None:
    filter = validate(corpus.filter_matching(share), FIELDS)
    chunks = next(corpus.chunks(COUNT))
    matching = [matches(filter, chunk.metadata) for chunk in chunks]
    assert sum(matching) == round(share * COUNT)
    assert matching == corpus.matching(share).tolist()


def test_an_area_is_whole_topics(corpus: Corpus) -> None:
    filter = validate(corpus.filter_area(3), FIELDS)
    chunks = next(corpus.chunks(COUNT))
    assert [matches(filter, chunk.metadata) for chunk in chunks] == corpus.in_area(3).tolist()


def test_exact_scores_are_those_of_the_best_window(corpus: Corpus) -> None:
    queries = [query.vector for query in corpus.queries]
    scores = corpus.exact_scores(queries)
    chunks = next(corpus.chunks(COUNT))
    for place, vector in enumerate(queries):
        expected = [float((chunk.vectors @ vector).max()) for chunk in chunks]
        np.testing.assert_allclose(scores[place], expected, atol=1e-5)


def test_one_query_in_eight_names_the_code_of_its_document(corpus: Corpus) -> None:
    chunks = next(corpus.chunks(COUNT))
    for number, query in enumerate(corpus.queries):
        code = chunks[query.source].title.rsplit(" ", 1)[1]
        assert (code in query.text) is (number % 8 == 0)
