import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.search.domain.cursor import Also
from services.search.domain.query import Mode
from services.search.domain.window import Candidate, Found, Leg, LegRank, window_of_chunks, window_of_documents

NONE: frozenset[str] = frozenset()


def found(*chunks: str) -> list[Found]:
    """Chunks named by their document and a number, best first, with falling scores."""
    return [Found(chunk, chunk[0], 1.0 - place / 10) for place, chunk in enumerate(chunks)]


def legs(keyword: list[Found], vector: list[Found]) -> list[Leg]:
    return [Leg(Mode.KEYWORD, keyword), Leg(Mode.VECTOR, vector)]


def ids(window: list[Candidate]) -> list[str]:
    return [candidate.chunk_id for candidate in window]


def chunks(*given_legs: Leg, exact: frozenset[str] = NONE, size: int = 100) -> list[Candidate]:
    return window_of_chunks(given_legs, exact=exact, k=60, size=size)


def documents(*given_legs: Leg, exact: frozenset[str] = NONE, size: int = 100, depth: int = 100) -> list[Candidate]:
    return window_of_documents(given_legs, exact=exact, k=60, size=size, depth=depth)


def test_chunks_of_both_legs_come_before_those_of_one_with_what_each_leg_gave() -> None:
    window = chunks(*legs(found("a1", "b1"), found("c1", "b1")))
    assert ids(window) == ["b1", "a1", "c1"]
    assert window[0].legs == {
        Mode.KEYWORD: LegRank(2, 0.9, pytest.approx(1 / 62)), Mode.VECTOR: LegRank(2, 0.9, pytest.approx(1 / 62))
    }  # fmt: skip
    assert window[1].legs[Mode.VECTOR] == LegRank()
    assert window[0].fused_score == pytest.approx(2 / 62)


def test_exact_chunks_stand_first_and_the_window_is_cut_after_that() -> None:
    window = chunks(*legs(found("a1", "b1"), found("a1", "c1")), exact=frozenset({"c1"}), size=2)
    assert ids(window) == ["c1", "a1"]
    assert [candidate.exact for candidate in window] == [True, False]


def test_a_leg_that_did_not_run_is_not_in_the_candidates() -> None:
    (candidate,) = chunks(Leg(Mode.VECTOR, found("a1")))
    assert list(candidate.legs) == [Mode.VECTOR]


def test_a_document_votes_once_per_leg_and_ranks_are_dense_over_documents() -> None:
    window = documents(*legs(found("a1", "a2", "a3", "c1"), found("b1")))
    assert ids(window) == ["a1", "b1", "c1"]
    assert window[0].fused_score == window[1].fused_score
    assert window[2].legs[Mode.KEYWORD].rank == 2


def test_the_best_chunk_over_both_legs_stands_for_its_document_and_lists_the_others() -> None:
    # Chunks in fused order: a2 (in both legs), a1, a3.
    (window,) = documents(*legs(found("a1", "a2"), found("a2", "a3")))
    assert window.chunk_id == "a2"
    assert window.also == (Also("a1", 2), Also("a3", 3))


def test_an_exact_chunk_stands_for_its_document_and_lifts_it() -> None:
    window = documents(*legs(found("b1", "a1", "a2"), found("b1", "a1")), exact=frozenset({"a2"}))
    assert ids(window) == ["a2", "b1"]
    assert window[0].also == (Also("a1", 2),)
    assert window[0].exact


def test_a_document_beyond_the_depth_of_a_leg_has_no_vote_in_it() -> None:
    window = documents(*legs(found("a1", "b1", "c1"), found("c1")), depth=2)
    assert ids(window) == ["a1", "c1", "b1"]
    assert window[1].legs[Mode.KEYWORD] == LegRank()


def test_nothing_found_is_an_empty_window() -> None:
    assert chunks(*legs([], [])) == documents(*legs([], [])) == []
    assert chunks() == documents() == []


FOUND = st.lists(st.sampled_from([f"{document}{n}" for document in "abcd" for n in range(3)]), unique=True).map(
    lambda names: found(*names)
)


@given(FOUND, FOUND, st.integers(1, 20))
def test_chunks_of_the_window_are_what_the_legs_found_each_once(
    keyword: list[Found], vector: list[Found], size: int
) -> None:
    window = ids(chunks(*legs(keyword, vector), size=size))
    everything = {hit.chunk_id for hit in (*keyword, *vector)}
    assert len(window) == len(set(window)) == min(size, len(everything))
    assert set(window) <= everything


@given(FOUND, FOUND, st.integers(0, 5))
def test_each_document_comes_once_and_each_chunk_is_shown_or_listed_once(
    keyword: list[Found], vector: list[Found], exact: int
) -> None:
    window = documents(*legs(keyword, vector), exact=frozenset(hit.chunk_id for hit in keyword[:exact]))
    assert sorted(candidate.chunk_id[0] for candidate in window) == sorted(
        {hit.document_id for hit in (*keyword, *vector)}
    )
    shown = [chunk for hit in window for chunk in (hit.chunk_id, *(also.chunk_id for also in hit.also))]
    assert sorted(shown) == sorted({hit.chunk_id for hit in (*keyword, *vector)})
    tiers = [candidate.exact for candidate in window]
    assert tiers == sorted(tiers, reverse=True)
