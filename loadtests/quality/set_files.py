"""Reads judged sets that others made: BEIR's and TREC's files, plain or gzipped.

Documents, queries and grades are one file each. JSON Lines are BEIR's (`_id`, `title`, `text`), tab-separated lines
are an id and a text, and anything else is TREC's: `<DOC>` and `<top>` with their tags.
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.local.failure import Failure

_CORPORA = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.tsv", "corpus.tsv.gz", "corpus.trec", "corpus.trec.gz")
_QUERIES = ("queries.jsonl", "queries.jsonl.gz", "queries.tsv", "topics.tsv", "topics.trec", "topics.txt")
_QRELS = ("qrels/test.tsv", "qrels.tsv", "qrels.txt")
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Text:
    """A document or a query."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SetFiles:
    """The three files of a set."""

    corpus: Path
    queries: Path
    qrels: Path


def find_files(folder: Path) -> SetFiles:
    """The files of a set by their usual names. Raises Failure naming what is missing."""

    def first(names: Sequence[str]) -> Path:
        for name in names:
            if (folder / name).is_file():
                return folder / name
        raise Failure(f"{folder} is no judged set: it has none of {', '.join(names)}")

    return SetFiles(first(_CORPORA), first(_QUERIES), first(_QRELS))


def read_texts(file: Path) -> list[Text]:
    """The documents or queries of a file, in its order. Raises Failure naming the file and what is wrong."""
    content, name = read(file), file.name.removesuffix(".gz")
    try:
        if name.endswith(".jsonl"):
            return [_from_json(json.loads(line)) for line in content.split("\n") if line.strip()]
        if name.endswith(".tsv"):
            return [_from_columns(line.split("\t")) for line in content.split("\n") if line.strip()]
        texts = [*_trec_documents(content), *_trec_topics(content)]
    except (ValueError, KeyError) as error:
        raise Failure(f"{file} cannot be read as a judged set's texts: {error!r}") from error
    if not texts:
        raise Failure(f"{file} holds no <DOC> and no <top>")
    return texts


def read_grades(file: Path) -> dict[str, dict[str, int]]:
    """Grade by document by query, where it is above 0: a document without one counts as 0 anyway.

    Three columns are BEIR's, with a line of headings; four are TREC's, the second without meaning. Raises Failure.
    """
    grades: dict[str, dict[str, int]] = {}
    lines = (line.split() for line in read(file).split("\n"))
    for number, columns in enumerate(lines, start=1):
        if not columns or (number == 1 and columns[0] == "query-id"):
            continue
        try:
            (query, document), grade = (columns[0], columns[-2]), int(columns[-1])
        except (ValueError, IndexError) as error:
            raise Failure(f"{file}, line {number}: a query, a document and a grade were expected") from error
        if grade > 0:
            grades.setdefault(query, {})[document] = grade
    return grades


def read(file: Path) -> str:
    """The whole text of a file, unpacked. Raises Failure."""
    try:
        data = file.read_bytes()
        return (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise Failure(f"{file} cannot be read: {error}") from error


def _from_json(row: Mapping[str, Any]) -> Text:
    return Text(str(row["_id"]), row["text"], row.get("title") or "", row.get("metadata") or {})


def _from_columns(columns: Sequence[str]) -> Text:
    id_, text = columns
    return Text(id_, text)


def _trec_documents(content: str) -> Iterator[Text]:
    for body in re.findall(r"(?s)<DOC>(.*?)</DOC>", content):
        id_ = re.search(r"(?s)<DOCNO>\s*(.*?)\s*</DOCNO>", body)
        if id_ is None:
            raise ValueError("a <DOC> has no <DOCNO>")
        title = re.search(r"(?s)<(TITLE|HEADLINE|HL)>(.*?)</\1>", body)
        rest = body.replace(id_[0], "").replace(title[0] if title else "", "")
        yield Text(id_[1], _plain(rest), _plain(title[2]) if title else "")


def _trec_topics(content: str) -> Iterator[Text]:
    for body in re.findall(r"(?s)<top>(.*?)</top>", content):
        id_ = re.search(r"<num>\s*(?:Number:)?\s*([^\s<]+)", body)
        title = re.search(r"(?s)<title>\s*(?:Topic:)?(.*?)(?=<|$)", body)
        if id_ is None or title is None:
            raise ValueError("a <top> lacks <num> or <title>")
        yield Text(id_[1], _plain(title[1]))


def _plain(text: str) -> str:
    return " ".join(_TAG.sub(" ", text).split())
