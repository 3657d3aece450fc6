import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from services.local.data_folder import held
from services.local.failure import Failure


def test_a_missing_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    with held(tmp_path / "a" / "data"):
        assert (tmp_path / "a" / "data").is_dir()


def test_a_second_holder_is_refused_in_one_sentence_that_names_the_first(tmp_path: Path) -> None:
    sentence = (
        f"the data folder {tmp_path} is in use by another `make run` (process {os.getpid()}); "
        "stop that one, or choose another folder: make run DATA=<folder>"
    )
    with held(tmp_path):
        for _ in range(2):
            with pytest.raises(Failure, match="^" + re.escape(sentence) + "$"), held(tmp_path):
                raise AssertionError("two hold it")


def test_it_is_free_again_afterwards(tmp_path: Path) -> None:
    with held(tmp_path):
        pass
    with held(tmp_path):
        pass


def test_a_holder_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    program = (
        "import pathlib, signal, sys; from services.local.data_folder import held\n"
        f"with held(pathlib.Path({str(tmp_path)!r})): print('held', flush=True); signal.pause()"
    )
    environment = os.environ | {"PYTHONPATH": str(Path.cwd())}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(Failure, match=f"process {other.pid}"), held(tmp_path):
            raise AssertionError("two hold it")
        other.kill()
    with held(tmp_path):
        pass


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    sentence = r"data cannot be used \(File exists\); choose another: make run DATA="
    with pytest.raises(Failure, match=sentence), held(tmp_path / "data"):
        raise AssertionError("a file was held")
