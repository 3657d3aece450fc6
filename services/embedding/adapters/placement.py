"""Where and in which precision torch computes, decided once for all models of a process."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from services.embedding.ports import UnfitModel


@dataclass(frozen=True, slots=True)
class Placement:
    """A device and the number format of the weights there."""

    device: torch.device
    dtype: torch.dtype

    @property
    def dtype_name(self) -> str:
        """`float32`, `float16` or `bfloat16`."""
        return str(self.dtype).removeprefix("torch.")


def place(*, device: str, dtype: str, threads: int | None) -> Placement:
    """Set torch up for `device` (`auto`, `cpu`, `cuda[:n]`) and `dtype` (`auto`, `float32`, `float16`, `bfloat16`).

    `threads` are torch's on a CPU, None for as many as it takes by itself. Raises UnfitModel.
    """
    if threads:
        torch.set_num_threads(threads)
    placed = _device(device)
    number = _dtype(dtype, placed)
    has_mkl = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    if placed.type == "cpu":
        # oneDNN keeps compiled kernels for each shape of a batch: 180 MiB after 900 shapes. MKL needs the same time and
        # keeps none (all-MiniLM-L6-v2, 8 x 64 tokens on one core: 137 ms against 140 ms; memory flat at 525 MiB).
        # In bfloat16 only oneDNN uses the CPU's units.
        torch.backends.mkldnn.enabled = not (has_mkl and number is torch.float32)  # type: ignore[assignment]
    return Placement(placed, number)


def _device(wanted: str) -> torch.device:
    device = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if wanted == "auto" else wanted)
    if device.type != "cuda":
        return device
    index = device.index or 0
    if index >= torch.cuda.device_count():
        raise UnfitModel(f"device {wanted} was asked for and there are {torch.cuda.device_count()} CUDA devices")
    return torch.device("cuda", index)


def _dtype(wanted: str, device: torch.device) -> torch.dtype:
    """By default half precision on CUDA, bfloat16 on a CPU with units for it, else single.

    all-MiniLM-L6-v2 on 2 cores with AVX512-BF16 is 2.2 to 3.3 times faster in bfloat16 than in float32 (8 x 64 tokens:
    41 ms against 135 ms), its vectors at cosine 0.9999 or nearer. Without the units it is many times slower.
    """
    if wanted == "auto" and device.type == "cuda":
        return torch.float16
    if wanted == "auto":
        return torch.bfloat16 if _has_bfloat16_units() else torch.float32
    if device.type == "cpu" and wanted == "float16":
        raise UnfitModel("float16 needs a CUDA device; a CPU computes in float32 or, with its units, in bfloat16")
    if device.type == "cpu" and wanted == "bfloat16" and not _has_bfloat16_units():
        raise UnfitModel("bfloat16 needs a CPU with AMX or AVX512-BF16; this one is many times slower with it")
    return {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}[wanted]


def _has_bfloat16_units() -> bool:
    units = torch.cpu.get_capabilities()
    return bool(units.get("amx_bf16") or units.get("avx512_bf16"))


@contextmanager
def single_precision(module: torch.nn.Module) -> Iterator[None]:
    """Compute in float32 inside the block; the weights are as they were after it, to the bit."""
    tensors = [tensor for tensor in (*module.parameters(), *module.buffers()) if tensor.is_floating_point()]
    kept = [tensor.data for tensor in tensors]
    try:
        for tensor in tensors:
            tensor.data = tensor.data.float()
        yield
    finally:
        for tensor, data in zip(tensors, kept, strict=True):
            tensor.data = data


def padded(
    rows: Sequence[Sequence[int]], *, fill: int, pads_left: bool, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """(n, longest) int64 on the device, and the mask that is 1 where a row has a number of its own."""
    longest = max(map(len, rows))
    numbers = np.full((len(rows), longest), fill, dtype=np.int64)
    mask = np.zeros_like(numbers)
    for index, row in enumerate(rows):
        place_of_row = slice(longest - len(row), longest) if pads_left else slice(len(row))
        numbers[index, place_of_row] = row
        mask[index, place_of_row] = 1
    return torch.from_numpy(numbers).to(device), torch.from_numpy(mask).to(device)
