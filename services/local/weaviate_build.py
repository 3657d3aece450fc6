"""Builds the real Weaviate server from the Go module proxy into the cache, once for each Go version and platform.

What is built is one pinned release: its module's hash, which Go writes into the binary, must be the one below. The
binary's own SHA-256 stands beside it and is compared at every use.
"""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from services.local.failure import Failure

VERSION = "1.39.0"
_MODULE = "github.com/weaviate/weaviate"
_PROGRAM = "weaviate-server"
# What the Go checksum database says of this release.
_MODULE_SUM = "h1:8RIQWPg1QGgMA0aUYtZXgYbfDHeE6watZ277sBZeW3A="
# From this one on Go fetches the newer Go that a program asks for; Weaviate asks for 1.26.
_OLDEST_GO = (1, 21)
_REMEDY = "on Ubuntu 24.04, Debian 13 or later: apt-get install golang-go"


def ensure_server(folder: Path, report: Callable[[str], None] = print) -> Path:
    """The server's binary under `folder`, built when it is not there or not the one that was built.

    A first build takes about 5 minutes on two cores and 4 GB of disk. Raises Failure when it cannot be built.
    """
    go = shutil.which("go")
    if go is None:
        if built := [server for server in folder.glob(f"{VERSION}-*/{_PROGRAM}") if _is_whole(server)]:
            return built[0]
        raise Failure(f"building Weaviate needs Go 1.21 or later, and there is no `go` on the PATH; {_REMEDY}")
    server = folder / _key(go) / _PROGRAM
    if _is_whole(server):
        return server
    server.parent.mkdir(parents=True, exist_ok=True)
    with (server.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_whole(server):  # else another process has just built it
            _build(go, server, report)
    return server


def _build(go: str, server: Path, report: Callable[[str], None]) -> None:
    report(f"building {_PROGRAM} {VERSION}, once: about 5 minutes on two cores")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=server.parent, prefix="building-") as scratch:
        # Without cgo the result needs no library of this machine; without its symbol table it is a third smaller.
        # Some distributions keep Go from fetching a newer one unless it is asked to.
        environment = os.environ | {"GOBIN": scratch, "CGO_ENABLED": "0", "GOTOOLCHAIN": "auto"}
        command = (go, "install", "-ldflags=-s -w", f"{_MODULE}/cmd/{_PROGRAM}@v{VERSION}")
        done = subprocess.run(
            command, check=False, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode != 0:
            raise Failure(f"{_PROGRAM} {VERSION} could not be built: {_last_line(done.stdout)}")
        built = Path(scratch) / _PROGRAM
        if (found := _module_sum(go, built)) != _MODULE_SUM:
            raise Failure(f"the Go module proxy gave another {_MODULE} {VERSION} than the pinned one ({found})")
        _digest_file(server).write_text(_digest(built) + "\n")
        built.replace(server)
    report(f"built {_PROGRAM} {VERSION} in {time.monotonic() - began:.0f} s")


def _key(go: str) -> str:
    """The name of the folder of what this Go builds here."""
    asked = subprocess.run((go, "env", "GOVERSION", "GOOS", "GOARCH"), check=False, text=True, capture_output=True)
    if asked.returncode != 0:
        raise Failure(f"{go} does not work: {_last_line(asked.stderr)}")
    version, system, machine = asked.stdout.split()
    if _numbers(version) < _OLDEST_GO:
        raise Failure(f"building Weaviate needs Go 1.21 or later, and {go} is {version}; {_REMEDY}")
    return f"{VERSION}-{version}-{system}-{machine}"


def _numbers(version: str) -> tuple[int, ...]:
    """(1, 26) of `go1.26.8` or `go1.27rc1`."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def _module_sum(go: str, binary: Path) -> str:
    """The hash of the module that `binary` was built from, as Go wrote it there."""
    told = subprocess.run((go, "version", "-m", str(binary)), text=True, capture_output=True, check=True).stdout
    fields = (line.split() for line in told.splitlines())
    return next((words[3] for words in fields if words[:3] == ["mod", _MODULE, f"v{VERSION}"]), "none")


def _is_whole(server: Path) -> bool:
    """Whether the binary is there and the one that was built."""
    written = _digest_file(server)
    return server.is_file() and written.is_file() and written.read_text().strip() == _digest(server)


def _digest_file(server: Path) -> Path:
    return server.with_suffix(".sha256")


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
