"""A PostgreSQL server of its own on this machine, for the tests and for trying the catalog on it: `running_server`.

It is the one that Debian's package `postgresql` installs, started with an own data folder and on a free port of the
loopback, as a user without privileges because PostgreSQL refuses to run as root.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from services.local.environment import LOOPBACK
from services.local.failure import Failure
from services.local.loopback import free_ports

_INSTALLED = Path("/usr/lib/postgresql")  # one folder for each version
_SERVER_USER = "postgres"  # the package makes it
_DATABASE_USER = "plumbline"
_READY_WITHIN_S = 60.0
_STOPPED_WITHIN_S = 30.0
_POLL_S = 0.05
_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    # Off, and so is what depends on it: only a power failure could lose a commit then, and nothing here cuts the power.
    # A killed server or client loses nothing. In production both are on, as they are by default.
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "200",
    "log_min_messages": "fatal",
}


class PostgresServer:
    """One server and its data in `folder`, which is to be empty at first and belongs to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.programs = installed_programs()
        self._user = _SERVER_USER if os.geteuid() == 0 else None
        (self._port,) = free_ports(1)
        self._password = secrets.token_hex(16)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of its maintenance database, for a user who may make others."""
        return f"postgresql://{_DATABASE_USER}:{self._password}@{LOOPBACK}:{self._port}/postgres"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self._folder / "log"

    def initialize(self) -> None:
        """Make the data folder. Text is sorted by a language's rules, as on most servers; ids must not be."""
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        password_file = self._folder / "password"
        password_file.write_text(self._password)
        if self._user is not None:
            shutil.chown(password_file, self._user)
        self._run(
            "initdb", "--pgdata", str(self._folder / "data"), "--username", _DATABASE_USER, "--auth", "scram-sha-256",
            "--pwfile", str(password_file), "--encoding", "UTF8", "--locale", "C.UTF-8", "--locale-provider", "icu",
            "--icu-locale", "en-US", "--no-sync",
        )  # fmt: skip
        password_file.unlink()

    def start(self) -> None:
        """Start the server and wait until it takes connections, also after `kill`. Raises Failure."""
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command = [str(self.programs / "postgres"), "-D", str(self._folder / "data"), "-p", str(self._port), *settings]
        # The kernel asks it to end when this process does, however that ends.
        tether = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*tether, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                user=self._user, group=_group_of(self._user), extra_groups=None if self._user is None else [],
            )  # fmt: skip
        self._wait_until_ready(self._process)

    def stop(self) -> None:
        """End the connections and the server, and wait for it."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Kill the server at once; its children end themselves when they see it. `start` makes it recover."""
        self._end(signal.SIGKILL)

    def signal_all(self, how: signal.Signals) -> None:
        """Send a signal to the server and the processes that it started, one for each connection among them."""
        assert self._process is not None, "the server runs"
        for pid in (self._process.pid, *_children(self._process.pid)):
            os.kill(pid, how)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.send_signal(how)
        try:
            process.wait(_STOPPED_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        ask = ("pg_isready", "--quiet", "--host", LOOPBACK, "--port", str(self._port))
        deadline = time.monotonic() + _READY_WITHIN_S
        while subprocess.run([str(self.programs / ask[0]), *ask[1:]], check=False).returncode != 0:
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failure(f"PostgreSQL does not start:\n{self.log.read_text(errors='replace')}")
            time.sleep(_POLL_S)

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self.programs / program), *arguments], check=False, text=True, cwd="/",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            user=self._user, group=_group_of(self._user), extra_groups=None if self._user is None else [],
        )  # fmt: skip
        if done.returncode != 0:
            raise Failure(f"{program} failed:\n{done.stdout}")


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """A fresh server with no data, stopped and removed at the end. Raises Failure when PostgreSQL is not installed."""
    # Not below a folder of pytest or the user, which the server's own user could not enter.
    with tempfile.TemporaryDirectory(prefix="plumbline-postgres-", ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder))
        server.initialize()
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _children(pid: int) -> list[int]:
    """The processes that `pid` started, on Linux."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def installed_programs() -> Path:
    """The folder of the newest installed version. Raises Failure."""
    folders = sorted(_INSTALLED.glob("*/bin/postgres"), key=lambda path: _version(path.parts[-3]))
    found: Sequence[Path] = [path.parent for path in folders]
    if not found and (on_path := shutil.which("postgres")):
        found = [Path(on_path).parent]
    if not found:
        raise Failure("PostgreSQL is not installed; install it: apt-get install postgresql")
    return found[-1]


def _version(name: str) -> float:
    try:
        return float(name)
    except ValueError:
        return 0.0


def _group_of(user: str | None) -> int | None:
    if user is None:
        return None
    try:
        return pwd.getpwnam(user).pw_gid
    except KeyError:
        raise Failure(f"PostgreSQL refuses to run as root, and there is no user '{user}' to run it as") from None
