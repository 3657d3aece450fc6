"""The import contracts of pyproject.toml hold, and each of them sees a breach."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_files import ROOT


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    command = (str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo")
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the code and its contracts, to plant a breach in."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "services", tmp_path / "services", ignore=shutil.ignore_patterns("__pycache__", "samples"))
    return tmp_path


def test_all_contracts_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("file", "statement", "broken"),
    [
        ("ranking/pipeline.py", "import services.search.domain", "Services never import each other"),
        ("shared/runtime/call.py", "import services.ranking.pipeline", "Services never import each other"),
        ("local/run.py", "import services.ranking.pipeline", "Services never import each other"),
        ("ranking/domain/mmr.py", "import grpc", "Domain code and text analysis are pure"),
        ("ranking/domain/mmr.py", "import logging", "Domain code and text analysis are pure"),
        ("ranking/domain/mmr.py", "import services.shared.runtime.call", "Domain code and text analysis are pure"),
        ("shared/text/folding.py", "import time", "Domain code and text analysis are pure"),
        ("search/domain/planted.py", "import services.search.adapters", "Domain code and text analysis are pure"),
        ("search/planted.py", "import services.search.adapters", "Only wiring names concrete adapters"),
        ("ranking/pipeline.py", "import plumbline.ranking.v1.ranking_pb2", "Only servicers, conversions and clients"),
    ],
)
def test_a_breach_is_seen(copy: Path, file: str, statement: str, broken: str) -> None:
    planted = copy / "services" / file
    code = planted.read_text() if planted.exists() else ""
    planted.write_text(f"{code}\n{statement}\n")
    done = lint_imports(copy)
    assert done.returncode == 1, done.stdout
    assert f"{broken}" in " ".join(done.stdout.split())
    assert "BROKEN" in done.stdout
