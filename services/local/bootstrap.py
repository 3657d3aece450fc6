"""Makes the virtual environment that every make target runs in.

Runs under the system's own Python with nothing but the standard library. A stamp over everything that
decides what is installed makes the second run instant; a set-up that was interrupted left no stamp and is
done again from the start.
"""

from __future__ import annotations

import fcntl
import hashlib
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UV_PIN = "services/local/uv-pin.txt"
LOCK = "requirements.lock"
# What decides the content of the environment, relative to the repository.
INPUTS = ("pyproject.toml", LOCK, UV_PIN, "services/local/bootstrap.py")
# Words in a failed command's output, and what a person does about them; the first that fits is shown.
REMEDIES = (
    (
        "(?i)hash mismatch|match the hashes",
        "a downloaded file is not the pinned one; clear the cache: uv cache clean",
    ),
    ("No space left on device", "the disk is full; 3 GB are needed, 8 GB where torch comes with CUDA"),
    (
        "(?i)command '?(gcc|cc|c\\+\\+)|no such file.*gcc|compiler",
        "a package must be compiled without a compiler; on Debian or Ubuntu: apt-get install build-essential",
    ),
    (
        "(?i)dns error|connection|connect\\)|timed out|from versions: none",
        "the package index cannot be reached; check the network, "
        "or name a mirror with UV_DEFAULT_INDEX and PIP_INDEX_URL",
    ),
)


class SetUpFailed(Exception):
    """One sentence that says what is wrong and how to mend it."""


@dataclass(frozen=True)
class Step:
    """One visible part of the set-up; `commands` are alternatives, the first that succeeds is enough."""

    title: str
    commands: tuple[tuple[str, ...], ...]


def check_python() -> None:
    """Raises SetUpFailed when this Python cannot make the environment at all."""
    if sys.version_info < (3, 11):  # noqa: UP036 - the system's Python may be any
        raise SetUpFailed(
            f"Python {platform.python_version()} is too old, 3.11 or later is needed; "
            "name a newer one: make PYTHON=python3.11"
        )
    for module in ("venv", "ensurepip"):
        try:
            __import__(module)
        except ImportError:
            raise SetUpFailed(
                f"Python's {module} module is missing; on Debian or Ubuntu: apt-get install python3-venv"
            ) from None


def this_python() -> str:
    return f"{sys.implementation.cache_tag} {platform.python_version()} {platform.machine()}"


def torch_wheels(root: Path) -> Path | None:
    """The folder of wheels beside the checkout, when it holds a torch for this Python and machine."""
    folder = root.parent / "shared" / "wheels"
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return folder if any(folder.glob(f"torch-*-{tag}-*{platform.machine()}.whl")) else None


def stamp(root: Path) -> str:
    """Two lines: this Python, and a digest of all inputs and of where torch comes from."""
    digest = hashlib.sha256(str(torch_wheels(root)).encode())
    for name in INPUTS:
        digest.update((root / name).read_bytes())
    return f"{this_python()}\n{digest.hexdigest()}\n"


def plan(root: Path, *, fresh: bool) -> list[Step]:
    """The steps in order; `fresh` makes the environment anew, otherwise it is brought up to date in place."""
    # Inside an activated environment, the interpreter that made it is the one to build with.
    system_python = getattr(sys, "_base_executable", sys.executable)
    venv = root / ".venv"
    python = str(venv / "bin" / "python")
    pip = (python, "-m", "pip", "install", "--disable-pip-version-check")
    # Compiled here, once: a process that compiles torch when it starts takes many seconds more.
    uv = (str(venv / "bin" / "uv"), "pip", "install", "--python", python, "--compile-bytecode")

    torch = re.findall(r'"(torch==[\d.]+)"', (root / "pyproject.toml").read_text())[0]
    wheels = torch_wheels(root)
    # Without a wheel at hand: the small CPU build where its index can be reached and there is no GPU, else
    # what the package index has, which is the CUDA build and works on a CPU too.
    torch_options = [("--find-links", str(wheels))] if wheels else [("--torch-backend=auto",), ()]

    steps = [
        Step("uv", ((*pip, "--require-hashes", "-r", str(root / UV_PIN)),)),
        Step("locked packages", ((*uv, "--no-deps", "--require-hashes", "-r", str(root / LOCK)),)),
        Step(torch.replace("==", " "), tuple((*uv, *options, torch) for options in torch_options)),
        Step("plumbline itself", ((*uv, "--no-deps", "--no-build-isolation", "--editable", str(root)),)),
    ]
    if fresh:
        make_venv = (system_python, "-m", "venv", "--clear", str(venv))
        steps.insert(0, Step(f"virtual environment, Python {platform.python_version()}", (make_venv,)))
    return steps


def perform(step: Step) -> None:
    """Run the step's commands until one succeeds. Raises SetUpFailed with the reason of the last."""
    for command in step.commands:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode == 0:
            return
    raise SetUpFailed(f"{step.title}: {explain(done.stdout)}")


def explain(output: str) -> str:
    """The known remedy for a failed command's output, or else the command's own last words."""
    for words, remedy in REMEDIES:
        if re.search(words, output):
            return remedy
    return " / ".join(line.strip() for line in output.strip().splitlines()[-4:])


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold the only set-up of this checkout; a second one waits here until the first is done."""
    with (root / LOCK).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def set_up(root: Path, perform_step: Callable[[Step], None] = perform) -> None:
    """Bring `root/.venv` to what the locks say; does nothing when it is there already. Raises SetUpFailed."""
    stamp_file = root / ".venv" / "stamp"
    wanted = stamp(root)

    def found() -> str:
        return stamp_file.read_text() if stamp_file.is_file() else ""

    if found() == wanted:
        return
    with alone(root):
        before = found()
        if before == wanted:
            return
        stamp_file.unlink(missing_ok=True)
        began = time.monotonic()
        for step in plan(root, fresh=not before.startswith(f"{this_python()}\n")):
            print(f"set-up  {step.title} ...", end="", flush=True)
            step_began = time.monotonic()
            try:
                perform_step(step)
            finally:
                print(f" {time.monotonic() - step_began:.1f} s", flush=True)
        stamp_file.write_text(wanted)
        print(f"set-up  ready in {time.monotonic() - began:.0f} s", flush=True)


def main() -> int:
    try:
        check_python()
        set_up(ROOT)
    except SetUpFailed as failure:
        print(f"set-up failed: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("set-up interrupted; the next make begins it again", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
