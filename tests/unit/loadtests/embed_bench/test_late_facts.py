"""Ranks of the right chunk, and how a chunk is made."""

import numpy as np

from loadtests.embed_bench.late_facts import _chunk, _found


def test_a_chunk_counts_by_its_best_window_and_equal_scores_share_the_better_rank() -> None:
    questions = np.array([[1, 0], [0, 1]], dtype=np.float32)
    chunks = [
        np.array([[0, 1], [1, 0]], dtype=np.float32),  # its second window is the first question's
        np.array([[0.6, 0.8]], dtype=np.float32),
    ]
    found = _found("windows", questions, chunks)
    # The second question finds the first chunk (1.0) before its own (0.8).
    assert (found.ranks, found.reciprocal_rank, found.mean_rank) == ((1, 2), 0.75, 1.5)


def test_a_fact_stands_after_450_tokens_in_a_chunk_of_600() -> None:
    chunk = _chunk("the fact itself", ["filler"] * 2000, lambda text: len(text.split()))
    words = chunk.split()
    assert (words.index("fact"), len(words)) == (452, 600)
