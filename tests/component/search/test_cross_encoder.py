"""Search, ranking and embedding with a real cross-encoder: a BERT of one layer with random weights, made here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import torch
from sentence_transformers import CrossEncoder

from plumbline.ranking.v1 import ranking_pb2
from services.ranking import wiring as ranking_wiring
from services.ranking.settings import RankingServiceSettings
from tests.component.embedding.house import house
from tests.component.search.searching import (
    COLLECTION,
    PATIENT,
    RANKING,
    Searching,
    a_chunk,
    documents,
    searching,
)
from tests.fakes.serving import recorded_telemetry, served
from tests.fakes.tiny_model import write_tiny_cross_encoder

QUERY = "solar cells"
CHUNKS = (*COLLECTION, a_chunk("head", "No sun, no current.", [0.9, 0.1, 0, 0], context="Solar power"))


@pytest.fixture(scope="module")
def pairs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_cross_encoder(tmp_path_factory.mktemp("pairs"))


@asynccontextmanager
async def searching_with(cross_encoder: Path | None) -> AsyncIterator[Searching]:
    """Search over CHUNKS, whose ranking asks an embedding service with this cross-encoder."""
    knobs = {"cross_encoder": str(cross_encoder)} if cross_encoder else {}
    telemetry = recorded_telemetry("ranking").telemetry
    async with house(dtype="float32", threads=1, **knobs) as embedding:
        settings = RankingServiceSettings(port=0, embedding_target=embedding.served.target)
        app = await ranking_wiring.build(settings, telemetry)
        async with (
            served(app, settings, telemetry) as ranking,
            searching(*CHUNKS, ranking_target=ranking.target, **PATIENT) as service,
        ):
            yield service


def ranked_by_pairs(**changes: object) -> ranking_pb2.RankingSettings:
    settings = ranking_pb2.RankingSettings(cross_encoder=True, cross_encoder_budget_ms=10_000)
    settings.MergeFrom(RANKING)
    settings.MergeFrom(ranking_pb2.RankingSettings(**changes))
    return settings


async def test_hits_stand_as_the_library_scores_query_and_passage(pairs_folder: Path) -> None:
    library = CrossEncoder(str(pairs_folder), device="cpu", local_files_only=True)
    passages = {chunk.document_id: f"{chunk.context}\n{chunk.text}".strip() for chunk in CHUNKS}
    pairs = [(QUERY, passage) for passage in passages.values()]
    scores = dict(zip(passages, library.predict(pairs, activation_fn=torch.nn.Identity()).tolist(), strict=True))
    async with searching_with(pairs_folder) as service:
        page = await service.search(QUERY, ranking=ranked_by_pairs(), explain=True)
        fused = await service.found(QUERY)
    assert not page.degraded
    assert documents(page) == sorted(fused, key=lambda name: -scores[name]) != fused
    assert {hit.document_id: hit.ledger.cross_encoder_score for hit in page.hits} == pytest.approx(scores, abs=1e-4)


async def test_without_a_cross_encoder_there_the_fused_order_stands_and_every_page_says_so() -> None:
    async with searching_with(None) as service:
        page = await service.search(QUERY, ranking=ranked_by_pairs(), limit=2)
        later = await service.search(QUERY, ranking=ranked_by_pairs(), limit=2, cursor=page.next)
        fused = await service.found(QUERY)
    assert documents(page) + documents(later) == fused[:4]
    assert list(page.degraded) == list(later.degraded) == ["cross_encoder"]


async def test_documents_like_another_one_are_ranked_without_it(pairs_folder: Path) -> None:
    async with searching_with(pairs_folder) as service:
        page = await service.search("", like_document_id="solar", ranking=ranked_by_pairs(), explain=True)
    assert not page.degraded
    assert page.hits[0].document_id == "head"
    assert not any(hit.ledger.HasField("cross_encoder_score") for hit in page.hits)
