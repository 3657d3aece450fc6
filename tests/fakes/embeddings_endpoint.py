"""An OpenAI-compatible embeddings endpoint on loopback that answers, refuses or breaks as the test says."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np


class EmbeddingsEndpoint:
    """Gives each text a vector of its own; `refusals` are statuses with headers for the next requests.

    While `held` is not set, requests wait, and `waiting` counts them.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.refusals: list[tuple[int, dict[str, str]]] = []
        self.url = ""
        self.held = threading.Event()
        self.held.set()
        self.waiting = 0

    def vector(self, text: str) -> list[float]:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
        return [float(number) for number in np.random.default_rng(seed).normal(size=self.dimensions)]

    def answer(self, body: dict[str, Any], key: str) -> tuple[int, dict[str, str], dict[str, Any]]:
        self.waiting += 1
        self.held.wait()
        self.waiting -= 1
        self.requests.append(body)
        self.keys.append(key)
        if self.refusals:
            status, headers = self.refusals.pop(0)
            return status, headers, {"error": {"message": "secret text of the caller"}}
        rows = [
            {"object": "embedding", "index": index, "embedding": self.vector(text)}
            for index, text in enumerate(body["input"])
        ]
        # Out of order, as an endpoint may send them.
        reply = {"object": "list", "data": rows[::-1], "model": body["model"], "usage": {}}
        return 200, {}, reply


@contextmanager
def embeddings_endpoint(dimensions: int = 1536) -> Iterator[EmbeddingsEndpoint]:
    """Serve until the block ends."""
    endpoint = EmbeddingsEndpoint(dimensions)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status, headers, reply = endpoint.answer(body, self.headers.get("authorization", ""))
            sent = json.dumps(reply).encode()
            self.send_response(status)
            for name, value in {
                "content-type": "application/json",
                "content-length": str(len(sent)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
