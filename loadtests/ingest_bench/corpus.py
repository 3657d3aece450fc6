"""Documents to measure with: abstracts from a file of records, and one document with headings."""

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.search.v1 import filter_pb2
from services.local.failure import Failure

SECTIONS = 8
_ONE_CHUNK = 1_000  # characters; a chunk of a paper has up to 600 tokens


def abstracts(file: Path, count: int) -> list[pb.Document]:
    """The first `count` records of a file of JSON lines, plain or gzip. Raises Failure when it has fewer."""
    documents = list(islice(_documents(file), count))
    if len(documents) < count:
        raise Failure(f"{file} has {len(documents)} abstracts, not {count}")
    return documents


def with_another_year(documents: list[pb.Document]) -> list[pb.Document]:
    """The same, each a year younger."""
    changed = []
    for document in documents:
        copy = pb.Document()
        copy.CopyFrom(document)
        copy.metadata["year"].integer += 1
        changed.append(copy)
    return changed


def sectioned(abstracts: list[pb.Document], *, heading: str) -> pb.Document:
    """A document of `SECTIONS` sections, each of one chunk, whose third one has this heading."""
    headings = [heading if number == 2 else f"Part {number}" for number in range(SECTIONS)]
    sections = [f"## {title}\n\n{one.text[:_ONE_CHUNK]}" for title, one in zip(headings, abstracts, strict=False)]
    return pb.Document(id="sectioned", title="A document with sections", markdown="\n\n".join(sections))


def _documents(file: Path) -> Iterator[pb.Document]:
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            metadata = {
                "department": filter_pb2.Value(text=record["department"]),
                "year": filter_pb2.Value(integer=record["year"]),
            }
            yield pb.Document(id=record["id"], title=record["title"], text=record["abstract"], metadata=metadata)
