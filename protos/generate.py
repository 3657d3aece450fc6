"""Generates protos/gen and protos/contract.binpb from protos/plumbline; with --check proves that both are fresh.

The proto path is the Python import path (`-I protos`, output `protos/gen`), so the generated code is right as emitted.
The contract is what callers rely on: it grows with what is added, and what breaks it is not generated (`breaking.py`).
"""

import argparse
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from breaking import breaking_changes
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

PROTOS = Path(__file__).resolve().parent
GENERATED = PROTOS / "gen"
CONTRACT = PROTOS / "contract.binpb"


def generate(into: Path) -> None:
    """Write the stubs of every proto below `into`. Raises SystemExit with protoc's own message on a bad proto."""
    into.mkdir(parents=True, exist_ok=True)
    _protoc(*(f"--{kind}_out={into}" for kind in ("python", "pyi", "grpc_python")))


def descriptors() -> bytes:
    """What the protos say now, as a FileDescriptorSet without comments. Raises SystemExit as `generate` does."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "descriptors"
        _protoc(f"--descriptor_set_out={path}")
        return path.read_bytes()


def broken(contract: bytes, now: bytes) -> list[str]:
    """What `now` breaks of the contract, a sentence each."""
    return breaking_changes(FileDescriptorSet.FromString(contract), FileDescriptorSet.FromString(now))


def _protoc(*outputs: str) -> None:
    sources = sorted(str(path.relative_to(PROTOS)) for path in (PROTOS / "plumbline").rglob("*.proto"))
    well_known = str(files("grpc_tools") / "_proto")
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
    is_check = parser.parse_args().check
    contract, now = CONTRACT.read_bytes() if CONTRACT.exists() else b"", descriptors()
    if breaks := broken(contract, now):
        for sentence in breaks:
            print(f"{sentence}: callers rely on it; add beside it instead", file=sys.stderr)
        return 1
    if not is_check:
        generate(GENERATED)
        CONTRACT.write_bytes(now)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        stale = [f"gen/{name}" for name in differences(Path(folder), GENERATED)]
    stale += [CONTRACT.name] * (contract != now)
    for name in stale:
        print(f"protos/{name} is stale: run `make protos`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
