from pathlib import Path

import pytest

from loadtests.tune.__main__ import NOTHING_MEASURED, main


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "name what to tune"),
        (["--set", "nowhere"], "there is no set nowhere"),
        (["--study", "--sets", "nowhere"], "there is no study of nowhere"),
        (["c", "--cost", "2"], "it is from 0 to 1"),
        (["--set", "papers", "--measure", "luck"], "invalid choice"),
    ],
)
def test_what_cannot_be_measured_ends_with_a_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == NOTHING_MEASURED
    assert sentence in capsys.readouterr().err


def test_a_folder_that_is_no_data_folder_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLUMBLINE_SEARCH_CATALOG_URL", raising=False)
    assert main(["papers", "--data", str(tmp_path)]) == NOTHING_MEASURED
    assert f"{tmp_path} is no data folder" in capsys.readouterr().err
