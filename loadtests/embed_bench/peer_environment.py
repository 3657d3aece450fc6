"""The peer's own virtual environment: infinity pins other versions of what we use, so it has a lock of its own."""

import subprocess
import sys
import venv
from pathlib import Path

from services.local.bootstrap import ROOT, torch_wheels
from services.local.failure import Failure
from services.local.lock_requirements import torch_family
from services.local.settings import read_settings

PEER = "infinity-emb[server,torch]==0.0.78"
LOCK = Path(__file__).with_name("infinity.lock")
_TORCH = "torch==2.13.0"
_UV = Path(sys.executable).with_name("uv")


def peer_python() -> Path:
    """The interpreter of the environment, which is made when it is not there or its lock has changed."""
    folder = read_settings().xdg_cache_home / "plumbline" / "infinity"
    python, stamp = folder / "bin" / "python", folder / "stamp"
    wanted = LOCK.read_text()
    if stamp.is_file() and stamp.read_text() == wanted:
        return python
    print("set-up  infinity in an environment of its own ...", flush=True)
    venv.create(folder, clear=True, with_pip=False)
    install = (str(_UV), "pip", "install", "--quiet", "--python", str(python))
    wheels = torch_wheels(ROOT)
    _run(*install, "--no-deps", "--require-hashes", "-r", str(LOCK))
    _run(*install, *(("--find-links", str(wheels)) if wheels else ()), _TORCH)
    stamp.write_text(wanted)
    return python


def lock() -> None:
    """Write the peer's lock, without torch and what only torch brings."""
    compile_ = (str(_UV), "pip", "compile", "--quiet", "--universal", "--no-emit-index-url", "-")
    everything = _run(*compile_, "--no-annotate", "--no-header", source=f"{PEER}\n{_TORCH}\n").splitlines()
    left_out = [f"--no-emit-package={name}" for name in torch_family(everything)]
    header = "--custom-compile-command=python -m loadtests.embed_bench lock"
    text = _run(*compile_, "--generate-hashes", header, *left_out, source=f"{PEER}\n{_TORCH}\n")
    LOCK.write_text(text)


def _run(*command: str, source: str = "") -> str:
    done = subprocess.run(command, cwd=ROOT, input=source, text=True, capture_output=True, check=False)
    if done.returncode:
        raise Failure(f"infinity's environment could not be made: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout
