"""One run: every subject in every round in turn, so that what disturbs the machine disturbs all of them."""

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TypeVar

import httpx

from loadtests.embed_bench.measuring import Mixed, Queries, closed_loop, mixed, passages_per_s
from loadtests.embed_bench.report import Report, SubjectReport, checks
from loadtests.embed_bench.service import Client, running_service
from loadtests.embed_bench.subjects import Infinity, Library, Service, Subject, running_infinity
from loadtests.embed_bench.texts import passages, queries
from loadtests.provenance import this_machine, this_source

FiguresT = TypeVar("FiguresT", Queries, Mixed)
TEXTS_A_CALL = 64
IN_FLIGHT = 4
# Queries of one closed loop for each client, and at least so many.
_QUERIES_A_CLIENT, _LEAST_QUERIES = 8, 100
_SAMPLE = 96


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: the model's folder, how many passages, clients and rounds, with or without the peer."""

    folder: Path
    passages: int
    clients: tuple[int, ...]
    rounds: int
    mixed_queries: int
    threads: int
    with_infinity: bool


async def run(plan: Plan, out: Path) -> Report:
    """Start everything, measure it in turn, stop it."""
    out.mkdir(parents=True, exist_ok=True)
    texts, questions = passages(plan.passages, 1), queries(1)
    async with AsyncExitStack() as running:
        settings = {"threads": str(plan.threads)}
        client = await running.enter_async_context(running_service(str(plan.folder), settings, out / "plumbline.log"))
        facts = await client.describe()
        libraries = [
            Library(plan.folder, dtype=dtype, threads=plan.threads) for dtype in dict.fromkeys((facts.dtype, "float32"))
        ]
        sizes = {one.name: one.choose_batch_size(texts[:_SAMPLE]) for one in libraries}
        subjects: list[Subject] = [
            Service(client, in_flight=IN_FLIGHT, texts_a_call=TEXTS_A_CALL),
            *libraries,
        ]
        if plan.with_infinity:
            http = await running.enter_async_context(
                running_infinity(plan.folder, threads=plan.threads, log=out / "infinity.log")
            )
            subjects.append(Infinity(http, in_flight=IN_FLIGHT, texts_a_call=TEXTS_A_CALL))
        measured: dict[str, list[SubjectReport]] = {subject.name: [] for subject in subjects}
        for number in range(plan.rounds):
            for subject in subjects:
                await subject.embed_all(texts[:_SAMPLE])  # warm
                print(f"round {number + 1} of {plan.rounds}: {subject.name}", flush=True)
                measured[subject.name].append(await _measured(subject, plan, texts, questions))
        batch_ms = await _ingest_batch_ms(client)
    reports = {name: _medians(rounds) for name, rounds in measured.items()}
    return Report(
        date=datetime.now(UTC).date().isoformat(),
        machine=this_machine(),
        source=this_source(),
        model=plan.folder.name,
        device=facts.device,
        dtype=facts.dtype,
        threads=plan.threads,
        passages=plan.passages,
        rounds=plan.rounds,
        ingest_batch_ms=batch_ms,
        encode_batch_size=sizes,
        versions={name: version(name) for name in ("torch", "sentence-transformers")},
        subjects=list(reports.values()),
        checks=checks(reports, same_dtype=libraries[0].name, ingest_batch_ms=batch_ms),
    )


async def _measured(subject: Subject, plan: Plan, texts: Sequence[str], questions: Iterator[str]) -> SubjectReport:
    """One round of one subject."""
    return SubjectReport(
        name=subject.name,
        queries=[
            await closed_loop(
                subject, questions, clients=clients, queries=max(_LEAST_QUERIES, _QUERIES_A_CLIENT * clients)
            )
            for clients in plan.clients
        ],
        passages_per_s=await passages_per_s(subject, texts),
        mixed=await mixed(
            subject,
            questions,
            texts,
            texts_a_call=TEXTS_A_CALL,
            in_flight=IN_FLIGHT,
            queries=plan.mixed_queries,
        ),
    )


def _medians(rounds: Sequence[SubjectReport]) -> SubjectReport:
    """Each figure's median over the rounds."""
    by_clients = zip(*(one.queries for one in rounds), strict=True)
    return SubjectReport(
        name=rounds[0].name,
        queries=[_median_of(same) for same in by_clients],
        passages_per_s=median(one.passages_per_s for one in rounds),
        mixed=_median_of([one.mixed for one in rounds]),
    )


def _median_of(same: Sequence[FiguresT]) -> FiguresT:
    fields = type(same[0]).model_fields
    return type(same[0])(**{name: median(getattr(one, name) for one in same) for name in fields})


async def _ingest_batch_ms(client: Client) -> float:
    """Mean device time of our batches of passages, from the service's own metrics."""
    async with httpx.AsyncClient() as http:
        page = (await http.get(client.metrics_url)).text
    values = {
        kind: float(line.rsplit(" ", 1)[1])
        for line in page.splitlines()
        for kind in ("sum", "count")
        if line.startswith(f'plumbline_embedding_batch_seconds_{kind}{{lane="ingest"}}')
    }
    return 1000 * values["sum"] / values["count"]
