"""The numbered sources of one answer: whole passages, neighbours merged, best first, within a budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from services.answer.domain.found import Hit


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that the answer may cite as `number`, from 1.

    `text` is the document's body from code point `start` to `end`; only where chunks leave out a stretch between them,
    white space stands for it. `chunk_ids` are in document order, `heading_path` is what they share.
    """

    number: int
    document_id: str
    chunk_ids: tuple[str, ...]
    pages: tuple[int, ...]
    title: str
    uri: str
    heading_path: tuple[str, ...]
    text: str
    start: int
    end: int
    locale: str

    @property
    def heading(self) -> str:
        """Title and headings, as they stand above the text."""
        return " > ".join(part for part in (self.title, *self.heading_path) if part)


def pack_context(hits: Sequence[Hit], *, same_field: str, max_tokens: int) -> tuple[Source, ...]:
    """The sources that `hits`, best first, give, numbered from 1 by their best hit.

    With `same_field` only hits that have the best hit's value of that field are used; lacking it counts as a value.
    Hits are taken whole, from the best on, until one does not fit into `max_tokens`; the best is always taken.
    Chunks that follow each other in a document become one source at the place of the better one.
    """
    chosen = _within_budget(_sharing(hits, same_field), max_tokens)
    places = {hit.chunk_id: place for place, hit in enumerate(chosen)}
    runs = sorted(_runs(chosen), key=lambda run: min(places[hit.chunk_id] for hit in run))
    return tuple(_merged(run, number) for number, run in enumerate(runs, start=1))


def _sharing(hits: Sequence[Hit], field: str) -> Sequence[Hit]:
    if not field:
        return hits
    return [hit for hit in hits if hit.metadata.get(field) == hits[0].metadata.get(field)]


def _within_budget(hits: Sequence[Hit], max_tokens: int) -> list[Hit]:
    totals = accumulate(hit.tokens for hit in hits)
    return [
        hit for place, (hit, total) in enumerate(zip(hits, totals, strict=True)) if place == 0 or total <= max_tokens
    ]


def _runs(hits: Iterable[Hit]) -> list[list[Hit]]:
    """Hits of one document that follow each other, in document order."""
    runs: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda hit: (hit.document_id, hit.ordinal)):
        if runs and _follows(runs[-1][-1], hit):
            runs[-1].append(hit)
        else:
            runs.append([hit])
    return runs


def _follows(before: Hit, hit: Hit) -> bool:
    """`hit` is the next chunk, and where the two overlap they say the same."""
    if hit.document_id != before.document_id or hit.ordinal != before.ordinal + 1:
        return False
    overlap = max(0, before.end - hit.start)
    return overlap == 0 or before.text.endswith(hit.text[:overlap])


def _merged(run: Sequence[Hit], number: int) -> Source:
    first = run[0]
    text, end = first.text, first.end
    for hit in run[1:]:
        text += hit.text[end - hit.start :] if hit.start <= end else _between(hit.start - end) + hit.text
        end = max(end, hit.end)
    return Source(
        number=number,
        document_id=first.document_id,
        chunk_ids=tuple(hit.chunk_id for hit in run),
        pages=tuple(sorted({page for hit in run for page in hit.pages})),
        title=first.title,
        uri=first.uri,
        heading_path=_shared_headings([hit.heading_path for hit in run]),
        text=text,
        start=first.start,
        end=end,
        locale=first.locale,
    )


def _between(code_points: int) -> str:
    """What stands for a stretch that no chunk holds: nearly always the white space around a cut."""
    return " " if code_points == 1 else "\n\n"


def _shared_headings(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    levels = zip(*paths, strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))
