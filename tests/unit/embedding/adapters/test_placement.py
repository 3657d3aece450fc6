"""Where torch computes and in which precision, and what happens to weights that are lent to single precision."""

import pytest
import torch

from services.embedding.adapters.placement import padded, place, single_precision
from services.embedding.ports import UnfitModel


def test_half_precision_is_refused_on_a_cpu() -> None:
    with pytest.raises(UnfitModel, match="float16 needs a CUDA device"):
        place(device="cpu", dtype="float16", threads=1)


@pytest.mark.parametrize("units", [{}, {"avx512_bf16": False, "amx_bf16": False}])
def test_bfloat16_is_refused_on_a_cpu_without_units_for_it(
    units: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: units)
    with pytest.raises(UnfitModel, match="AVX512-BF16"):
        place(device="cpu", dtype="bfloat16", threads=1)


@pytest.mark.parametrize(
    ("units", "dtype"),
    [({}, torch.float32), ({"avx512_bf16": True}, torch.bfloat16), ({"amx_bf16": True}, torch.bfloat16)],
)
def test_a_cpu_computes_in_bfloat16_where_it_has_units_for_it_and_else_in_single_precision(
    units: dict[str, bool], dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: units)
    assert place(device="cpu", dtype="auto", threads=1).dtype is dtype


def test_a_cuda_device_computes_in_half_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    placement = place(device="auto", dtype="auto", threads=None)
    assert (str(placement.device), placement.dtype_name) == ("cuda:0", "float16")


def test_a_cuda_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(UnfitModel, match="there are 1 CUDA devices"):
        place(device="cuda:1", dtype="auto", threads=None)


def test_inside_the_block_a_module_computes_in_single_precision_and_after_it_is_what_it_was() -> None:
    # In half precision 300 * 300 is over the largest number, 65504.
    module = torch.nn.Linear(1, 1, bias=False).to(torch.float16)
    module.weight.data.fill_(300.0)
    before = module.weight.data
    with single_precision(module), torch.inference_mode():
        assert module(torch.tensor([[300.0]])).item() == 90_000
    assert module.weight.data is before or torch.equal(module.weight.data, before)
    assert module.weight.dtype is torch.float16


@pytest.mark.parametrize(
    ("pads_left", "rows", "mask"),
    [(False, [[7, 0], [8, 9]], [[1, 0], [1, 1]]), (True, [[0, 7], [8, 9]], [[0, 1], [1, 1]])],
)
def test_rows_are_filled_up_to_the_longest_on_the_models_side(
    pads_left: bool, rows: list[list[int]], mask: list[list[int]]
) -> None:
    numbers, known = padded([[7], [8, 9]], fill=0, pads_left=pads_left, device=torch.device("cpu"))
    assert (numbers.tolist(), known.tolist()) == (rows, mask)
