"""A whole run: every set in a stack with its model."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from loadtests.quality.figures import Figures, VectorUse
from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.measuring import measure_set
from loadtests.quality.own_stack import events, own_stack
from loadtests.quality.ready_vectors import USED, VERIFIED
from services.local.collection_upload import gateway_client
from services.local.index_engine import EMBEDDED


@dataclass(frozen=True, slots=True)
class Stack:
    """Which stack is measured: the one at `url`, else one of its own, with its data in `data` or nowhere afterwards.

    `index` is the engine of either.
    """

    url: str | None = None
    data: Path | None = None
    index: str = EMBEDDED
    broken_analyzer: bool = False


async def evaluate(sets: Sequence[JudgedSet], stack: Stack) -> list[tuple[JudgedSet, Figures]]:
    """The figures of all sets, those of one model together. Raises Failure when one cannot be measured."""
    with TemporaryDirectory(prefix="plumbline-eval-") as scratch:
        if stack.url:
            return _on(stack.index, await _measured(stack.url, sets, Path(scratch)))
        figures: list[tuple[JudgedSet, Figures]] = []
        for model, group in groupby(sorted(sets, key=lambda judged: judged.model), lambda judged: judged.model):
            data = (stack.data or Path(scratch)) / Path(model).name
            figures += await _in_own_stack(list(group), data, stack)
        return _on(stack.index, figures)


async def _in_own_stack(sets: Sequence[JudgedSet], data: Path, stack: Stack) -> list[tuple[JudgedSet, Figures]]:
    async with own_stack(data, sets, index=stack.index, broken_analyzer=stack.broken_analyzer) as running:
        measured = await _measured(running.url, sets, data / "samples")
    # What became of the ready vectors is told when the stack has ended.
    verified, used = (events(data, "embedding", name) for name in (VERIFIED, USED))
    if not (verified and used):
        return measured
    vectors = VectorUse(
        ready=used[-1]["ready"],
        computed=used[-1]["computed"],
        verified=verified[-1]["sample"],
        least_cosine=verified[-1]["least_cosine"],
    )
    return [(judged, figures.model_copy(update={"vectors": vectors})) for judged, figures in measured]


def _on(index: str, measured: Sequence[tuple[JudgedSet, Figures]]) -> list[tuple[JudgedSet, Figures]]:
    return [(judged, figures.model_copy(update={"index": index})) for judged, figures in measured]


async def _measured(url: str, sets: Sequence[JudgedSet], marks: Path) -> list[tuple[JudgedSet, Figures]]:
    async with gateway_client(url) as client:
        return [(judged, await measure_set(client, judged, marks)) for judged in sets]
