"""What a list of documents is told as, whoever ranked it."""

import pytest

from loadtests.tune.native_study import shown
from loadtests.tune.study_sets import StudySet
from tests.component.search.searching import a_chunk
from tests.unit.loadtests.tune.examples import knobs

DOCUMENTS = {
    "old": a_chunk("old", "one", [1, 0, 0, 0], date="2001", metadata={"kind": "law"}),
    "new": a_chunk("new", "two", [0.6, 0.8, 0, 0], date="2026", metadata={"kind": "art"}),
    "bare": a_chunk("bare", "three", [0, 1, 0, 0]),
}
SET = StudySet("c", "tiny", "en", (), knobs(diversify_by="kind"))


def test_a_document_stands_once_with_its_attribute_and_its_age() -> None:
    replayed = shown(["new", "old", "new", "bare"], DOCUMENTS, SET)
    assert [(one.document_id, one.attribute, one.age_years) for one in replayed.shown] == [
        ("new", "art", 0), ("old", "law", 25), ("bare", None, None),
    ]  # fmt: skip
    assert replayed.window_values == 2


def test_similarity_is_that_of_the_first_windows() -> None:
    # Cosines of the pairs: 0.6, 0.8 and 0.
    assert shown(["new", "old", "bare"], DOCUMENTS, SET).similarity == pytest.approx(1.4 / 3, abs=1e-6)


def test_nothing_found_is_told_as_nothing() -> None:
    assert shown([], DOCUMENTS, SET).shown == ()
