import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.local.collection_upload import ensure_collection
from services.local.failure import Failure
from services.local.sample_collections import SampleCollection

DOCUMENTS = [{"id": str(number), "text": f"text {number}"} for number in range(70)]
JUDGMENTS = [{"id": str(number), "query": "q", "relevance": {"1": 1}} for number in range(1200)]
SAMPLE = SampleCollection("a-sample", "docs", lambda: list(DOCUMENTS), {"kind": "keyword"})


@dataclass
class FakeGateway:
    """Keeps what it is sent; each job is running when it is first asked for and done the next time."""

    collections: dict[str, Any] = field(default_factory=dict)
    documents: dict[str, Any] = field(default_factory=dict)
    judgments: dict[str, Any] = field(default_factory=dict)
    batches: list[int] = field(default_factory=list)
    asked: int = 0
    fails_after: int | None = None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        match request.method, request.url.path.split("/")[2:]:
            case "GET", ["collections", name]:
                return httpx.Response(200 if name in self.collections else 404)
            case "POST", ["collections"]:
                self.collections[body["name"]] = body
                return httpx.Response(201, json=body)
            case "PUT", ["collections", _, "documents"]:
                if self.fails_after == len(self.batches):
                    return httpx.Response(503, json={"title": "A part is unavailable"})
                self.batches.append(len(body["documents"]))
                self.documents |= {document["id"]: document for document in body["documents"]}
                return httpx.Response(202, json={"job_id": "j1"})
            case "PUT", ["collections", _, "judgments"]:
                assert len(body["judgments"]) <= 1000
                self.judgments |= {judgment["id"]: judgment for judgment in body["judgments"]}
                return httpx.Response(204)
            case "GET", ["jobs", "j1"]:
                self.asked += 1
                state = "running" if self.asked % 2 else "succeeded"
                return httpx.Response(200, json={"state": state, "done": 1, "failures": []})
        raise AssertionError(f"unexpected {request.method} {request.url}")

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url="http://gateway", transport=httpx.MockTransport(self))


async def test_a_missing_collection_is_created_and_filled(tmp_path: Path) -> None:
    gateway = FakeGateway()
    async with gateway.client() as client:
        await ensure_collection(client, SAMPLE, tmp_path / "marks")
    assert gateway.collections == {"a-sample": SAMPLE.creation()}
    assert list(gateway.documents.values()) == DOCUMENTS
    assert gateway.batches == [50, 20]


async def test_a_complete_collection_is_left_alone(tmp_path: Path) -> None:
    gateway = FakeGateway()
    async with gateway.client() as client:
        await ensure_collection(client, SAMPLE, tmp_path)
        await ensure_collection(client, SAMPLE, tmp_path)
    assert gateway.batches == [50, 20]


async def test_an_upload_that_was_cut_short_is_taken_up_again(tmp_path: Path) -> None:
    gateway = FakeGateway(fails_after=1)
    async with gateway.client() as client:
        with pytest.raises(Failure, match=r"^PUT /v1/collections/a-sample/documents was answered with 503"):
            await ensure_collection(client, SAMPLE, tmp_path)
        gateway.fails_after = None
        await ensure_collection(client, SAMPLE, tmp_path)
    assert len(gateway.documents) == len(DOCUMENTS)


async def test_changed_documents_are_put_again(tmp_path: Path) -> None:
    gateway = FakeGateway()
    changed = replace(SAMPLE, documents=lambda: [{"id": "0", "text": "new"}])
    async with gateway.client() as client:
        await ensure_collection(client, SAMPLE, tmp_path)
        await ensure_collection(client, changed, tmp_path)
    assert gateway.documents["0"] == {"id": "0", "text": "new"}
    assert gateway.batches == [50, 20, 1]


async def test_judgments_come_with_the_documents(tmp_path: Path) -> None:
    gateway = FakeGateway()
    async with gateway.client() as client:
        await ensure_collection(client, replace(SAMPLE, judgments=lambda: list(JUDGMENTS)), tmp_path)
    assert list(gateway.judgments.values()) == JUDGMENTS


async def test_new_judgments_are_put_although_the_documents_are_the_same(tmp_path: Path) -> None:
    gateway = FakeGateway()
    async with gateway.client() as client:
        await ensure_collection(client, SAMPLE, tmp_path)
        await ensure_collection(client, replace(SAMPLE, judgments=lambda: JUDGMENTS[:1]), tmp_path)
    assert list(gateway.judgments.values()) == JUDGMENTS[:1]


async def test_a_collection_that_was_deleted_is_made_again(tmp_path: Path) -> None:
    gateway = FakeGateway()
    async with gateway.client() as client:
        await ensure_collection(client, SAMPLE, tmp_path)
        gateway.collections.clear()
        await ensure_collection(client, SAMPLE, tmp_path)
    assert list(gateway.collections) == ["a-sample"]


async def test_an_unreachable_gateway_is_one_sentence(tmp_path: Path) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    async with httpx.AsyncClient(base_url="http://gateway", transport=httpx.MockTransport(refuse)) as client:
        with pytest.raises(Failure, match=r"^there is no gateway at http://gateway; start it with `make run`"):
            await ensure_collection(client, SAMPLE, tmp_path)
