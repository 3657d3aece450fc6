"""Writes `requirements.lock` and the uv pin (`make lock`); versions already locked are kept while they fit.

torch and what only torch brings (CUDA libraries, triton) stay out of the lock: which build of torch fits
depends on the machine, so the set-up chooses it. To move every package to its newest version, delete
`requirements.lock` first.
"""

import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from services.local.bootstrap import LOCK, ROOT, UV_PIN

HEADER = "--custom-compile-command=make lock"


def torch_family(requirements: Iterable[str]) -> list[str]:
    """The names in `name==version` lines that belong to torch's own builds, sorted."""
    names = {line.split("==")[0].strip() for line in requirements if "==" in line}
    return sorted(name for name in names if name in ("torch", "triton") or name.startswith(("cuda-", "nvidia-")))


def resolve(*arguments: str, source: str | None = None) -> str:
    """What uv prints for these arguments, run in the repository with `source` as its standard input."""
    uv = str(Path(sys.executable).with_name("uv"))
    command = (uv, "pip", "compile", "--quiet", "--universal", "--no-emit-index-url", *arguments)
    done = subprocess.run(command, cwd=ROOT, input=source, text=True, stdout=subprocess.PIPE, check=True)
    return done.stdout


def main() -> None:
    project = ("--extra", "dev", "pyproject.toml")
    everything = resolve("--no-annotate", "--no-header", *project).splitlines()
    left_out = [f"--no-emit-package={name}" for name in torch_family(everything)]
    resolve("--generate-hashes", HEADER, *left_out, *project, "--output-file", LOCK)
    resolve("--generate-hashes", HEADER, "-", "--output-file", UV_PIN, source=f"uv=={version('uv')}\n")


if __name__ == "__main__":
    main()
