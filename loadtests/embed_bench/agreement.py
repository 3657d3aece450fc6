"""Do the served vectors equal those of `SentenceTransformer.encode`, whatever shares their batch?"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from loadtests.embed_bench.service import Client
from loadtests.embed_bench.texts import passages, queries

Matrix = npt.NDArray[np.float32]
_TOP = 10


@dataclass(frozen=True, slots=True)
class Agreement:
    """Between two sets of vectors: the lowest cosine, and the share of the nearest ten neighbours that are the same."""

    texts: int
    batch: int
    least_cosine: float
    same_top_10: float


def mixed_texts(count: int) -> list[str]:
    """Texts of 1 to 160 words and some over any model's limit, which `encode` cuts, in shuffled order."""
    question = queries(6)
    long = [" ".join(passages(8, seed)) for seed in range(max(1, count // 50))]
    short = [next(question) for _ in range(count // 3)]
    texts = (long + short + passages(count, 6))[:count]
    random.Random(6).shuffle(texts)
    return texts


def library_vectors(folder: Path, texts: Sequence[str]) -> Matrix:
    """(n, d) float32, computed in single precision on the CPU."""
    import torch
    from sentence_transformers import SentenceTransformer

    library = SentenceTransformer(
        str(folder), device="cpu", local_files_only=True, model_kwargs={"dtype": torch.float32}
    )
    rows = library.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(rows, dtype=np.float32)


async def served_vectors(client: Client, texts: Sequence[str], batch: int) -> Matrix:
    """(n, d) float32, `batch` texts a call, each cut as `encode` cuts it."""
    rows = [
        await client.embed(texts[start : start + batch], query=False, truncate=True)
        for start in range(0, len(texts), batch)
    ]
    return np.concatenate(rows)


def agreement(ours: Matrix, theirs: Matrix, *, batch: int) -> Agreement:
    """How far (n, d) rows of unit length agree."""
    same = [len(set(a) & set(b)) / _TOP for a, b in zip(_nearest(ours), _nearest(theirs), strict=True)]
    return Agreement(len(ours), batch, float((ours * theirs).sum(axis=1).min()), float(np.mean(same)))


def _nearest(rows: Matrix) -> npt.NDArray[np.intp]:
    return np.argsort(-(rows @ rows.T), axis=1, kind="stable")[:, :_TOP]
