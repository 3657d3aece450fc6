"""Generations are built, promoted and rolled back while documents are written and searched, over all six services.

Two profiles cut the same texts differently: no chunk of `docs` is as short as the longest of `plain` here, so each hit
tells which generation it is from.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from tests.system.conftest import Stack

COLLECTION = "in-use"
LONGEST_OF_PLAIN = 450  # characters: a target of 400 and an overlap of 50
STANDING, WRITTEN = 10, 6


def a_document(name: str, version: int) -> dict[str, object]:
    """Forty sentences in eight paragraphs, each of which says the version."""
    paragraph = f"In version{version} of {name} herons stand in shallow water. " * 5
    return {"id": name, "title": name, "text": "\n\n".join([paragraph] * 8)}


@pytest.fixture(params=["embedded", pytest.param("weaviate", marks=pytest.mark.weaviate)])
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    """A stack on each engine, with a collection of some documents that nobody changes."""
    running: Stack = request.getfixturevalue(f"{request.param}_stack")
    declared = {"name": COLLECTION, "profile": "docs", "locale": "en"}
    assert running.http.post("/v1/collections", json=declared).status_code == 201
    running.put(COLLECTION, *(a_document(f"standing-{number}", 0) for number in range(STANDING)))
    yield running
    running.http.delete(f"/v1/collections/{COLLECTION}")


@dataclass(slots=True)
class Generations:
    """The collection's generations as an operator moves them; `profiles` has the profile of each by its id."""

    stack: Stack
    profiles: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return f"/v1/collections/{COLLECTION}/generations"

    def note(self) -> None:
        """Learn of the generations that there are."""
        for one in self.stack.http.get(self.path).json()["generations"]:
            self.profiles[one["id"]] = one["profile"]

    def build(self, profile: str) -> str:
        begun = self.stack.http.post(self.path, json={"profile": profile})
        assert begun.status_code == 202, begun.text
        self.profiles[begun.json()["generation_id"]] = profile
        assert self.stack.finished(begun.json()["job_id"])["state"] == "succeeded"
        return str(begun.json()["generation_id"])

    def promote(self, generation_id: str) -> httpx.Response:
        return self.stack.http.post(f"{self.path}/{generation_id}/promote", json={"max_ndcg_loss": 0.1})

    def roll_back(self) -> None:
        assert self.stack.http.post(f"{self.path}/rollback").status_code == 200

    def active_profile(self) -> str:
        return self.profiles[self.stack.search(COLLECTION, "herons")["generation"]["id"]]


@dataclass(slots=True)
class Writer:
    """Puts, changes and deletes documents for ever; holds `turn` while one of its jobs is under way."""

    stack: Stack
    turn: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)
    versions: dict[str, int | None] = field(default_factory=dict)
    written: int = 0

    def write_on(self) -> None:
        while not self.over.is_set():
            with self.turn:
                name, version = f"written-{self.written % WRITTEN}", self.written // WRITTEN + 1
                if version % 3 == 0:
                    asked = self.stack.http.delete(f"/v1/collections/{COLLECTION}/documents/{name}")
                    job = self.stack.finished(asked.json()["job_id"])
                    self.versions[name] = None
                else:
                    job = self.stack.put(COLLECTION, a_document(name, version))
                    self.versions[name] = version
                assert (job["state"], job["outcomes"]["failed"]) == ("succeeded", 0), job
                self.written += 1
            self.over.wait(0.01)  # lets whoever checks have the turn

    def check(self) -> None:
        """Every document that was acknowledged is found as it was written last, and none that was deleted."""
        with self.turn:
            standing = {f"standing-{number}": 0 for number in range(STANDING)}
            for name, version in (standing | self.versions).items():
                condition = {"all": [{"field": "id", "op": "eq", "value": name}]}
                hits = self.stack.search(COLLECTION, "herons", filter=condition)["hits"]
                said = {f"version{version}" in hit["text"] for hit in hits}
                assert said == (set() if version is None else {True}), (name, version, hits)


