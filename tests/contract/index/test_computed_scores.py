"""The score that search computes for a chunk is the one that an engine gives it."""

from collections import Counter
from random import Random

import pytest

from services.search.domain.bm25 import Bm25
from services.search.domain.term_statistics import TermStatistics
from services.shared.index.port import Index
from tests.contract.index.examples import GENERATION, a_chunk


async def test_computed_scores_are_the_engine_s_once_its_index_is_optimized(index: Index) -> None:
    random = Random(3)
    vocabulary = [f"w:word{number}" for number in range(400)]
    texts = {
        f"c{number:03}": " ".join(
            vocabulary[int(random.paretovariate(0.7)) % 400] for _ in range(random.randint(1, 80))
        )
        for number in range(300)
    }
    ids = sorted(texts)
    for start in range(0, 300, 50):  # as ingest does: some chunks reach the keyword index late, some are gone again
        await index.upsert(GENERATION, [a_chunk(id_, analysed=texts[id_]) for id_ in ids[start : start + 50]])
        if start == 100:
            await index.optimize(GENERATION)
    await index.delete(GENERATION, ids[80:140])
    await index.optimize(GENERATION)
    held = [texts[id_].split() for id_ in ids if id_ not in ids[80:140]]
    frequencies = Counter(token for tokens in held for token in set(tokens))
    statistics = TermStatistics(len(held), sum(map(len, held)), frequencies)

    compared = 0
    for tokens in (random.sample(vocabulary[:60], 4) for _ in range(40)):
        for hit in await index.keyword(GENERATION, tokens, filter=None, limit=1000):
            computed = Bm25.of(tokens, statistics).score(hit.chunk.analysed)
            assert computed == pytest.approx(hit.score, abs=1e-3)
            compared += 1
    assert compared > 1000
