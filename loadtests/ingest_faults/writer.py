"""The caller: makes the calls in their order, and repeats what was not answered."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc

from loadtests.ingest_faults.corpus import Put, Write
from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceStub
from plumbline.search.v1.filter_pb2 import Value
from plumbline.search.v1.search_pb2 import FIELD_TYPE_INTEGER

_CALL_TIMEOUT_S = 20.0
_REPEAT_AFTER_S = 0.1
# What a caller repeats: nothing was answered, or the service says to come back.
_REPEATED = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.CANCELLED,
)

_Reply = TypeVar("_Reply")


@dataclass(slots=True)
class Writer:
    """Writes into one collection over `channel`; `repeated` counts calls that were made again."""

    channel: grpc.aio.Channel
    collection: str
    repeated: int = 0
    jobs: list[str] = field(default_factory=list)

    async def create(self) -> None:
        """Make the collection."""
        collection = pb.Collection(
            name=self.collection, profile="plain", locale="en", fields={"year": FIELD_TYPE_INTEGER}
        )
        await self._answered(lambda stub: stub.CreateCollection, pb.CreateCollectionRequest(collection=collection))

    async def delete(self) -> None:
        """Remove the collection."""
        await self._answered(lambda stub: stub.DeleteCollection, pb.DeleteCollectionRequest(name=self.collection))

    async def write(self, calls: Sequence[Write]) -> None:
        """Make the calls one after the other; each is accepted before the next is made."""
        for number, call in enumerate(calls):
            request: pb.PutDocumentsRequest | pb.DeleteDocumentsRequest
            if isinstance(call, Put):
                documents = [
                    pb.Document(
                        id=one.id,
                        title=one.id,
                        text="\n\n".join(one.paragraphs),
                        metadata={"year": Value(integer=one.year)},
                    )
                    for one in call.documents
                ]
                # A call that was accepted and not answered is known by its key.
                key = f"{self.collection}-{number}"
                request = pb.PutDocumentsRequest(collection=self.collection, documents=documents, idempotency_key=key)
                reply = await self._answered(lambda stub: stub.PutDocuments, request)
            else:
                request = pb.DeleteDocumentsRequest(collection=self.collection, document_ids=call.ids)
                reply = await self._answered(lambda stub: stub.DeleteDocuments, request)
            self.jobs.append(reply.job_id)

    async def _answered(
        self, method: Callable[[IngestServiceStub], Callable[..., Coroutine[Any, Any, _Reply]]], request: Any
    ) -> Any:
        stub = IngestServiceStub(self.channel)
        while True:
            try:
                return await method(stub)(request, timeout=_CALL_TIMEOUT_S)
            except grpc.aio.AioRpcError as error:
                if error.code() not in _REPEATED:
                    raise
                self.repeated += 1
                await asyncio.sleep(_REPEAT_AFTER_S)
