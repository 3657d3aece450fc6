"""Three real nodes that each keep a copy: one is killed under load, and comes back."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
import pytest

from services.local.weaviate_nodes import RunningNodes, running_nodes
from services.shared.index.chunk import IndexedChunk, Matrix
from services.shared.index.weaviate_index import WeaviateIndex
from services.shared.runtime.errors import PlumblineError
from tests.contract.index.examples import GENERATION, a_chunk, ids, windows

pytestmark = [pytest.mark.weaviate, pytest.mark.timeout(300)]

CHUNKS, DIMENSIONS, CLUSTERS, TOPICS, QUERIES, TOP = 2_000, 64, 40, 400, 100, 10
CLIENTS = 8
# How much has to happen in each of the three parts: all nodes, one gone, all nodes again.
READS_EACH, WRITES = 40, 15


@pytest.fixture(scope="module")
def nodes(weaviate_server: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNodes]:
    with running_nodes(3, weaviate_server, tmp_path_factory.mktemp("three")) as running:
        yield running


@dataclass
class Corpus:
    """Chunks in clusters, a fifth part of each topic's five; queries beside chunks, with their exact answers."""

    vectors: Matrix
    queries: Matrix

    @classmethod
    def draw(cls) -> "Corpus":
        random = np.random.default_rng(7)
        centres = random.normal(size=(CLUSTERS, DIMENSIONS))
        vectors = centres[random.integers(CLUSTERS, size=CHUNKS)] + 0.6 * random.normal(size=(CHUNKS, DIMENSIONS))
        vectors[:, 0] = 0  # this direction is the writer's: what it writes is in no answer
        queries = vectors[random.integers(CHUNKS, size=QUERIES)] + 0.3 * random.normal(size=(QUERIES, DIMENSIONS))
        queries[:, 0] = 0
        return cls(_unit(vectors), _unit(queries))

    def chunks(self) -> list[IndexedChunk]:
        return [
            a_chunk(f"c{number:04d}", analysed=f"w:topic{number % TOPICS}", vectors=windows(vector))
            for number, vector in enumerate(self.vectors)
        ]

    def on_topic(self, topic: int) -> list[str]:
        return [f"c{number:04d}" for number in range(topic, CHUNKS, TOPICS)]

    def nearest(self) -> list[set[str]]:
        best = np.argsort(-(self.queries @ self.vectors.T), axis=1)[:, :TOP]
        return [{f"c{number:04d}" for number in row} for row in best]


