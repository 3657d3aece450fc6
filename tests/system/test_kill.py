"""`kill -9` of any one service, or of the index's server, while searches run: callers see only what section 11 of the
design allows."""

import os
import signal
import threading
import time

import httpx
import pytest

from tests.system.conftest import Stack

# Status codes, and parts that a search may lack, while a service is gone.
ALLOWED = {
    "embedding": ({200}, {(), ("vector",)}),
    "ranking": ({200}, {(), ("ranking",)}),
    "search": ({200, 503}, {()}),
    "answer": ({200}, {()}),
    "ingest": ({200}, {()}),
    "gateway": ({200}, {()}),
    "weaviate": ({200, 503}, {(), ("keyword",), ("vector",)}),
}
RESTART_S = 60


@pytest.fixture
def searched(request: pytest.FixtureRequest, service: str) -> Stack:
    """A stack that has this service and one document."""
    stack: Stack = request.getfixturevalue("weaviate_stack" if service == "weaviate" else "stack")
    stack.http.post("/v1/collections", json={"name": "kill", "profile": "docs", "locale": "en"})
    stack.put("kill", {"id": "a", "text": "Herons stand in shallow water."})
    return stack


@pytest.mark.parametrize(
    "service", [pytest.param(name, marks=pytest.mark.weaviate) if name == "weaviate" else name for name in ALLOWED]
)
def test_searches_see_only_what_is_allowed_and_the_service_comes_back(searched: Stack, service: str) -> None:
    statuses, lacking = ALLOWED[service]
    seen: list[tuple[int, tuple[str, ...], str]] = []
    refused_connections = 0
    over = threading.Event()

    def search_on() -> None:
        nonlocal refused_connections
        with httpx.Client(base_url=searched.http.base_url, timeout=30) as http:
            while not over.is_set():
                try:
                    response = http.post("/v1/search", json={"collection": "kill", "query": "herons"})
                except httpx.TransportError:
                    refused_connections += 1
                    over.wait(0.05)
                    continue
                body = response.json()
                hits = [hit["document_id"] for hit in body.get("hits", [])]
                seen.append((response.status_code, tuple(body.get("degraded", [])), ",".join(hits)))

    first = searched.process_of(service)
    searching = threading.Thread(target=search_on)
    searching.start()
    os.kill(first, signal.SIGKILL)
    deadline = time.monotonic() + RESTART_S
    while time.monotonic() < deadline and not came_back(searched, service, first):
        time.sleep(0.1)
    over.set()
    searching.join()
    assert came_back(searched, service, first), f"{service} was not restarted"
    assert {status for status, _, _ in seen} <= statuses
    assert {parts for status, parts, _ in seen if status == 200} <= lacking
    assert {hits for status, _, hits in seen if status == 200} == {"a"}, "never an empty list"
    assert service == "gateway" or refused_connections == 0
    assert len(seen) > 0


def came_back(stack: Stack, service: str, first: int) -> bool:
    """Another process serves, the whole stack is ready, and every caller has found it again."""
    try:
        serves = stack.process_of(service) != first and bool(stack.status()["ready"])
        return serves and stack.search("kill", "herons")["degraded"] == []
    except (AssertionError, OSError, httpx.TransportError):
        return False
