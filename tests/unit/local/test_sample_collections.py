import gzip
import json
import re
from pathlib import Path

import pytest

from services.local.failure import Failure
from services.local.sample_collections import (
    PAPERS,
    SAMPLES,
    SampleCollection,
    english_at_work,
    first_steps,
    first_steps_judgments,
    papers,
    plumbline_docs,
    python_reference,
)


def test_every_topic_of_the_python_reference_begins_with_its_heading() -> None:
    documents = python_reference()
    assert len(documents) > 70
    assert all(document["markdown"].startswith("# ") for document in documents)
    by_id = {document["id"]: document for document in documents}
    assert by_id["with"]["markdown"].startswith("# The ")


def test_the_projects_own_documents_are_the_readme_and_all_of_docs(tmp_path: Path) -> None:
    (tmp_path / "docs" / "decisions").mkdir(parents=True)
    for name in ("README.md", "docs/guide.md", "docs/decisions/fusion.md", "docs/picture.png"):
        (tmp_path / name).write_text(f"# {name}")
    assert [document["id"] for document in plumbline_docs(tmp_path)] == [
        "README.md",
        "docs/decisions/fusion.md",
        "docs/guide.md",
    ]


def test_a_learner_entry_is_quoted_with_its_headword() -> None:
    entry = next(document for document in english_at_work() if document["id"] == "toil")
    assert entry["text"].startswith("TOIL (noun): Time off in lieu:")
    assert entry["metadata"] == {"kind": "acronym", "level": "B2", "part_of_speech": "noun"}


def test_a_lesson_carries_its_level_and_unit_as_fields() -> None:
    lesson = next(document for document in first_steps() if document["id"] == "tr-a1-u1-kisi-ekleri")
    assert lesson["metadata"] == {"level": "A1", "unit": "1", "kind": "grammar card"}
    assert lesson["locale"] == "tr"


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.name != "plumbline"], ids=lambda s: s.name)
def test_every_sample_has_unique_ids_text_and_only_declared_fields(sample: SampleCollection) -> None:
    documents = sample.documents()
    assert len({document["id"] for document in documents}) == len(documents) > 0
    for document in documents:
        assert set(document.get("metadata", {})) <= set(sample.fields)
        assert (document.get("text") or document["markdown"]).strip()


@pytest.mark.parametrize(("name", "judged"), [("english-at-work", 75), ("first-steps", 30), ("python-reference", 0)])
def test_judged_questions_are_those_that_a_document_answers(name: str, judged: int) -> None:
    sample = next(sample for sample in SAMPLES if sample.name == name)
    judgments, ids = sample.judgments(), {document["id"] for document in sample.documents()}
    assert len({judgment["id"] for judgment in judgments}) == len(judgments) == judged
    assert all(judgment["relevance"] and set(judgment["relevance"]) <= ids for judgment in judgments)


def test_a_lesson_question_is_asked_inside_its_lesson() -> None:
    documents = {document["id"]: document for document in first_steps()}
    for judgment in first_steps_judgments():
        wanted = {part["field"]: part["value"] for part in judgment["filter"]["all"]}
        for document_id in judgment["relevance"]:
            document = documents[document_id]
            assert wanted == {"locale": document["locale"]} | {
                key: document["metadata"][key] for key in wanted if key != "locale"
            }


def test_what_is_created_leaves_settings_out_when_there_are_none() -> None:
    by_name = {sample.name: sample.creation() for sample in SAMPLES}
    assert by_name["first-steps"]["settings"] == {"answer": {"same_field": "unit"}}
    assert by_name["plumbline"] == {"name": "plumbline", "profile": "docs", "locale": "en", "fields": {}}


def test_papers_are_read_from_beside_the_checkout(tmp_path: Path) -> None:
    paper = {
        "id": "p1",
        "title": "T",
        "abstract": "A",
        "year": 2020,
        "date": "2020-01",
        "department": "Physics",
        "category": "hep",
        "url": "https://example.org/p1",
        "license": "CC0",
    }
    (tmp_path / "papers.jsonl.gz").write_bytes(gzip.compress(json.dumps(paper).encode() + b"\n"))
    (document,) = papers(tmp_path / "papers.jsonl.gz")
    assert (document["text"], document["date"]) == ("A", "2020-01")
    assert document["metadata"] == {"department": "Physics", "category": "hep", "year": 2020}
    assert set(document["metadata"]) == set(PAPERS.fields)


def test_missing_papers_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=re.escape("../shared/data/papers")):
        papers(tmp_path / "missing")
