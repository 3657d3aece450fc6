import numpy as np
import pytest

from loadtests.search_bench.vectors import ClusteredVectors, clustered_vectors


@pytest.fixture(scope="module")
def made() -> ClusteredVectors:
    return clustered_vectors(5_000, 200, 768, seed=1)


def test_all_rows_have_unit_length(made: ClusteredVectors) -> None:
    for rows in (made.vectors, made.queries):
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert rows.dtype == np.float32


def test_the_same_seed_gives_the_same_and_another_one_another() -> None:
    first, again, other = (clustered_vectors(300, 5, 16, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    np.testing.assert_array_equal(first.queries, again.queries)
    assert not np.allclose(first.vectors, other.vectors)


def test_neighbours_are_as_near_as_those_of_real_text(made: ClusteredVectors) -> None:
    # Queries at rank 1, 10 and 100 of 5,183 scientific abstracts: 0.66, 0.49, 0.36; of 3,000 papers: 0.71, 0.44, 0.30.
    scores = np.sort(made.queries @ made.vectors.T, axis=1)[:, ::-1]
    assert scores[:, 0].mean() == pytest.approx(0.68, abs=0.05)
    assert scores[:, 9].mean() == pytest.approx(0.47, abs=0.05)
    assert scores[:, 99].mean() == pytest.approx(0.34, abs=0.05)
    # All pairs: 0.08 to 0.13, deviation 0.12.
    assert scores.mean() == pytest.approx(0.105, abs=0.03)
    assert scores.std() == pytest.approx(0.12, abs=0.02)


def test_a_query_is_nearest_to_what_shares_its_document_or_topic(made: ClusteredVectors) -> None:
    nearest = np.argmax(made.queries @ made.vectors.T, axis=1)
    of_topic = made.topics[nearest] == made.topics[made.sources]
    of_document = made.documents[nearest] == made.documents[made.sources]
    assert of_topic.mean() > 0.95
    assert of_document.mean() > 0.8


def test_topics_differ_in_size(made: ClusteredVectors) -> None:
    sizes = np.sort(np.bincount(made.topics))[::-1]
    assert sizes[0] > 3 * np.median(sizes)
