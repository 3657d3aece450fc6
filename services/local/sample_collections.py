"""The collections that a first look needs: read from files and from Python itself, never downloaded."""

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any, TypeAlias

from services.local.bootstrap import ROOT
from services.local.failure import Failure
from services.local.python_topics import to_markdown

# A document and a judged query as the gateway takes them.
Document: TypeAlias = Mapping[str, Any]
Judgment: TypeAlias = Mapping[str, Any]

_SAMPLES = Path(__file__).with_name("samples")
_PAPERS = ROOT.parent / "shared" / "data" / "papers" / "papers.jsonl.gz"


@dataclass(frozen=True, slots=True)
class SampleCollection:
    """One collection: its name and what it is created with; what is put into it is read when it is asked for."""

    name: str
    profile: str
    documents: Callable[[], list[Document]]
    fields: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    judgments: Callable[[], list[Judgment]] = list
    locale: str = "en"

    def creation(self) -> dict[str, Any]:
        """What the gateway is asked to create."""
        creation = {"name": self.name, "profile": self.profile, "locale": self.locale, "fields": self.fields}
        return creation | ({"settings": self.settings} if self.settings else {})


def python_reference() -> list[Document]:
    """The language reference topics that this Python ships, one document each."""
    return [
        {
            "id": name,
            "uri": f"pydoc:{name}",
            "markdown": to_markdown(text),
        }
        for name, text in sorted(topics.items())
    ]


def plumbline_docs(root: Path = ROOT) -> list[Document]:
    """The project's own documentation, one document a file."""
    files = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    names = [file.relative_to(root).as_posix() for file in files if file.is_file()]
    return [{"id": name, "uri": name, "markdown": (root / name).read_text()} for name in names]


def english_at_work() -> list[Document]:
    """The learner entries; a text is what an answer quotes, so it names its headword itself."""
    return [
        {
            "id": entry["id"],
            "title": entry["headword"],
            "locale": entry["locale"],
            "metadata": {key: entry[key] for key in ("kind", "level", "part_of_speech")},
            "text": f"{entry['headword']} ({entry['part_of_speech']}): {entry['meaning']}\nExample: {entry['example']}",
        }
        for entry in _lines((_SAMPLES / "english_at_work" / "entries.jsonl").read_text())
    ]


def first_steps() -> list[Document]:
    """The lessons of both small courses."""
    return [
        {
            "id": lesson["id"],
            "title": lesson["title"],
            "locale": lesson["locale"],
            "metadata": {key: lesson[key] for key in ("level", "unit", "kind")},
            "markdown": lesson["markdown"],
        }
        for lesson in _lines((_SAMPLES / "first_steps" / "lessons.jsonl").read_text())
    ]


def english_at_work_judgments() -> list[Judgment]:
    """The questions that an entry answers; one without such an entry says nothing about a ranking."""
    return [
        _judgment(line)
        for line in _lines((_SAMPLES / "english_at_work" / "judged.jsonl").read_text())
        if line["relevant"]
    ]


def first_steps_judgments() -> list[Judgment]:
    """The questions of both courses, each asked inside its lesson, as a course asks them."""
    return [
        _judgment(line)
        | {"filter": {"all": [{"field": key, "op": "eq", "value": line[key]} for key in ("locale", "level", "unit")]}}
        for line in _lines((_SAMPLES / "first_steps" / "judged.jsonl").read_text())
    ]


def _judgment(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line of the samples' judgments, which list the right documents and grade none above another."""
    return {
        "id": line["id"],
        "query": line["question"],
        "locale": line["locale"],
        "relevance": dict.fromkeys(line["relevant"], 1),
    }


def papers(file: Path = _PAPERS) -> list[Document]:
    """The test papers beside the checkout. Raises Failure when they are not there."""
    if not file.is_file():
        raise Failure("the papers are not here: they are read from ../shared/data/papers, beside this checkout")
    return [
        {
            "id": paper["id"],
            "title": paper["title"],
            "uri": paper["url"],
            "locale": "en",
            "date": paper["date"],
            "metadata": {key: paper[key] for key in ("department", "category", "year")},
            "text": paper["abstract"],
        }
        for paper in _lines(gzip.decompress(file.read_bytes()).decode())
    ]


def _lines(text: str) -> Iterator[Any]:
    return (json.loads(line) for line in text.split("\n") if line)


_KEYWORD = "keyword"
SAMPLES = (
    SampleCollection(
        "english-at-work",
        "entry",
        english_at_work,
        dict.fromkeys(("kind", "level", "part_of_speech"), _KEYWORD),
        judgments=english_at_work_judgments,
    ),
    SampleCollection(
        "first-steps",
        "lesson",
        first_steps,
        dict.fromkeys(("level", "unit", "kind"), _KEYWORD),
        # The same word means one thing in unit 1 and another in unit 11: an answer never mixes them.
        {"answer": {"same_field": "unit"}},
        first_steps_judgments,
    ),
    SampleCollection("plumbline", "docs", plumbline_docs),
    SampleCollection("python-reference", "docs", python_reference),
)
PAPERS = SampleCollection("papers", "paper", papers, {"department": _KEYWORD, "category": _KEYWORD, "year": "integer"})
