import gzip
from pathlib import Path

import pytest

from loadtests.quality.set_files import Text, find_files, read_grades, read_texts
from services.local.failure import Failure


def test_texts_of_beir_are_read_plain_and_packed(tmp_path: Path) -> None:
    lines = '{"_id": 7, "title": "T", "text": "A \u2028line", "metadata": {"year": 2011}}\n\n{"_id": "b", "text": ""}\n'
    (tmp_path / "corpus.jsonl").write_text(lines)
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    expected = [Text("7", "A \u2028line", "T", {"year": 2011}), Text("b", "")]
    assert read_texts(tmp_path / "corpus.jsonl") == read_texts(tmp_path / "corpus.jsonl.gz") == expected


def test_texts_in_columns_are_read(tmp_path: Path) -> None:
    (tmp_path / "queries.tsv").write_text("1\twhat is TOIL\n2\tçay\n")
    assert read_texts(tmp_path / "queries.tsv") == [Text("1", "what is TOIL"), Text("2", "çay")]


def test_documents_of_trec_are_read_without_their_tags(tmp_path: Path) -> None:
    (tmp_path / "corpus.trec").write_text(
        "<DOC>\n<DOCNO> FT911-3 </DOCNO>\n<HEADLINE>\nThe <B>head</B>\n</HEADLINE>\n"
        "<TEXT>\nTwo\nlines\n</TEXT>\n</DOC>\n"
        "<DOC><DOCNO>b</DOCNO><TEXT>more</TEXT></DOC>"
    )
    assert read_texts(tmp_path / "corpus.trec") == [Text("FT911-3", "Two lines", "The head"), Text("b", "more")]


def test_topics_of_trec_are_their_titles(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text(
        "<top>\n<num> Number: 301\n<title> International Organized Crime\n\n<desc> Description:\nIdentify ...\n</top>\n"
        "<top><num>302</num><title>Poliomyelitis</title></top>"
    )
    assert read_texts(tmp_path / "topics.txt") == [
        Text("301", "International Organized Crime"),
        Text("302", "Poliomyelitis"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\n",
        "q1 0 d1 2\nq1 0 d2 0\nq1 0 d3 -2\nq2 Q0 d1 1\n",
        "q1\td1\t2\nq2\td1\t1",
    ],
    ids=["BEIR", "TREC", "BEIR without headings"],
)
def test_grades_above_0_are_read_from_three_columns_or_four(tmp_path: Path, content: str) -> None:
    (tmp_path / "qrels.tsv").write_text(content)
    assert read_grades(tmp_path / "qrels.tsv") == {"q1": {"d1": 2}, "q2": {"d1": 1}}


def test_a_line_that_is_no_grade_is_named(tmp_path: Path) -> None:
    (tmp_path / "qrels.tsv").write_text("q1\td1\t1\nq1\td2\thigh\n")
    with pytest.raises(Failure, match=r"qrels\.tsv, line 2: "):
        read_grades(tmp_path / "qrels.tsv")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"id": "a"}'),
        ("a.jsonl", "no JSON"),
        ("a.tsv", "only one column"),
        ("a.txt", "no tags"),
        ("a.txt", "<DOC>no id</DOC>"),
        ("a.txt", "<top><num>1</num></top>"),
    ],
)
def test_a_file_of_another_kind_is_one_sentence(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(Failure, match=rf"{name}.* (cannot be read|holds no)"):
        read_texts(tmp_path / name)


def test_a_damaged_archive_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(b"x" * 1000)[:20])
    with pytest.raises(Failure, match="cannot be read"):
        read_texts(tmp_path / "corpus.jsonl.gz")


def test_a_set_is_found_by_the_usual_names_of_its_files(tmp_path: Path) -> None:
    for name in ("corpus.jsonl.gz", "queries.jsonl", "queries.tsv", "qrels.tsv", "qrels/test.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files = find_files(tmp_path)
    found = [file.relative_to(tmp_path).as_posix() for file in (files.corpus, files.queries, files.qrels)]
    assert found == ["corpus.jsonl.gz", "queries.jsonl", "qrels/test.tsv"]


def test_a_folder_that_lacks_a_file_says_which(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").touch()
    with pytest.raises(Failure, match=r"is no judged set: it has none of queries\.jsonl"):
        find_files(tmp_path)
