import subprocess
import sys

from tests.architecture.source_files import ROOT


def test_generated_code_is_what_the_protos_say() -> None:
    command = (sys.executable, "protos/generate.py", "--check")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_generated_module_is_imported_without_a_warning() -> None:
    gen = ROOT / "protos" / "gen"
    modules = [".".join(file.relative_to(gen).with_suffix("").parts) for file in sorted(gen.rglob("*_pb2*.py"))]
    assert modules
    command = (sys.executable, "-W", "error", "-c", "\n".join(f"import {module}" for module in modules))
    done = subprocess.run(command, cwd=gen, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
