"""Documents from acceptance to the index: what is stored, what is embedded again, what is gone."""

import asyncio
import hashlib
from pathlib import Path

import grpc
import pytest

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.search.v1 import filter_pb2
from services.shared.runtime.errors import NotFound
from tests.component.ingest.conftest import TIMEOUT_S, Ingest
from tests.component.ingest.test_collections import refused

OLD = filter_pb2.Value(text="old")
LONG = filter_pb2.Value(text="x" * 1_025)
PAGE = "# Sets\n\nA set holds things.\n\n# Maps\n\nA map sends things.\n"


async def test_a_document_is_stored_with_its_original_and_found_in_the_index(ingest: Ingest, tmp_path: Path) -> None:
    job = await ingest.put(pb.Document(id="a", markdown=PAGE, date="2024-03", uri="https://x.org/a"))
    assert (job.state, job.total, job.done, job.outcomes.embedded) == (pb.JOB_STATE_SUCCEEDED, 1, 1, 1)
    collection = await ingest.catalog.collections.get("notes")
    chunks = await ingest.index.document_chunks(collection.active.id, "a", vectors=True)
    assert [(chunk.heading_path, chunk.text) for chunk in chunks] == [
        (("Sets",), "A set holds things."),
        (("Maps",), "A map sends things."),
    ]
    assert {(chunk.date, chunk.uri, chunk.revision) for chunk in chunks} == {("2024-03", "https://x.org/a", 1)}
    assert (collection.active.revision, collection.active.chunks, collection.lag) == (1, 2, 0)
    digest = hashlib.sha256(PAGE.encode()).hexdigest()
    assert (tmp_path / "blobs" / digest[:2] / digest[2:4] / digest).read_bytes() == PAGE.encode()


async def test_an_edit_embeds_only_what_changed_and_the_old_text_is_gone(ingest: Ingest) -> None:
    await ingest.put(pb.Document(id="a", markdown=PAGE))
    before = ingest.embedded()
    job = await ingest.put(pb.Document(id="a", markdown=PAGE.replace("A map sends", "A map carries")))
    assert job.outcomes.embedded == 1
    assert ingest.embedded() - before == 1
    assert await ingest.texts("a") == ["A set holds things.", "A map carries things."]
    active = (await ingest.catalog.collections.get("notes")).active
    assert {chunk.revision for chunk in await ingest.index.document_chunks(active.id, "a")} == {2}


async def test_a_document_that_shrinks_leaves_no_old_text(ingest: Ingest) -> None:
    await ingest.put(pb.Document(id="a", markdown="".join(f"# Part {n}\n\nText {n}.\n\n" for n in range(5))))
    await ingest.put(pb.Document(id="a", markdown="# Part 0\n\nText 0.\n\n# Part 1\n\nText 1.\n"))
    assert await ingest.texts("a") == ["Text 0.", "Text 1."]


async def test_a_change_of_metadata_alone_embeds_nothing(ingest: Ingest) -> None:
    def dated(year: int) -> pb.Document:
        return pb.Document(id="a", markdown=PAGE, metadata={"year": filter_pb2.Value(integer=year)})

    await ingest.put(dated(2023))
    before = ingest.embedded()
    job = await ingest.put(dated(2024))
    assert (job.outcomes.reused, ingest.embedded()) == (1, before)
    active = (await ingest.catalog.collections.get("notes")).active
    assert [c.metadata for c in await ingest.index.document_chunks(active.id, "a")] == [{"year": 2024}, {"year": 2024}]


async def test_the_same_documents_again_change_neither_chunks_nor_revision(ingest: Ingest) -> None:
    documents = [pb.Document(id=f"d{n}", text=f"Text number {n}.") for n in range(70)]
    await ingest.put(*documents)
    first = await ingest.catalog.collections.get("notes")
    job = await ingest.put(*documents)
    assert (job.outcomes.reused, job.outcomes.embedded) == (70, 0)
    second = await ingest.catalog.collections.get("notes")
    assert (second.active.revision, second.active.chunks) == (first.active.revision, 70)


async def test_a_deleted_document_is_gone_and_an_unknown_one_is_an_outcome(ingest: Ingest) -> None:
    await ingest.put(pb.Document(id="a", text="Some text."))
    request = pb.DeleteDocumentsRequest(collection="notes", document_ids=["a", "never there"])
    job = await ingest.finished((await ingest.stub.DeleteDocuments(request, timeout=TIMEOUT_S)).job_id)
    assert job.outcomes.deleted == 2
    assert await ingest.texts("a") == []
    with pytest.raises(NotFound):
        await ingest.catalog.documents.get("notes", "a")


