"""What is written while processes are killed."""

from collections import Counter

import pytest

from loadtests.ingest_faults.corpus import PER_CALL, Delete, Document, Put, changes_in, remaining, writes


def test_one_seed_writes_the_same_and_another_something_else() -> None:
    assert writes(200, seed=1) == writes(200, seed=1) != writes(200, seed=2)


def test_every_document_is_put_and_some_are_changed_deleted_and_put_again() -> None:
    calls = writes(400, seed=1)
    puts = Counter(one.id for call in calls if isinstance(call, Put) for one in call.documents)
    deleted = [id_ for call in calls if isinstance(call, Delete) for id_ in call.ids]

    assert len(puts) == 400
    assert sum(count > 1 for count in puts.values()) > 50
    assert len(deleted) > 20
    assert set(deleted) & remaining(calls), "none came back"


def test_what_a_call_deletes_is_there_and_no_call_names_a_document_twice() -> None:
    there: set[str] = set()
    for call in writes(300, seed=3):
        ids = [one.id for one in call.documents] if isinstance(call, Put) else list(call.ids)
        assert len(set(ids)) == len(ids) <= PER_CALL + 1
        if isinstance(call, Delete):
            assert there >= set(ids)
            there -= set(ids)
        else:
            there |= set(ids)


def test_changes_and_what_remains_are_counted_over_all_calls() -> None:
    one, other = Document("a", ("x",), 2000), Document("b", ("y",), 2000)
    calls = [Put((one, other)), Delete(("a",)), Put((one,)), Delete(("b",))]

    assert changes_in(calls) == 5
    assert remaining(calls) == {"a"}


@pytest.mark.parametrize("documents", [1, 50, 51])
def test_any_number_of_documents_can_be_written(documents: int) -> None:
    ids = {one.id for call in writes(documents, seed=1) if isinstance(call, Put) for one in call.documents}
    assert len(ids) == documents
