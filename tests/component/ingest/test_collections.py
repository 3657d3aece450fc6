"""Creating, changing and deleting collections through the service."""

import grpc
import pytest

from plumbline.ingest.v1 import ingest_pb2 as pb
from services.shared.runtime.errors import NotFound
from tests.component.ingest.conftest import TIMEOUT_S, Ingest


async def refused(call) -> tuple[grpc.StatusCode, str | None]:
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await call
    field = dict(list(failure.value.trailing_metadata())).get("plumbline-error-field-bin")
    return failure.value.code(), field.decode() if field else None


async def test_the_same_declaration_again_changes_nothing_and_another_one_is_refused(ingest: Ingest) -> None:
    notes = pb.Collection(name="notes", profile="docs", locale="en", fields={"year": 2, "draft": 5, "topic": 1})
    again = await ingest.stub.CreateCollection(pb.CreateCollectionRequest(collection=notes), timeout=TIMEOUT_S)
    assert not again.created
    assert again.generation_id == (await ingest.catalog.collections.get("notes")).active.id
    notes.locale = "tr"
    call = ingest.stub.CreateCollection(pb.CreateCollectionRequest(collection=notes), timeout=TIMEOUT_S)
    assert await refused(call) == (grpc.StatusCode.ALREADY_EXISTS, "locale")
    assert await ingest.index.generations() == [again.generation_id]


BAD_SETTING = '{"retrieval": {"rrf_k": 0}}'


@pytest.mark.parametrize(
    ("field", "collection"),
    [
        ("name", pb.Collection(name="Not a name", profile="docs", locale="en")),
        ("profile", pb.Collection(name="x", profile="book", locale="en")),
        ("locale", pb.Collection(name="x", profile="docs", locale="english please")),
        ("fields.title", pb.Collection(name="x", profile="docs", locale="en", fields={"title": 1})),
        ("fields.year", pb.Collection(name="x", profile="docs", locale="en", fields={"year": 0})),
        ("settings", pb.Collection(name="x", profile="docs", locale="en", settings_json="{")),
        ("settings.retrieval.rrf_k", pb.Collection(name="x", profile="docs", locale="en", settings_json=BAD_SETTING)),
    ],
)  # fmt: skip
async def test_a_bad_declaration_names_its_part_and_creates_nothing(
    ingest: Ingest, field: str, collection: pb.Collection
) -> None:
    call = ingest.stub.CreateCollection(pb.CreateCollectionRequest(collection=collection), timeout=TIMEOUT_S)
    assert await refused(call) == (grpc.StatusCode.INVALID_ARGUMENT, field)
    assert len(await ingest.index.generations()) == 1


async def test_a_deleted_collection_is_gone_with_its_index(ingest: Ingest) -> None:
    await ingest.put(pb.Document(id="a", text="Some text."))
    await ingest.stub.DeleteCollection(pb.DeleteCollectionRequest(name="notes"), timeout=TIMEOUT_S)
    assert await ingest.index.generations() == []
    with pytest.raises(NotFound):
        await ingest.catalog.collections.get("notes")
    call = ingest.stub.DeleteCollection(pb.DeleteCollectionRequest(name="notes"), timeout=TIMEOUT_S)
    assert await refused(call) == (grpc.StatusCode.NOT_FOUND, "collection")


async def test_settings_are_replaced_whole(ingest: Ingest) -> None:
    for settings in ('{"retrieval": {"rrf_k": 20}}', '{"answer": {"same_field": "year"}}'):
        request = pb.UpdateCollectionRequest(name="notes", settings_json=settings)
        await ingest.stub.UpdateCollection(request, timeout=TIMEOUT_S)
    resolved = (await ingest.catalog.collections.get("notes")).declaration.resolved_settings()
    assert (resolved.retrieval.rrf_k, resolved.answer.same_field) == (60, "year")
