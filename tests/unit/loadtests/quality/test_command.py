"""The command from its arguments to its exit code, over a gateway in this process."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from loadtests.quality import evaluation
from loadtests.quality.__main__ import NOTHING_MEASURED, WORSE, main
from tests.unit.loadtests.quality.examples import FakeGateway

WORDS = [f"word{number}" for number in range(40)]


class Run:
    """`make eval` over a folder's set, against a gateway that gets the words in `wrong` wrong."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.results = folder / "results"
        self.set = folder / "words"
        self.set.mkdir()
        (self.set / "corpus.tsv").write_text("".join(f"d-{word}\t{word}\n" for word in WORDS))
        (self.set / "queries.tsv").write_text("".join(f"q-{word}\t{word}\n" for word in WORDS))
        (self.set / "qrels.tsv").write_text("".join(f"q-{word}\td-{word}\t1\n" for word in WORDS))
        self.gateway = FakeGateway(page=1000)
        monkeypatch.setattr(evaluation, "gateway_client", lambda url: self.gateway.client())

    def __call__(self, *arguments: str) -> int:
        return main(["--folder", str(self.set), "--url", "http://gateway", *arguments], results=self.results)

    def report(self) -> str:
        return (self.results / "latest" / "report.md").read_text()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    yield Run(tmp_path, monkeypatch)


def test_a_first_run_has_nothing_to_be_worse_than(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    assert "There are no accepted figures of words to compare with" in capsys.readouterr().out
    assert (run.results / "latest" / "report.png").read_bytes().startswith(b"\x89PNG")
    assert (run.results / "latest" / "words.json").is_file()
    assert not (run.results / "words.json").exists()


def test_the_same_stack_is_not_worse_than_itself(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--accept") == 0
    capsys.readouterr()
    assert run() == 0
    assert "WORSE" not in run.report()
    assert "no accepted figures" not in capsys.readouterr().out


def test_a_broken_stack_is_worse(run: Run) -> None:
    assert run("--accept") == 0
    run.gateway.wrong = set(WORDS[:20])
    assert run() == WORSE
    worse = [line for line in run.report().splitlines() if "WORSE" in line]
    assert [line.split("|")[1].strip() for line in worse] == ["keyword", "vector", "rrf", "fused", "ranked"]


def test_worse_figures_can_be_accepted_on_purpose(run: Run) -> None:
    assert run("--accept") == 0
    run.gateway.wrong = set(WORDS[:20])
    assert run("--accept") == 0
    assert run() == 0


def test_each_engine_has_its_own_accepted_figures(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--accept") == 0
    embedded = (run.results / "words.json").read_text()
    run.gateway.wrong = set(WORDS[:20])
    assert run("--index", "weaviate") == 0
    assert "There are no accepted figures of words" in capsys.readouterr().out
    assert run("--index", "weaviate", "--accept") == 0
    assert '"index":"weaviate"' in (run.results / "weaviate" / "words.json").read_text()
    assert (run.results / "words.json").read_text() == embedded


def test_a_better_stack_is_said_to_be_so(run: Run) -> None:
    run.gateway.wrong = set(WORDS[:20])
    assert run("--accept") == 0
    run.gateway.wrong = set()
    assert run() == 0
    assert "better" in run.report()


def test_accepted_figures_of_other_queries_are_refused(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--accept") == 0
    (run.set / "queries.tsv").write_text("".join(f"q-{word}\t{word} again\n" for word in WORDS))
    assert run() == NOTHING_MEASURED
    assert "are of other judged queries" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no-such-set"], "there is no set no-such-set; there are scifact, "),
        (["--accept", "--broken-analyzer"], "figures of a broken analyzer are not accepted"),
        (["--collection", "papers"], "--collection needs --url"),
        (["--folder", "/nowhere"], "/nowhere is no judged set"),
        (["--loud"], "unrecognized arguments: --loud; see "),
    ],
)
def test_a_wrong_wish_is_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments, results=tmp_path) == NOTHING_MEASURED
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1


def test_a_gateway_that_is_not_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    def client(url: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=url, transport=httpx.MockTransport(refuse))

    monkeypatch.setattr(evaluation, "gateway_client", client)
    assert main(["--collection", "papers", "--url", "http://gone"], results=tmp_path) == NOTHING_MEASURED
    assert capsys.readouterr().err == "nothing answers at http://gone: refused\n"
