"""Measures one set in a running stack."""

import asyncio
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from loadtests.provenance import this_machine, this_source
from loadtests.quality.asking import get, judgments_of, stages_of_query
from loadtests.quality.figures import Figures
from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.measures import measure
from loadtests.quality.stages import Found
from services.local.collection_upload import ensure_collection
from services.local.failure import Failure
from services.local.progress import ProgressLine

# Upkeep comes every half minute, and an index of millions of chunks takes minutes.
_LONGEST_UPKEEP_S = 1800.0
_LOOK_AGAIN_S = 0.5


async def measure_set(client: httpx.AsyncClient, judged: JudgedSet, marks: Path) -> Figures:
    """Put the set's documents and judgments, where it brings them, and ask every judged query in every mode.

    `marks` is what `ensure_collection` remembers by. Raises Failure when documents are missing, a part of the stack is,
    or the stack has another model.
    """
    began = time.monotonic()
    collection = await ready_collection(client, judged, marks)
    put_s = time.monotonic() - began if judged.content else None
    model = await _model(client, judged)
    documents = collection["generation"]["documents"]
    judgments = await judgments_of(client, judged.collection)
    stages, asked_s = await _stages(client, judged, judgments)
    return Figures(
        name=judged.name,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        source=this_source(),
        machine=this_machine(),
        judged_sha256=hashlib.sha256(json.dumps(judgments, sort_keys=True).encode()).hexdigest(),
        model=model["name"],
        weights_sha256=model["weights_sha256"],
        documents=documents,
        chunks=collection["generation"]["chunks"],
        put_s=None if put_s is None else round(put_s, 1),
        asked_s=round(asked_s, 1),
        vectors=None,
        watched=list(judged.watched),
        queries=[judgment["id"] for judgment in judgments],
        stages=stages,
    )


async def ready_collection(client: httpx.AsyncClient, judged: JudgedSet, marks: Path) -> Mapping[str, Any]:
    """The set's collection once its documents are searchable and its index was tended; puts what the set brings.

    Raises Failure when documents are missing.
    """
    if judged.content:
        await ensure_collection(client, judged.content, marks)
    collection = await _tended(client, judged)
    documents = collection["generation"]["documents"]
    if judged.content and documents != (expected := len(judged.content.documents())):
        raise Failure(f"{judged.name}: {documents} of {expected} documents are searchable; see the log of ingest")
    return collection


async def _tended(client: httpx.AsyncClient, judged: JudgedSet) -> Mapping[str, Any]:
    """The collection, once its index was tended since the last change. Raises Failure when that does not come.

    Before, the keyword leg finds its hits with the word frequencies of some earlier moment: two runs over the same
    documents then differ by up to 0.005 nDCG@10 (scifact), and after it by nothing.
    """
    deadline = time.monotonic() + _LONGEST_UPKEEP_S
    while True:
        collection = await get(client, f"/v1/collections/{judged.collection}")
        if collection["generation"].get("optimized", True):  # a stack of an earlier version does not say
            return collection
        if time.monotonic() > deadline:
            raise Failure(
                f"{judged.name}: the index was not optimized within {_LONGEST_UPKEEP_S:.0f} s; see ingest's log"
            )
        await asyncio.sleep(_LOOK_AGAIN_S)


async def _model(client: httpx.AsyncClient, judged: JudgedSet) -> Mapping[str, Any]:
    model: Mapping[str, Any] | None = (await get(client, "/v1/status"))["model"]
    if model is None:
        raise Failure(f"{judged.name}: the embedding service does not answer")
    wanted = Path(judged.model).name
    if judged.content and "vector" in judged.modes and model["name"] != wanted:
        raise Failure(f"{judged.name} is measured with {wanted}, and this stack has {model['name']}")
    return model


async def _stages(
    client: httpx.AsyncClient, judged: JudgedSet, judgments: Sequence[dict[str, Any]]
) -> tuple[dict[str, dict[str, list[float | None]]], float]:
    """Values by stage and measure, and the seconds that it took to ask."""
    progress = ProgressLine(f"asked  {judged.name:<16}", len(judgments), "queries")
    began = time.monotonic()
    found: dict[str, dict[str, list[Found]]] = {}
    for number, judgment in enumerate(judgments, start=1):
        for stage, documents in (await stages_of_query(client, judged, judgment)).items():
            found.setdefault(stage, {})[judgment["id"]] = documents
        progress.show(number)
    asked_s = time.monotonic() - began
    progress.finish()
    relevance = {judgment["id"]: judgment["relevance"] for judgment in judgments}
    return {
        stage: measure(by_query, relevance, attribute=judged.attribute is not None) for stage, by_query in found.items()
    }, asked_s