@dataclass
class Traffic:
    """What clients and writer saw; `changed` wakes those who wait for more of it."""

    reads: list[int] = field(default_factory=lambda: [0] * CLIENTS)
    failed: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    written: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)  # what became of these is not known
    acknowledged: int = 0
    over: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def note(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def further(self) -> tuple[int, int]:
        """Wait until every client has read and the writer has written as much again; how many of both there were."""
        reads, writes = list(self.reads), self.acknowledged
        async with self.changed:
            await self.changed.wait_for(
                lambda: (
                    all(now >= before + READS_EACH for now, before in zip(self.reads, reads, strict=True))
                    and self.acknowledged >= writes + WRITES
                )
            )
        return sum(self.reads) - sum(reads), self.acknowledged - writes


async def test_a_node_is_lost_and_returns_without_a_failed_read_or_a_lost_write(
    nodes: RunningNodes, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, traffic = Corpus.draw(), Traffic()
    async with AsyncExitStack() as until_done:

        async def opened() -> WeaviateIndex:
            index = await WeaviateIndex.open(nodes.addresses, replication_factor=3, api_key=nodes.api_key)
            until_done.push_async_callback(index.close)
            return index

        index = await opened()
        await index.create_generation(GENERATION, DIMENSIONS, {})
        await index.upsert(GENERATION, corpus.chunks())
        before = await recall(index, corpus)
        clients = [read_on(await opened(), corpus, traffic, client) for client in range(CLIENTS)]
        tasks = [asyncio.create_task(work) for work in (*clients, write_on(await opened(), traffic))]
        parts = {"three nodes": await traffic.further()}
        lost = leader(nodes)  # the worst one to lose
        nodes.kill(lost)
        parts["one killed"] = await traffic.further()
        nodes.start(lost)
        await nodes.until_ready()
        parts["three again"] = await traffic.further()
        traffic.over = True
        await asyncio.gather(*tasks)

        last = await opened()
        found = await last.existing(GENERATION, traffic.written | traffic.deleted)
        after = await recall(last, corpus)
        count = await last.count(GENERATION)
    with capsys.disabled():
        said = ", ".join(f"{part}: {reads} reads and {writes} writes" for part, (reads, writes) in parts.items())
        print(
            f"\n{said}; {len(traffic.failed)} reads failed, {len(traffic.wrong)} were wrong, {len(traffic.refused)} "
            f"writes refused; {len(traffic.written)} chunks written and {len(traffic.deleted)} deleted, of which "
            f"{len(traffic.written - found)} lost and {len(traffic.deleted & found)} returned; recall@{TOP} "
            f"{before:.4f} before, {after:.4f} after"
        )
    assert (Counter(traffic.failed), traffic.wrong) == ({}, [])
    assert traffic.written - found == set()
    assert traffic.deleted & found == set()
    assert CHUNKS + len(traffic.written) <= count <= CHUNKS + len(traffic.written) + len(traffic.refused)
    # One write may be under way when the leader goes, and wait for it in Weaviate until its time is over.
    assert len(traffic.refused) <= 1, traffic.refused
    assert after == pytest.approx(before, abs=0.005)


async def test_the_first_write_after_the_loss_of_the_leader_is_acknowledged_and_done_once(nodes: RunningNodes) -> None:
    index = await WeaviateIndex.open(nodes.addresses, replication_factor=3, api_key=nodes.api_key)
    await index.create_generation("g2", DIMENSIONS, {})
    kept, passing = (a_chunk(name, vectors=_unit(np.eye(1, DIMENSIONS))) for name in ("kept", "passing"))
    lost = leader(nodes)
    nodes.kill(lost)
    try:
        await index.upsert("g2", [kept, passing])
        await index.delete("g2", ["passing"])
    finally:
        nodes.start(lost)
        await nodes.until_ready()
    # A write that waited for the leader would be done now, and bring back what was deleted.
    assert await index.existing("g2", ["kept", "passing"]) == {"kept"}
    await index.drop_generation("g2")
    await index.close()


def leader(nodes: RunningNodes) -> int:
    """The number of the node that leads the others in changes of the schema."""
    url = f"http://127.0.0.1:{nodes.addresses[0].http_port}/v1/cluster/statistics"
    told = httpx.get(url, headers={"authorization": f"Bearer {nodes.api_key}"}, timeout=10).json()
    return int(told["statistics"][0]["leaderId"].removeprefix("node"))


async def read_on(index: WeaviateIndex, corpus: Corpus, traffic: Traffic, client: int) -> None:
    """Ask by words and by meaning until the traffic is over."""
    truth = corpus.nearest()
    while not traffic.over:
        turn = traffic.reads[client]
        topic, query = (client * 31 + turn) % TOPICS, (client * 17 + turn) % QUERIES
        try:
            by_words = ids(await index.keyword(GENERATION, [f"w:topic{topic}"], filter=None, limit=TOP))
            by_meaning = ids(await index.nearest(GENERATION, corpus.queries[query], filter=None, limit=TOP))
        except PlumblineError as error:
            traffic.failed.append(f"{type(error).__name__}: {error.message}")
        else:
            if by_words != corpus.on_topic(topic):
                traffic.wrong.append(f"topic {topic}: {by_words}")
            if len(truth[query] & set(by_meaning)) < TOP // 2 or len(by_meaning) < TOP:
                traffic.wrong.append(f"query {query}: {by_meaning}")
        traffic.reads[client] += 1
        await traffic.note()


async def write_on(index: WeaviateIndex, traffic: Traffic) -> None:
    """Write chunks one after the other, and delete every third again, until the traffic is over."""
    aside = _unit(np.eye(1, DIMENSIONS, dtype=np.float32))
    number = 0
    while not traffic.over:
        name = f"new{number:05d}"
        try:
            await index.upsert(GENERATION, [a_chunk(name, analysed="w:new", vectors=aside)])
            traffic.written.add(name)
            traffic.acknowledged += 1
            if number % 3 == 2:
                await index.delete(GENERATION, [name])
                traffic.written.discard(name)
                traffic.deleted.add(name)
                traffic.acknowledged += 1
        except PlumblineError as error:
            traffic.refused[name] = f"{type(error).__name__}: {error.message}"
            traffic.written.discard(name)
        number += 1
        await traffic.note()


async def recall(index: WeaviateIndex, corpus: Corpus) -> float:
    """The share of the exact nearest that the index finds, over all queries."""
    found = [ids(await index.nearest(GENERATION, query, filter=None, limit=TOP)) for query in corpus.queries]
    return sum(len(truth & set(one)) for truth, one in zip(corpus.nearest(), found, strict=True)) / (QUERIES * TOP)


def _unit(vectors: npt.NDArray[np.floating[Any]]) -> Matrix:
    unit: Matrix = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return unit
