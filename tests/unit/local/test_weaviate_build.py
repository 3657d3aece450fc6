import hashlib
import os
from pathlib import Path

import pytest

from services.local.failure import Failure
from services.local.weaviate_build import VERSION, ensure_server

PINNED = "h1:8RIQWPg1QGgMA0aUYtZXgYbfDHeE6watZ277sBZeW3A="
# Stands in for Go, as a program of its own: it "builds" a file and notes that it did.
GO = """#!/bin/sh
case "$1" in
  env) printf '{version_of_go}\\nlinux\\namd64\\n' ;;
  version) printf '%s: go9.9\\n\\tmod\\tgithub.com/weaviate/weaviate\\tv{version}\\t{module_sum}\\n' "$3" ;;
  install) echo "$3" >> {folder}/builds; {install} ;;
esac
"""
WRITES = 'echo built > "$GOBIN/weaviate-server"'


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that is the whole PATH but for the system's; `write_go` puts a stand-in for Go there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return folder


def write_go(folder: Path, *, install: str = WRITES, module_sum: str = PINNED, version: str = "go9.9") -> None:
    program = folder / "go"
    script = GO.format(version=VERSION, module_sum=module_sum, folder=folder, install=install, version_of_go=version)
    program.write_text(script)
    program.chmod(0o755)


def builds(go: Path) -> list[str]:
    return (go / "builds").read_text().split()


def test_the_pinned_release_is_built_once_for_this_go_and_platform(go: Path, tmp_path: Path) -> None:
    write_go(go)
    said: list[str] = []
    server = ensure_server(tmp_path / "cache", said.append)
    assert server == tmp_path / "cache" / f"{VERSION}-go9.9-linux-amd64" / "weaviate-server"
    assert server.read_text() == "built\n"
    assert len(said) == 2
    assert ensure_server(tmp_path / "cache") == server
    assert builds(go) == [f"github.com/weaviate/weaviate/cmd/weaviate-server@v{VERSION}"]


def test_a_binary_that_has_changed_is_built_again(go: Path, tmp_path: Path) -> None:
    write_go(go)
    server = ensure_server(tmp_path)
    server.write_text("changed")
    assert ensure_server(tmp_path).read_text() == "built\n"
    assert len(builds(go)) == 2


def test_another_module_than_the_pinned_one_is_refused_and_not_kept(go: Path, tmp_path: Path) -> None:
    write_go(go, module_sum="h1:other=")
    for _ in range(2):
        with pytest.raises(
            Failure, match=r"another github\.com/weaviate/weaviate .* than the pinned one \(h1:other=\)"
        ):
            ensure_server(tmp_path)
    assert list(tmp_path.rglob("weaviate-server")) == []


def test_a_build_that_fails_tells_gos_last_line(go: Path, tmp_path: Path) -> None:
    write_go(go, install="echo first; echo 'go: no space left' >&2; exit 1")
    with pytest.raises(Failure, match=rf"^weaviate-server {VERSION} could not be built: go: no space left$"):
        ensure_server(tmp_path)


def test_a_go_that_does_not_work_is_one_sentence(go: Path, tmp_path: Path) -> None:
    (go / "go").write_text("#!/bin/sh\necho 'go: no home' >&2\nexit 2\n")
    (go / "go").chmod(0o755)
    with pytest.raises(Failure, match=r"go does not work: go: no home$"):
        ensure_server(tmp_path)


def test_without_go_the_sentence_names_the_package_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure, match=r"needs Go 1\.21 or later, .* no `go` on the PATH; .*apt-get install golang-go$"):
        ensure_server(tmp_path / "cache")


def test_a_go_that_is_too_old_to_fetch_a_newer_one_is_told(go: Path, tmp_path: Path) -> None:
    write_go(go, version="go1.19.8")
    with pytest.raises(
        Failure, match=r"needs Go 1\.21 or later, and \S+/go is go1\.19\.8; .*apt-get install golang-go$"
    ):
        ensure_server(tmp_path)


def test_without_go_a_server_that_was_built_before_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    built, broken = (
        tmp_path / f"{VERSION}-{key}" / "weaviate-server" for key in ("go1-linux-amd64", "go0-linux-amd64")
    )
    for server, content in ((built, b"whole"), (broken, b"cut")):
        server.parent.mkdir()
        server.write_bytes(content)
        server.with_suffix(".sha256").write_text(hashlib.sha256(b"whole").hexdigest() + "\n")
    assert ensure_server(tmp_path) == built
