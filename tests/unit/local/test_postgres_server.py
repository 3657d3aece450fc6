from pathlib import Path

import pytest

from services.local import postgres_server
from services.local.failure import Failure
from services.local.postgres_server import PostgresServer


def installed(folder: Path, *versions: str) -> None:
    for version in versions:
        program = folder / version / "bin" / "postgres"
        program.parent.mkdir(parents=True)
        program.touch()


def test_the_newest_installed_version_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, "9.6", "15", "14")
    monkeypatch.setattr(postgres_server, "_INSTALLED", tmp_path)

    assert PostgresServer(tmp_path / "data").programs == tmp_path / "15" / "bin"


def test_a_machine_without_it_is_told_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_server, "_INSTALLED", tmp_path / "nothing")
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(Failure, match="apt-get install postgresql"):
        PostgresServer(tmp_path / "data")
