from pathlib import Path

import pytest

from loadtests.quality.known_sets import DATA, known_sets, set_of_folder
from loadtests.quality.measures import MEASURES
from services.local.failure import Failure

SETS = known_sets()
DATA_IS_HERE = pytest.mark.skipif(not DATA.is_dir(), reason=f"the test data is not beside the checkout: {DATA}")


@pytest.mark.parametrize("name", SETS)
def test_a_set_watches_and_names_measures_that_there_are(name: str) -> None:
    judged = SETS[name]
    named = {measure for values in judged.plain.values() for measure in values}
    assert judged.watched
    assert {*judged.watched, *named} <= set(MEASURES)


@DATA_IS_HERE
@pytest.mark.parametrize(
    ("name", "documents", "queries"),
    [
        ("scifact", 5183, 300),
        ("pubmedqa-topics", 1000, 23),
        ("papers", 3000, 500),
        ("xquad-zh", 240, 1190),
        ("english-at-work", 93, 75),
        ("first-steps", 36, 30),
    ],
)
def test_a_set_holds_the_documents_and_queries_that_are_known_of_it(name: str, documents: int, queries: int) -> None:
    content = SETS[name].content
    assert content is not None
    ids = {document["id"] for document in content.documents()}
    judgments = content.judgments()
    assert (len(content.documents()), len(ids), len(judgments)) == (documents, documents, queries)
    assert all(set(judgment["relevance"]) <= ids for judgment in judgments)


@DATA_IS_HERE
@pytest.mark.parametrize("name", [name for name, judged in SETS.items() if judged.ready])
def test_ready_vectors_are_of_what_is_put_and_asked(name: str) -> None:
    content = SETS[name].content
    assert content is not None
    texts = [list(ready.texts()) for ready in SETS[name].ready]
    assert texts[0] == [document["text"] for document in content.documents()]
    if len(texts) > 1:
        assert texts[1] == [judgment["query"] for judgment in content.judgments()]


@DATA_IS_HERE
def test_papers_are_put_without_the_titles_that_are_asked_for() -> None:
    content = SETS["papers"].content
    assert content is not None
    assert not any("title" in document for document in content.documents())


def test_the_same_course_is_asked_with_and_without_its_filters() -> None:
    with_filters, without = SETS["first-steps"], SETS["first-steps-unfiltered"]
    assert with_filters.collection == without.collection == "first-steps"
    assert (with_filters.filtered, without.filtered) == (True, False)


def test_a_set_of_a_folder_has_its_titles_and_only_queries_with_a_right_document(tmp_path: Path) -> None:
    folder = tmp_path / "NFCorpus"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "T", "text": "A"}\n{"_id": "d2", "text": "B"}')
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "two"}')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t2\nq2\td2\t0\nq1\td2\t0\n")

    judged = set_of_folder(folder, model="hashing", profile="plain", locale="de")

    assert (judged.name, judged.model) == ("nfcorpus", "hashing")
    assert judged.content is not None
    assert judged.content.creation() == {"name": "nfcorpus", "profile": "plain", "locale": "de", "fields": {}}
    assert judged.content.documents() == [
        {"id": "d1", "title": "T", "text": "A"},
        {"id": "d2", "title": "", "text": "B"},
    ]
    assert judged.content.judgments() == [{"id": "q2", "query": "two", "relevance": {"d1": 2}}]


def test_a_folder_without_a_set_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="is no judged set"):
        set_of_folder(tmp_path, model="hashing", profile="docs", locale="en")
