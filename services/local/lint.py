"""Runs every static check of the repository (`make lint`), all of them even when one fails."""

import subprocess
import sys
from pathlib import Path

from services.local.bootstrap import ROOT

BIN = Path(sys.executable).parent
CHECKS: tuple[tuple[str, tuple[str | Path, ...]], ...] = (
    ("style", (BIN / "ruff", "check", "--quiet")),
    ("format", (BIN / "ruff", "format", "--check", "--quiet")),
    ("types", (BIN / "mypy", "--no-error-summary")),
    ("import contracts", (BIN / "lint-imports",)),
    ("generated code", (sys.executable, "protos/generate.py", "--check")),
)


def main() -> int:
    failed = []
    for name, command in CHECKS:
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        print(f"lint  {name}: {'ok' if done.returncode == 0 else 'FAILED'}", flush=True)
        if done.returncode != 0:
            failed.append(name)
            print(done.stdout, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
