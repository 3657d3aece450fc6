"""The ingest service as the gateway's port."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing

from services.gateway import convert
from services.gateway.bodies.collections import CollectionBody, CollectionView
from services.gateway.bodies.documents import DocumentBody
from services.gateway.bodies.generations import BuildBegun, BuildBody, PromoteBody, Promotion, RolledBack
from services.gateway.bodies.jobs import JobView
from services.gateway.ports import FileBegins
from services.shared.clients.ingest import IngestClient
from services.shared.index.fields import FieldValue


class IngestService:
    """Writes over gRPC."""

    def __init__(
        self,
        client: IngestClient,
        *,
        write_timeout_s: float,
        upload_timeout_s: float,
        watch_timeout_s: float,
        promote_timeout_s: float,
    ) -> None:
        self._client = client
        self._write_timeout_s = write_timeout_s
        self._upload_timeout_s = upload_timeout_s
        self._watch_timeout_s = watch_timeout_s
        self._promote_timeout_s = promote_timeout_s

    async def create_collection(self, body: CollectionBody) -> CollectionView | None:
        """See `Ingester`."""
        request = convert.collection_to_proto(body)
        reply = await self._client.create_collection(request, timeout_s=self._write_timeout_s)
        return convert.new_collection_from_proto(reply) if reply.created else None

    async def replace_settings(self, name: str, settings: Mapping[str, object]) -> None:
        """See `Ingester`."""
        await self._client.update_collection(convert.settings_to_proto(name, settings), timeout_s=self._write_timeout_s)

    async def delete_collection(self, name: str) -> None:
        """See `Ingester`."""
        request = convert.deletion_of_collection_to_proto(name)
        await self._client.delete_collection(request, timeout_s=self._write_timeout_s)

    async def put_documents(self, collection: str, documents: Sequence[DocumentBody]) -> str:
        """See `Ingester`."""
        request = convert.documents_to_proto(collection, documents)
        return (await self._client.put_documents(request, timeout_s=self._write_timeout_s)).job_id

    async def delete_document(self, collection: str, document_id: str) -> str:
        """See `Ingester`."""
        request = convert.deletion_to_proto(collection, document_id)
        return (await self._client.delete_documents(request, timeout_s=self._write_timeout_s)).job_id

    async def upload(
        self, collection: str, metadata: Mapping[str, FieldValue], pieces: AsyncIterator[FileBegins | bytes]
    ) -> str:
        """See `Ingester`."""
        requests = convert.upload_to_proto(collection, metadata, pieces)
        return (await self._client.upload_files(requests, timeout_s=self._upload_timeout_s)).job_id

    async def watch(self, job_id: str) -> AsyncGenerator[JobView, None]:
        """See `Ingester`."""
        request = convert.watch_to_proto(job_id)
        async with aclosing(self._client.watch_job(request, timeout_s=self._watch_timeout_s)) as replies:
            async for reply in replies:
                yield convert.job_from_proto(reply.job)

    async def cancel(self, job_id: str) -> JobView:
        """See `Ingester`."""
        request = convert.cancellation_to_proto(job_id)
        return convert.job_from_proto((await self._client.cancel_job(request, timeout_s=self._write_timeout_s)).job)

    async def build_generation(self, collection: str, body: BuildBody) -> BuildBegun:
        """See `Ingester`."""
        request = convert.build_to_proto(collection, body)
        return convert.build_from_proto(await self._client.build_generation(request, timeout_s=self._write_timeout_s))

    async def promote_generation(self, collection: str, generation_id: str, body: PromoteBody) -> Promotion:
        """See `Ingester`."""
        request = convert.promotion_to_proto(collection, generation_id, body)
        return convert.promotion_from_proto(
            await self._client.promote_generation(request, timeout_s=self._promote_timeout_s)
        )

    async def roll_back_generation(self, collection: str) -> RolledBack:
        """See `Ingester`."""
        request = convert.rollback_to_proto(collection)
        reply = await self._client.roll_back_generation(request, timeout_s=self._write_timeout_s)
        return convert.rollback_from_proto(reply)
