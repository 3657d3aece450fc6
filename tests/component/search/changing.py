"""A collection whose documents and settings are drawn at random, by a seed."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from plumbline.ranking.v1 import ranking_pb2
from services.shared.index.chunk import IndexedChunk, Matrix
from tests.component.search.searching import Searching, a_chunk, retrieval

WORDS = ("solar", "cells", "wind", "current", "oven", "bread", "overtime", "leave")
DATES = ("", "2026", "2025-11", "2021-01-31", "1999", "soon")


def queries(seed: int) -> dict[str, Matrix]:
    """Pairs of words, each with its vector."""
    generator = np.random.default_rng(seed)
    texts = [" ".join(pair) for pair in zip(WORDS, WORDS[1:] + WORDS[:1], strict=True)]
    vectors = generator.normal(size=(len(texts), 1, 4)).astype(np.float32)
    return {text: row / np.linalg.norm(row) for text, row in zip(texts, vectors, strict=True)}


class Changing:
    """A collection of documents of one to three chunks that changes as the seed says."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._born = 0
        self.chunks: dict[str, list[IndexedChunk]] = {}

    def new(self) -> list[IndexedChunk]:
        """One more document."""
        self._born += 1
        return self.written(f"document{self._born:04d}", revision=1)

    def written(self, name: str, *, revision: int) -> list[IndexedChunk]:
        """The document as it is written in this revision, in as many chunks as before."""
        count = len(self.chunks[name]) if name in self.chunks else self._random.choice((1, 1, 2, 3))
        self.chunks[name] = [
            a_chunk(
                f"{name}.{ordinal}",
                " ".join(self._random.choices(WORDS, k=self._random.randint(3, 12))),
                [self._random.gauss(0, 1) for _ in range(4)],
                document_id=name, ordinal=ordinal, revision=revision, date=self._random.choice(DATES),
                metadata={"kind": self._random.choice(("paper", "recipe", "entry"))},
            )
            for ordinal in range(count)
        ]  # fmt: skip
        return self.chunks[name]

    def settings(self) -> Mapping[str, Any]:
        """How a window is retrieved and ranked."""
        pick = self._random
        ranking = ranking_pb2.RankingSettings(
            relevance=pick.choice((ranking_pb2.RELEVANCE_FUSED, ranking_pb2.RELEVANCE_COMPLETED)),
            cosine_share=pick.random(), recency_places=pick.randint(0, 8), protect_leader=pick.random() < 0.5,
            mmr=pick.random() < 0.5, mmr_lambda=pick.random(),
            mmr_relevance_power=pick.choice((0.0, 2.0)), mmr_cosine_share=pick.random(), diversify_by="kind",
            min_distinct=pick.choice((0, 3)), min_distinct_within=20, clock_date="2026-11-30",
            near_duplicate_cosine=pick.choice((0.0, 0.0, 0.98)),
        )  # fmt: skip
        if pick.random() < 0.7:
            ranking.recency_tiers.add(up_to_years=1, multiplier=1.2)
            ranking.recency_tiers.add(multiplier=0.9)
        collapsed = pick.random() < 0.5
        return {
            "ranking": ranking,
            "retrieval": retrieval(window=pick.randint(1, 60), depth=60, collapse_by_document=collapsed),
        }

    async def change(self, service: Searching) -> set[str]:
        """One document is new, one is written anew, one is deleted; returns the chunks of the deleted one."""
        changed, gone = self._random.sample(sorted(self.chunks), 2)
        revision = self.chunks[changed][0].revision + 1
        await service.index.upsert("g1", [*self.new(), *self.written(changed, revision=revision)])
        deleted = {chunk.chunk_id for chunk in self.chunks.pop(gone)}
        await service.index.delete("g1", sorted(deleted))
        return deleted