@dataclass(slots=True)
class Searcher:
    """Searches for ever, two pages each time; `faults` says what it should not have seen."""

    stack: Stack
    generations: Generations
    over: threading.Event
    searched: int = 0
    seen: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def search_on(self) -> None:
        with httpx.Client(base_url=self.stack.http.base_url, timeout=30) as http:
            while not self.over.is_set():
                asked = {"collection": COLLECTION, "query": "herons in shallow water", "limit": 5}
                first = self._page(http, asked)
                if first and "next" in first:
                    second = self._page(http, asked | {"cursor": first["next"]})
                    if second and second["generation"]["id"] != first["generation"]["id"]:
                        self.faults.append("the second page is of another generation")

    def _page(self, http: httpx.Client, asked: dict[str, object]) -> dict[str, object] | None:
        response = http.post("/v1/search", json=asked)
        self.searched += 1
        if response.status_code != 200:
            self.faults.append(f"{response.status_code}: {response.text}")
            return None
        page: dict[str, object] = response.json()
        generation_id = page["generation"]["id"]
        short = {len(hit["text"]) <= LONGEST_OF_PLAIN for hit in page["hits"]}
        if page["degraded"] or short != {self.generations.profiles[generation_id] == "plain"}:
            self.faults.append(f"{self.generations.profiles[generation_id]}: {short}, {page['degraded']}")
        self.seen.add(generation_id)
        return page


@contextmanager
def in_use(stack: Stack, generations: Generations) -> Iterator[tuple[Writer, Searcher]]:
    """Writes and searches go on until the block ends."""
    writer = Writer(stack)
    searcher = Searcher(stack, generations, writer.over)
    failed: list[BaseException] = []

    def kept(loop: object) -> None:
        try:
            loop()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=kept, args=(loop,)) for loop in (writer.write_on, searcher.search_on)]
    for thread in threads:
        thread.start()
    try:
        yield writer, searcher
    finally:
        writer.over.set()
        for thread in threads:
            thread.join()
    assert failed == []


def test_writes_and_searches_go_on_through_build_promotion_and_rollback(stack: Stack) -> None:
    generations = Generations(stack)
    generations.note()
    served = []
    with in_use(stack, generations) as (writer, searcher):
        for profile in ("plain", "docs", "plain"):
            generation_id = generations.build(profile)
            writer.check()
            assert generations.promote(generation_id).status_code == 200
            writer.check()
            served.append(generations.active_profile())
            generations.roll_back()
            writer.check()
            served.append(generations.active_profile())
            generations.roll_back()
            writer.check()

    # plain over docs, back, forth; docs over plain, back, forth; plain over docs, back, forth
    assert served == ["plain", "docs", "docs", "plain", "plain", "docs"]
    assert searcher.faults == []
    assert len(searcher.seen) == 4
    assert writer.written > WRITTEN, "too few writes to meet anything"


def test_gate_that_fails_refuses_with_its_figures_and_leaves_what_serves(stack: Stack) -> None:
    """`docs` finds both words in one chunk of `whole`; `plain` finds them together in `near` alone."""
    filler = "Quiet clouds drift over the wide plain without a sound. " * 8
    whole = "\n\n".join(["Zebra zebra zebra zebra. " + filler, filler, "Quokka quokka quokka quokka. " + filler])
    near = "\n\n".join(["Zebra and quokka. " + filler, filler, filler])
    stack.put(COLLECTION, {"id": "whole", "text": whole}, {"id": "near", "text": near})
    judged = {"id": "q", "query": "zebra quokka", "relevance": {"whole": 3}}
    put = stack.http.put(f"/v1/collections/{COLLECTION}/judgments", json={"judgments": [judged]})
    assert put.status_code == 204, put.text
    generations = Generations(stack)
    generations.note()
    before = stack.search(COLLECTION, "herons")["generation"]["id"]

    refused = generations.promote(generations.build("plain"))

    assert refused.status_code == 409
    # The second place gains 1 / log2(3) = 0.6309 of what the first does.
    assert "over 1 judged queries falls from 1.0000 to 0.6309" in refused.json()["detail"]
    assert stack.search(COLLECTION, "herons")["generation"]["id"] == before
