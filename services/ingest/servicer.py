"""The gRPC edge of ingest: decode, call, encode."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from plumbline.ingest.v1 import ingest_pb2 as pb
from plumbline.ingest.v1.ingest_pb2_grpc import IngestServiceServicer, add_IngestServiceServicer_to_server
from services.ingest import convert
from services.ingest.accepting import Acceptance
from services.ingest.collections import CollectionKeeper
from services.ingest.generations import GenerationKeeper
from services.ingest.progress import progress_of, watch
from services.shared.catalog.catalog import Catalog

SERVICE: ServiceDescriptor = pb.DESCRIPTOR.services_by_name["IngestService"]

Context = grpc.aio.ServicerContext[Any, Any]


class IngestServicer(IngestServiceServicer):
    """Collections, documents, files, jobs and generations. RPCs of sources answer UNIMPLEMENTED in this version."""

    def __init__(
        self,
        catalog: Catalog,
        collections: CollectionKeeper,
        acceptance: Acceptance,
        generations: GenerationKeeper,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._catalog = catalog
        self._collections = collections
        self._acceptance = acceptance
        self._generations = generations
        self._clock = clock

    async def CreateCollection(
        self, request: pb.CreateCollectionRequest, context: Context
    ) -> pb.CreateCollectionResponse:
        """See `IngestService.CreateCollection`."""
        collection, created = await self._collections.create(convert.declaration_from_proto(request.collection))
        return pb.CreateCollectionResponse(
            collection=convert.collection_to_proto(collection), generation_id=collection.active.id, created=created
        )

    async def UpdateCollection(
        self, request: pb.UpdateCollectionRequest, context: Context
    ) -> pb.UpdateCollectionResponse:
        """See `IngestService.UpdateCollection`."""
        overrides = convert.overrides_from_proto(request.settings_json)
        collection = await self._collections.replace_settings(request.name, overrides)
        return pb.UpdateCollectionResponse(collection=convert.collection_to_proto(collection))

    async def DeleteCollection(
        self, request: pb.DeleteCollectionRequest, context: Context
    ) -> pb.DeleteCollectionResponse:
        """See `IngestService.DeleteCollection`."""
        await self._collections.delete(request.name)
        return pb.DeleteCollectionResponse()

    async def PutDocuments(self, request: pb.PutDocumentsRequest, context: Context) -> pb.PutDocumentsResponse:
        """See `IngestService.PutDocuments`."""
        documents = convert.documents_from_proto(request)
        job = await self._acceptance.put_documents(
            request.collection, documents, idempotency_key=request.idempotency_key or None
        )
        return pb.PutDocumentsResponse(job_id=job.id)

    async def UploadFiles(
        self, request_iterator: AsyncIterator[pb.UploadFilesRequest], context: Context
    ) -> pb.UploadFilesResponse:
        """See `IngestService.UploadFiles`."""
        upload = convert.UploadParts(request_iterator)
        start = await upload.start()
        job = await self._acceptance.upload_files(
            start.collection,
            convert.metadata_from_proto(start.metadata),
            upload.files(),
            idempotency_key=start.idempotency_key or None,
        )
        return pb.UploadFilesResponse(job_id=job.id)

    async def DeleteDocuments(self, request: pb.DeleteDocumentsRequest, context: Context) -> pb.DeleteDocumentsResponse:
        """See `IngestService.DeleteDocuments`."""
        job = await self._acceptance.delete_documents(request.collection, list(request.document_ids))
        return pb.DeleteDocumentsResponse(job_id=job.id)

    async def WatchJob(self, request: pb.WatchJobRequest, context: Context) -> AsyncIterator[pb.WatchJobResponse]:
        """See `IngestService.WatchJob`."""
        async for progress in watch(self._catalog, request.job_id):
            yield pb.WatchJobResponse(job=convert.progress_to_proto(progress))

    async def CancelJob(self, request: pb.CancelJobRequest, context: Context) -> pb.CancelJobResponse:
        """See `IngestService.CancelJob`."""
        job = await self._catalog.jobs.cancel(request.job_id, now=self._clock())
        return pb.CancelJobResponse(job=convert.progress_to_proto(await progress_of(self._catalog, job)))

    async def BuildGeneration(self, request: pb.BuildGenerationRequest, context: Context) -> pb.BuildGenerationResponse:
        """See `IngestService.BuildGeneration`."""
        generation, job_id = await self._generations.build(
            request.collection, model=request.model, profile=request.profile
        )
        sequence = (await self._catalog.collections.get(request.collection)).sequence
        return pb.BuildGenerationResponse(
            generation=convert.generation_to_proto(generation, sequence=sequence), job_id=job_id
        )

    async def PromoteGeneration(
        self, request: pb.PromoteGenerationRequest, context: Context
    ) -> pb.PromoteGenerationResponse:
        """See `IngestService.PromoteGeneration`."""
        promoted = await self._generations.promote(
            request.collection, request.generation_id, max_ndcg_loss=request.max_ndcg_loss
        )
        active, sequence = promoted.collection.active, promoted.collection.sequence
        return pb.PromoteGenerationResponse(
            generation=convert.generation_to_proto(active, sequence=sequence),
            gate=convert.figures_to_proto(promoted.figures),
        )

    async def RollBackGeneration(
        self, request: pb.RollBackGenerationRequest, context: Context
    ) -> pb.RollBackGenerationResponse:
        """See `IngestService.RollBackGeneration`."""
        collection = await self._generations.roll_back(request.collection)
        return pb.RollBackGenerationResponse(
            generation=convert.generation_to_proto(collection.active, sequence=collection.sequence)
        )

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register with a server."""
        add_IngestServiceServicer_to_server(self, server)
