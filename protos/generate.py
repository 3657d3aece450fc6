"""Generates protos/gen from protos/plumbline; with --check proves that what is committed is fresh.

The proto path is the Python import path (`-I protos`, output `protos/gen`), so the generated code is right as emitted.
"""

import argparse
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

PROTOS = Path(__file__).resolve().parent
GENERATED = PROTOS / "gen"


def generate(into: Path) -> None:
    """Write the stubs of every proto below `into`. Raises SystemExit with protoc's own message on a bad proto."""
    sources = sorted(str(path.relative_to(PROTOS)) for path in (PROTOS / "plumbline").rglob("*.proto"))
    well_known = str(files("grpc_tools") / "_proto")
    into.mkdir(parents=True, exist_ok=True)
    outputs = [f"--{kind}_out={into}" for kind in ("python", "pyi", "grpc_python")]
    if code := protoc.main(["protoc", f"-I{PROTOS}", f"-I{well_known}", *outputs, *sources]):
        raise SystemExit(code)


def differences(fresh: Path, committed: Path) -> list[str]:
    """Relative paths that are missing on one side or differ in bytes, sorted."""

    def contents(root: Path) -> dict[str, bytes]:
        return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.py*") if path.suffix != ".pyc"}

    ours, theirs = contents(fresh), contents(committed)
    return sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare with what is committed, write nothing")
    if not parser.parse_args().check:
        generate(GENERATED)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        stale = differences(Path(folder), GENERATED)
    for name in stale:
        print(f"protos/gen/{name} is stale: run `make protos`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