async def test_a_delete_right_behind_a_put_wins(ingest: Ingest) -> None:
    put = pb.PutDocumentsRequest(collection="notes", documents=[pb.Document(id="a", markdown=PAGE * 50)])
    delete = pb.DeleteDocumentsRequest(collection="notes", document_ids=["a"])
    await ingest.stub.PutDocuments(put, timeout=TIMEOUT_S)
    await ingest.finished((await ingest.stub.DeleteDocuments(delete, timeout=TIMEOUT_S)).job_id)
    assert await ingest.texts("a") == []


@pytest.mark.parametrize(
    ("field", "document"),
    [
        ("documents[1].id", pb.Document(text="x")),
        ("documents[1].text", pb.Document(id="b")),
        ("documents[1].markdown", pb.Document(id="b", markdown=" \n ")),
        ("documents[1].title", pb.Document(id="b", text="x", title="t" * 513)),
        ("documents[1].uri", pb.Document(id="b", text="x", uri="u" * 2_049)),
        ("documents[1].metadata.topic", pb.Document(id="b", text="x", metadata={"topic": LONG})),
        ("documents[1].date", pb.Document(id="b", text="x", date="yesterday")),
        ("documents[1].locale", pb.Document(id="b", text="x", locale="Klingon please")),
        ("documents[1].metadata.year", pb.Document(id="b", text="x", metadata={"year": OLD})),
        ("documents[1].metadata.colour", pb.Document(id="b", text="x", metadata={"colour": OLD})),
        ("documents[1].id", pb.Document(id="a", text="x")),  # twice in one call
    ],
)  # fmt: skip
async def test_one_bad_document_is_named_and_none_of_the_call_is_stored(
    ingest: Ingest, field: str, document: pb.Document
) -> None:
    request = pb.PutDocumentsRequest(collection="notes", documents=[pb.Document(id="a", text="good"), document])
    assert await refused(ingest.stub.PutDocuments(request, timeout=TIMEOUT_S)) == (
        grpc.StatusCode.INVALID_ARGUMENT,
        field,
    )
    assert await ingest.catalog.work.waiting() == 0
    assert (await ingest.catalog.documents.list("notes", after=None, limit=10)).documents == ()


async def test_documents_for_an_unknown_collection_are_not_found(ingest: Ingest) -> None:
    request = pb.PutDocumentsRequest(collection="nowhere", documents=[pb.Document(id="a", text="x")])
    assert await refused(ingest.stub.PutDocuments(request, timeout=TIMEOUT_S)) == (
        grpc.StatusCode.NOT_FOUND,
        "collection",
    )


async def test_the_same_idempotency_key_is_the_same_job(ingest: Ingest) -> None:
    request = pb.PutDocumentsRequest(
        collection="notes", documents=[pb.Document(id="a", text="x")], idempotency_key="once"
    )
    first, second = [await ingest.stub.PutDocuments(request, timeout=TIMEOUT_S) for _ in range(2)]
    assert first.job_id == second.job_id


async def test_an_unknown_job_is_not_found(ingest: Ingest) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await ingest.finished("no-such-job")
    assert failure.value.code() is grpc.StatusCode.NOT_FOUND


async def test_the_text_of_a_reader_is_whole_while_a_document_changes(ingest: Ingest) -> None:
    versions = [f"# One\n\nalpha {n}.\n\n# Two\n\nbeta {n}.\n" for n in range(6)]
    await ingest.put(pb.Document(id="a", markdown=versions[0]))
    done = asyncio.Event()
    seen: set[tuple[str, ...]] = set()

    async def read() -> None:
        active = (await ingest.catalog.collections.get("notes")).active
        while not done.is_set():
            chunks = await ingest.index.document_chunks(active.id, "a")
            newest = max(chunk.revision for chunk in chunks)
            seen.add(tuple(chunk.text for chunk in chunks if chunk.revision == newest))

    reading = asyncio.ensure_future(read())
    for version in versions[1:]:
        await ingest.put(pb.Document(id="a", markdown=version))
    done.set()
    await reading
    assert seen <= {(f"alpha {n}.", f"beta {n}.") for n in range(6)}
    assert len(seen) > 1
