"""The command behind `make bench-search` over a tiny corpus, with the real search and ranking services."""

import json
from pathlib import Path

import pytest

from loadtests.search_bench.__main__ import main
from loadtests.search_bench.asking import Question, ask
from loadtests.search_bench.corpus import FIELDS, Corpus
from loadtests.search_bench.engines import running_engine
from loadtests.search_bench.loading import load
from loadtests.search_bench.recall import recall

ARGUMENTS = ["--engines", "lancedb", "--ratio-chunks", "300", "--queries", "8", "--dimensions", "16"]


def test_search_is_measured_beside_a_bare_client(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([*ARGUMENTS, "--parts", "bare", "--out", str(tmp_path)])
    report = json.loads((tmp_path / "ratios-300-chunks.json").read_text())
    [pair] = report["against_bare"]
    assert (pair["engine"], pair["chunks"], pair["search"]["count"], pair["bare"]["count"]) == ("lancedb", 300, 8, 8)
    assert [check["what"] for check in report["checks"]] == [
        "lancedb: search without embedding, p50 ms",
        "lancedb: search without embedding, p95 ms",
    ]
    kept = all(check["measured"] <= check["limit"] for check in report["checks"])
    assert code == (0 if kept else 1)
    assert "Against a bare client, 300 chunks" in capsys.readouterr().out


async def test_a_process_of_its_own_finds_what_an_exact_search_finds(tmp_path: Path) -> None:
    corpus = Corpus(300, queries=4, dimensions=16, seed=1)
    with running_engine("lancedb", tmp_path / "engine") as engine:
        index = await engine.open()
        await index.create_generation("g", 16, FIELDS)
        imported = await load(engine, index, "g", corpus.chunks(100))
        await index.close()
        assert imported.chunks == 300
        questions = [Question(("w:the",), query.vector) for query in corpus.queries]
        answers = ask(engine, "g", questions, effort=64, keyword=True)
    scores = corpus.exact_scores([query.vector for query in corpus.queries])
    assert recall(answers.found, scores, limit=100) == 1
    assert len(answers.keyword_ms) == len(answers.vector_ms) == len(answers.both_ms) == 4
    assert answers.resident_mib > 50
