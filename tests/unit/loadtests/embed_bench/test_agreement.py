"""Least cosine, and the same neighbours."""

import numpy as np
import pytest

from loadtests.embed_bench.agreement import agreement, mixed_texts


def test_equal_vectors_agree_wholly_and_turned_ones_by_their_cosine() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    same = agreement(rows, rows, batch=1)
    assert (same.least_cosine, same.same_top_10) == (pytest.approx(1), 1.0)
    turned = rows.copy()
    turned[3] = -turned[3]
    assert agreement(turned, rows, batch=1).least_cosine == pytest.approx(-1)
    assert agreement(turned, rows, batch=1).same_top_10 < 1


def test_the_texts_are_short_and_long_and_shuffled() -> None:
    texts = mixed_texts(500)
    lengths = [len(text.split()) for text in texts]
    assert len(texts) == 500
    assert min(lengths) < 15 and max(lengths) > 400
    assert lengths != sorted(lengths) != lengths[::-1]
