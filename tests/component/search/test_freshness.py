"""Documents that are published again while others read: ingest and search over one index and one catalog."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.component.search.conftest import Engine
from tests.component.search.shop import Shop, open_shop

TIMES = 50


@pytest.fixture
async def shop(engine: Engine, tmp_path: Path) -> AsyncIterator[Shop]:
    async with open_shop(engine.settings, tmp_path, model="hashing") as opened:
        yield opened


async def test_a_text_and_the_one_it_replaces_are_never_seen_together_and_never_both_missed(shop: Shop) -> None:
    await shop.publish("ticket", "The entry ticket costs 0 euros.")
    published, took_s = asyncio.Event(), []

    async def publish() -> None:
        for euros in range(1, TIMES + 1):
            text = f"The entry ticket costs {euros} euros."
            await shop.accept("ticket", text)
            accepted = time.perf_counter()
            while await shop.read("entry ticket") != [text]:
                pass
            took_s.append(time.perf_counter() - accepted)
        published.set()

    async def read() -> int:
        reads, newest = 0, 0
        while not published.is_set():
            (text,) = await shop.read("what does the entry ticket cost")
            euros = int(text.removeprefix("The entry ticket costs ").removesuffix(" euros."))
            assert euros >= newest
            newest, reads = euros, reads + 1
        return reads

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(publish())
        readers = [tasks.create_task(read()) for _ in range(2)]
    reads = sum(reader.result() for reader in readers)
    middle_s, longest_s = statistics.median(took_s), max(took_s)
    print(f"{TIMES} publications amid {reads} reads, each applied after {middle_s:.3f} s, {longest_s:.3f} s at most")
    assert reads > TIMES


def price_list(euros: int) -> str:
    return f"# Prices\n\n## Ticket\n\nA ticket costs {euros} euros.\n\n## Locker\n\nA locker is free of any cost.\n"


async def test_what_stays_of_a_document_is_seen_all_the_time_while_the_rest_is_replaced(shop: Shop) -> None:
    await shop.publish("list", price_list(0))
    assert len(await shop.read("cost")) == 2
    published = asyncio.Event()

    async def publish() -> None:
        for euros in range(1, TIMES // 2 + 1):
            await shop.publish("list", price_list(euros))
        published.set()

    async def read() -> int:
        reads = 0
        while not published.is_set():
            texts = sorted(await shop.read("what does a ticket or a locker cost"))
            assert len(texts) == 2, texts
            assert texts[0] == "A locker is free of any cost."
            reads += 1
        return reads

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(publish())
        readers = [tasks.create_task(read()) for _ in range(2)]
    assert sum(reader.result() for reader in readers) > TIMES // 2


async def test_what_a_document_no_longer_says_is_not_found(shop: Shop) -> None:
    await shop.publish("list", price_list(7) + "\n## Refunds\n\nNobody gets a refund for zebras.\n")
    assert any("zebras" in text for text in await shop.read("zebras"))
    await shop.publish("list", price_list(7))
    assert not any("zebras" in text for text in await shop.read("zebras"))
