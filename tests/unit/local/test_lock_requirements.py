from services.local.bootstrap import LOCK, ROOT
from services.local.lock_requirements import torch_family


def test_torch_and_what_only_torch_brings_are_the_family() -> None:
    lines = [
        "torch==2.13.0",
        "nvidia-nccl-cu13==2 ; sys_platform == 'linux'",
        "triton==3",
        "cuda-bindings==13",
        "numpy==2",
    ]
    assert torch_family(lines) == ["cuda-bindings", "nvidia-nccl-cu13", "torch", "triton"]


def test_libraries_named_after_torch_are_not_its_family() -> None:
    assert torch_family(["torchmetrics==1", "tritonclient==2", "# via nvidia-x"]) == []


def test_the_lock_pins_nothing_of_the_torch_family_and_hashes_the_rest() -> None:
    lock = (ROOT / LOCK).read_text()
    pinned = [line for line in lock.splitlines() if line and not line.startswith((" ", "#"))]
    assert torch_family(pinned) == []
    assert all("==" in line and line.endswith("\\") for line in pinned)
