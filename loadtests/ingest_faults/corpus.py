"""What is written while processes are killed: documents, changes of them and deletions, the same for one seed. Pure."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

PER_CALL = 50
# Of a call's documents: how many earlier ones are changed and deleted after it, and how many deleted ones come back.
_CHANGED, _DELETED, _RETURNING = 0.3, 0.1, 0.02
_WORDS = (
    *("heron", "river", "stone", "archive", "signal", "meadow", "harbor", "copper", "lantern", "orchard", "glacier"),
    *("ledger", "compass", "violet", "canyon", "timber", "granite", "willow", "current", "quarry", "beacon", "thicket"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is given; its paragraphs become one to five chunks."""

    id: str
    paragraphs: tuple[str, ...]
    year: int


@dataclass(frozen=True, slots=True)
class Put:
    """One call that puts these documents."""

    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    """One call that deletes these documents."""

    ids: tuple[str, ...]


Write: TypeAlias = Put | Delete


def writes(documents: int, *, seed: int) -> list[Write]:
    """The calls in their order: new documents, and after each call of them changes, deletions and returns.

    A change edits a paragraph, takes some away, adds one, or touches the metadata alone.
    """
    choose = random.Random(seed)
    now: dict[str, Document] = {}
    gone: dict[str, Document] = {}
    calls: list[Write] = []
    for start in range(0, documents, PER_CALL):
        ids = [f"document-{number:05}" for number in range(start, min(start + PER_CALL, documents))]
        new = [Document(id_, _paragraphs(choose, choose.randint(1, 5)), 2000) for id_ in ids]
        returning = choose.sample(sorted(gone), min(len(gone), round(len(ids) * _RETURNING)))
        new += [gone.pop(id_) for id_ in returning]
        _put(calls, now, new)
        _put(calls, now, [_changed(choose, now[id_]) for id_ in _some(choose, now, len(ids) * _CHANGED)])
        if leaving := _some(choose, now, len(ids) * _DELETED):
            gone |= {id_: now.pop(id_) for id_ in leaving}
            calls.append(Delete(tuple(leaving)))
    return calls


def changes_in(calls: Sequence[Write]) -> int:
    """How many changes the calls make, each of one document."""
    return sum(len(call.documents) if isinstance(call, Put) else len(call.ids) for call in calls)


def remaining(calls: Sequence[Write]) -> set[str]:
    """The ids of the documents that are there in the end."""
    ids: set[str] = set()
    for call in calls:
        ids = ids | {one.id for one in call.documents} if isinstance(call, Put) else ids - set(call.ids)
    return ids


def _put(calls: list[Write], now: dict[str, Document], given: Sequence[Document]) -> None:
    if given:
        now.update({one.id: one for one in given})
        calls.append(Put(tuple(given)))


def _some(choose: random.Random, now: dict[str, Document], count: float) -> list[str]:
    return choose.sample(sorted(now), min(len(now), round(count)))


def _changed(choose: random.Random, document: Document) -> Document:
    paragraphs = document.paragraphs
    place = choose.randrange(len(paragraphs))
    match choose.randrange(4):
        case 0:
            return replace(document, year=document.year + 1)
        case 1:
            return replace(document, paragraphs=(*paragraphs, *_paragraphs(choose, 1))[-5:])
        case 2:
            return replace(document, paragraphs=paragraphs[: place + 1], year=document.year + 1)
        case _:
            return replace(
                document, paragraphs=(*paragraphs[:place], *_paragraphs(choose, 1), *paragraphs[place + 1 :])
            )


def _paragraphs(choose: random.Random, count: int) -> tuple[str, ...]:
    """Paragraphs that are one chunk each in the profile `plain`, and none like another."""
    return tuple(
        f"Record {choose.randrange(10**9)}: {' '.join(choose.choices(_WORDS, k=choose.randint(40, 50)))}."
        for _ in range(count)
    )
