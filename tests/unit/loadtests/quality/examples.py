"""A small gateway, a set to put into it, and figures to compare."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from loadtests.provenance import Machine, Source
from loadtests.quality.figures import Figures

STEPS = ("fused", "recency", "mmr")


def hit(
    document_id: str,
    *,
    keyword: int | None = None,
    vector: int | None = None,
    fused_score: float = 0.0,
    places: Sequence[int] = (),
    department: str | None = None,
    age: int | None = None,
) -> dict[str, Any]:
    """A hit of a search with ledgers; `places` are those after the first so many of STEPS."""
    return {
        "document_id": document_id,
        "metadata": {"department": department} if department else {},
        "ledger": {
            "keyword": {"rank": keyword},
            "vector": {"rank": vector},
            "fused_score": fused_score,
            "places": [{"step": step, "place": place} for step, place in zip(STEPS, places, strict=False)],
            "age_years": age,
        },
    }


def figures(
    values: Sequence[float | None], *, stage: str = "ranked", measure: str = "nDCG@10", **changes: Any
) -> Figures:
    """Figures of one stage and measure, a query for each value."""
    whole: dict[str, Any] = {
        "name": "a-set",
        "date": "2026-11-30T12:00:00+00:00",
        "source": Source(commit="c" * 40, dirty=False),
        "machine": Machine(cpu="a CPU", cores=2, memory_gib=23.4, system="Linux", python="3.11.7"),
        "judged_sha256": "j" * 64,
        "model": "all-MiniLM-L6-v2",
        "weights_sha256": "5" * 64,
        "documents": 100,
        "chunks": 120,
        "put_s": 12.0,
        "asked_s": 3.0,
        "vectors": None,
        "watched": [measure],
        "queries": [f"q{number}" for number in range(len(values))],
        "stages": {stage: {measure: list(values)}},
    }
    return Figures(**whole | changes)


@dataclass
class FakeGateway:
    """Holds documents whose text is one word and finds them by it; `wrong` words find everything else first.

    The first answers to searches lack the parts in `degraded`, one list an answer; the first `untended` answers about
    the collection say that its index was not optimized.
    """

    wrong: set[str] = field(default_factory=set)
    degraded: list[list[str]] = field(default_factory=list)
    model: str = "all-MiniLM-L6-v2"
    loses: int = 0
    untended: int = 0
    page: int = 2
    documents: dict[str, str] = field(default_factory=dict)
    judgments: dict[str, dict[str, Any]] = field(default_factory=dict)
    searches: list[dict[str, Any]] = field(default_factory=list)
    exists: bool = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else {}
        match request.method, request.url.path.split("/")[2:]:
            case "GET", ["status"]:
                return httpx.Response(200, json={"model": {"name": self.model, "weights_sha256": "5" * 64}})
            case "POST", ["collections"]:
                self.exists = True
                return httpx.Response(201, json=body)
            case "GET", ["collections", _]:
                held = {
                    "documents": len(self.documents) - self.loses,
                    "chunks": len(self.documents),
                    "optimized": self.untended <= 0,
                }
                self.untended -= bool(self.documents)
                return httpx.Response(200 if self.exists else 404, json={"generation": held})
            case "PUT", ["collections", _, "documents"]:
                self.documents |= {document["id"]: document["text"] for document in body["documents"]}
                return httpx.Response(202, json={"job_id": "j1"})
            case "GET", ["jobs", _]:
                return httpx.Response(200, json={"state": "succeeded", "done": 1, "failures": []})
            case "PUT", ["collections", _, "judgments"]:
                self.judgments |= {one["id"]: one for one in body["judgments"]}
                return httpx.Response(204)
            case "GET", ["collections", _, "judgments"]:
                return httpx.Response(200, json=self._judgments(request.url.params.get("cursor", "")))
            case "POST", ["search"]:
                return httpx.Response(200, json=self._found(body))
        raise AssertionError(f"unexpected {request.method} {request.url}")

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url="http://gateway", transport=httpx.MockTransport(self))

    def _judgments(self, after: str) -> dict[str, Any]:
        rest = [self.judgments[one] for one in sorted(self.judgments) if one > after]
        page = [{"locale": None, "filter": None, **one} for one in rest[: self.page]]
        return {"judgments": page, "next": page[-1]["id"] if len(rest) > self.page else None}

    def _found(self, body: dict[str, Any]) -> dict[str, Any]:
        self.searches.append(body)
        right = [one for one, text in self.documents.items() if text == body["query"]]
        others = [one for one in self.documents if one not in right]
        order = others + right if body["query"] in self.wrong else right + others
        ranks = range(1, len(order) + 1)
        hits = [
            hit(one, keyword=rank, vector=rank, fused_score=-rank, places=(rank, rank))
            for rank, one in zip(ranks, order, strict=True)
        ]
        return {"hits": hits, "degraded": self.degraded.pop(0) if self.degraded else []}
