"""The sets that `make eval` knows by name: those of the test data beside the checkout, and the samples.

The figures of plain tools are those of the data's README: BM25 (stems only, k1 1.2, b 0.75), the vectors alone (one
for each text, cut at the model's limit), and both joined; `completed` gives every hit of the fused window both scores.
What Weaviate's own word tokenizer reaches was measured with word_tokenizer.py on the real server, 1.39.0.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path

from loadtests.quality.judged_set import JudgedSet, ReadyVectors
from loadtests.quality.set_files import SetFiles, Text, find_files, read, read_grades, read_texts
from services.local.bootstrap import ROOT
from services.local.sample_collections import PAPERS, SAMPLES, Document, Judgment, SampleCollection, papers

DATA = ROOT.parent / "shared" / "data"
_MPNET = "all-mpnet-base-v2"
_WITHOUT_WEIGHTS = "hashing"  # where only the keyword leg is measured, vectors are for show
_XQUAD = {
    "en": {"Weaviate's word tokenizer": 0.959, "sketch of the analyzer": 0.966},
    "tr": {"Weaviate's word tokenizer": 0.896, "sketch of the analyzer": 0.931},
    "hi": {"Weaviate's word tokenizer": 0.779, "sketch of the analyzer": 0.943},
    "zh": {"Weaviate's word tokenizer": 0.114, "sketch of the analyzer": 0.965},
}


def known_sets(data: Path = DATA) -> dict[str, JudgedSet]:
    """All of them by name; nothing is read before it is needed."""
    sets = (
        _scifact(data / "scifact"),
        _pubmedqa_topics(data / "pubmedqa"),
        _papers(data / "papers"),
        *(_xquad(data / "xquad" / language, language, plain) for language, plain in _XQUAD.items()),
        _sample("english-at-work"),
        _sample("first-steps"),
        _sample("first-steps", filtered=False),
    )
    return {judged.name: judged for judged in sets}


def set_of_folder(folder: Path, *, model: str, profile: str, locale: str) -> JudgedSet:
    """The set in a folder with BEIR's or TREC's files. Raises Failure when it lacks one."""
    files = find_files(folder)
    name = folder.resolve().name.lower()
    content = SampleCollection(
        name, profile, partial(_documents, files), judgments=partial(judgments, files), locale=locale
    )
    return JudgedSet(name, name, ("nDCG@10",), content, model)


def judgments(files: SetFiles) -> list[Judgment]:
    """The judged queries in the order of their file; one without a right document says nothing about a ranking."""
    grades = read_grades(files.qrels)
    return [
        {"id": query.id, "query": query.text, "relevance": grades[query.id]}
        for query in read_texts(files.queries)
        if query.id in grades
    ]


def _documents(files: SetFiles) -> list[Document]:
    return [{"id": one.id, "title": one.title, "text": one.text} for one in read_texts(files.corpus)]


def _scifact(folder: Path) -> JudgedSet:
    files = SetFiles(folder / "corpus.jsonl.gz", folder / "queries.test.jsonl", folder / "qrels" / "test.tsv")

    @cache
    def documents() -> list[Document]:
        # Title and abstract as one text without its last full stop: letter for letter what the ready vectors are of.
        return [{"id": one.id, "text": f"{one.title}. {one.text}".strip(". ")} for one in read_texts(files.corpus)]

    return JudgedSet(
        "scifact",
        "scifact",
        watched=("nDCG@10",),
        content=SampleCollection("scifact", "paper", documents, judgments=partial(judgments, files)),
        model=_MPNET,
        plain={
            "keyword": {"nDCG@10": 0.685},
            "vector": {"nDCG@10": 0.650},
            "RRF, k 60": {"nDCG@10": 0.714},
            "completed, 0.6": {"nDCG@10": 0.735},
        },
        ready=(
            ReadyVectors(folder / "corpus.mpnet.npy", lambda: [document["text"] for document in documents()]),
            ReadyVectors(folder / "test.queries.mpnet.npy", lambda: _texts(files.queries)),
        ),
    )


def _pubmedqa_topics(folder: Path) -> JudgedSet:
    files = SetFiles(folder / "corpus.jsonl.gz", folder / "topics.queries.jsonl", folder / "topics.qrels.tsv")

    def document(one: Text) -> Document:
        year = one.metadata["year"]
        dated = {"date": str(year), "metadata": {"year": year}} if year else {}
        return {"id": one.id, "text": one.text, **dated}

    name = "pubmedqa-topics"
    return JudgedSet(
        name,
        name,
        watched=("nDCG@20", "P@10"),
        content=SampleCollection(
            name,
            "paper",
            lambda: [document(one) for one in read_texts(files.corpus)],
            {"year": "integer"},
            judgments=partial(judgments, files),
        ),
        clock="2018-12-31",
        plain={  # over 34 topics, of which 23 are in the data
            "keyword, 34 topics": {"nDCG@20": 0.578},
            "vector, 34 topics": {"nDCG@20": 0.684, "P@10": 0.700},
            "RRF, k 60, 34 topics": {"nDCG@20": 0.668, "P@10": 0.679},
            "completed, 0.6, 34 topics": {"nDCG@20": 0.690},
        },
        ready=(ReadyVectors(folder / "corpus.minilm.npy", lambda: _texts(files.corpus)),),
    )


def _papers(folder: Path) -> JudgedSet:
    files = SetFiles(folder / "papers.jsonl.gz", folder / "judged.queries.jsonl", folder / "judged.qrels.tsv")

    @cache
    def documents() -> list[Document]:
        # The queries are titles, so the indexed documents have none.
        by_id: Mapping[str, Document] = {paper["id"]: paper for paper in papers(files.corpus)}
        ids = read(folder / "judged.ids.txt").split()
        return [{key: value for key, value in by_id[one].items() if key != "title"} for one in ids]

    name = "papers-judged"
    return JudgedSet(
        "papers",
        name,
        watched=("nDCG@10", "distinct@20"),
        content=SampleCollection(name, "paper", documents, PAPERS.fields, judgments=partial(judgments, files)),
        attribute="department",
        clock="2026-12-31",
        plain={
            "keyword": {"nDCG@10": 0.938, "MRR@20": 0.930, "distinct@20": 7.7},
            "vector": {"nDCG@10": 0.925, "MRR@20": 0.911, "distinct@20": 5.5},
            "RRF, k 60": {"nDCG@10": 0.951, "MRR@20": 0.942, "distinct@20": 6.0, "age@20": 14.3},
            "RRF and MMR 0.6, w 0.5": {"MRR@20": 0.934, "distinct@20": 10.6},
            "completed, 0.6": {"nDCG@10": 0.959},
        },
        ready=(
            ReadyVectors(folder / "judged.corpus.minilm.npy", lambda: [document["text"] for document in documents()]),
            ReadyVectors(folder / "judged.queries.minilm.npy", lambda: _texts(files.queries)),
        ),
    )


def _xquad(folder: Path, language: str, plain: Mapping[str, float]) -> JudgedSet:
    files = SetFiles(folder / "corpus.jsonl.gz", folder / "queries.jsonl.gz", folder / "qrels.tsv")
    name = f"xquad-{language}"
    content = SampleCollection(
        name, "docs", partial(_documents, files), judgments=partial(judgments, files), locale=language
    )
    return JudgedSet(
        name,
        name,
        watched=("nDCG@10",),
        content=content,
        model=_WITHOUT_WEIGHTS,
        modes=("keyword",),
        plain={label: {"nDCG@10": value} for label, value in plain.items()},
    )


def _sample(name: str, *, filtered: bool = True) -> JudgedSet:
    (content,) = (sample for sample in SAMPLES if sample.name == name)
    return JudgedSet(name if filtered else f"{name}-unfiltered", name, ("nDCG@10",), content, filtered=filtered)


def _texts(file: Path) -> list[str]:
    return [one.text for one in read_texts(file)]
