from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from services.shared.catalog.acceptance import Change, Outcome, Standing, accept_changes
from services.shared.catalog.documents import Delete, Put, Refused

PUT = Put(
    id="a",
    title="A",
    uri=None,
    locale="en",
    date=None,
    metadata={},
    media_type="text/plain",
    blob="1" * 64,
    content_digest="2" * 64,
)
APPLIED = Standing(newest=PUT, newest_revision=4, applied_revision=4)


def outcome(change: Change, standing: Standing) -> Outcome | None:
    return accept_changes([change], {"a": standing}, sequence=7)[0].outcome


def test_put_of_what_is_applied_is_reused() -> None:
    assert outcome(PUT, APPLIED) is Outcome.REUSED
    assert outcome(replace(PUT, blob="3" * 64, size=9), APPLIED) is Outcome.REUSED
    assert outcome(replace(PUT, title="B"), APPLIED) is None


def test_what_could_not_be_read_has_failed_at_once_and_gets_no_number() -> None:
    refused, put = accept_changes([Refused("papers.jsonl#1", "not JSON"), PUT], {}, sequence=7)
    assert (refused.outcome, refused.revision) == (Outcome.FAILED, None)
    assert (put.outcome, put.revision) == (None, 8)


def test_put_of_what_is_accepted_and_not_applied_is_work() -> None:
    assert outcome(PUT, replace(APPLIED, applied_revision=3)) is None
    assert outcome(PUT, replace(APPLIED, applied_revision=None)) is None
    assert outcome(PUT, replace(APPLIED, unfinished=True)) is None


def test_put_after_an_applied_delete_is_work() -> None:
    assert outcome(PUT, Standing(newest=None, newest_revision=4, applied_revision=None)) is None


def test_delete_of_what_is_nowhere_is_done() -> None:
    assert outcome(Delete("a"), Standing()) is Outcome.DELETED
    assert outcome(Delete("a"), Standing(newest=None, newest_revision=4)) is Outcome.DELETED


def test_delete_of_what_is_accepted_or_applied_is_work() -> None:
    assert outcome(Delete("a"), APPLIED) is None
    assert outcome(Delete("a"), Standing(newest=None, newest_revision=5, applied_revision=4)) is None
    assert outcome(Delete("a"), Standing(unfinished=True)) is None


def test_later_change_of_one_document_in_a_list_sees_the_earlier_one() -> None:
    changes: list[Change] = [Delete("a"), PUT, Delete("b"), PUT]
    accepted = accept_changes(changes, {"a": APPLIED}, sequence=7)

    assert [(one.revision, one.outcome) for one in accepted] == [
        (8, None),
        (9, None),
        (None, Outcome.DELETED),
        (10, None),
    ]


CHANGES: list[Change] = [*(replace(PUT, id=one) for one in "abc"), *(Delete(one) for one in "abc")]


@given(
    st.lists(st.sampled_from(CHANGES)),
    st.integers(0, 2**40),
)
def test_every_change_is_numbered_in_order_or_has_its_outcome(changes: list[Change], sequence: int) -> None:
    accepted = accept_changes(changes, {"a": APPLIED}, sequence=sequence)

    numbers = [one.revision for one in accepted if one.revision is not None]
    assert [one.change for one in accepted] == changes
    assert numbers == list(range(sequence + 1, sequence + 1 + len(numbers)))
    assert all((one.revision is None) == (one.outcome is not None) for one in accepted)
