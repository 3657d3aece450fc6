"""What `python -m loadtests.embed_bench` proves on the real model, on a running service: agreement and late facts."""

import os
from pathlib import Path

import pytest

from loadtests.embed_bench.__main__ import LEAST_COSINE
from loadtests.embed_bench.agreement import agreement, library_vectors, mixed_texts, served_vectors
from loadtests.embed_bench.late_facts import late_facts
from loadtests.embed_bench.memory import memory
from loadtests.embed_bench.service import running_service
from tests.fakes.weights import MINILM, needs_weights

pytestmark = pytest.mark.timeout(600)  # two cores that others use too
LOG = Path(os.devnull)


@needs_weights
async def test_texts_get_the_librarys_vectors_one_by_one_and_in_batches_in_either_precision() -> None:
    texts = mixed_texts(120)  # the command takes 500
    theirs = library_vectors(MINILM, texts)
    for dtype in ("float32", "auto"):
        async with running_service(str(MINILM), {"dtype": dtype}, LOG) as client:
            least = LEAST_COSINE[(await client.describe()).dtype]
            for batch in (1, 64):
                found = agreement(await served_vectors(client, texts, batch), theirs, batch=batch)
                assert found.texts == 120
                assert found.least_cosine >= least
                # In single precision only neighbours that are equally near may change places.
                assert found.same_top_10 >= (0.999 if dtype == "float32" else 0.97)


@needs_weights
async def test_a_fact_after_word_piece_450_is_found_by_windows_lost_by_a_cut_and_blurred_by_a_mean() -> None:
    async with running_service(str(MINILM), {}, LOG) as client:
        windows, cut, mean = await late_facts(client, 60)
    assert len(windows.ranks) == 60
    assert windows.within_10 >= 0.8
    # Chance gives 10 of 60.
    assert cut.within_10 <= 0.3
    assert windows.reciprocal_rank >= mean.reciprocal_rank + 0.05
    assert sum(a < b for a, b in zip(windows.ranks, mean.ranks, strict=True)) > sum(
        a > b for a, b in zip(windows.ranks, mean.ranks, strict=True)
    )


async def test_memory_is_read_from_the_process_while_requests_of_both_kinds_run() -> None:
    async with running_service("hashing", {}, LOG) as client:
        found = await memory(client, 200, lambda line: None)
    assert found.most_mib >= found.settled_mib > 10
    assert found.requests == 200
