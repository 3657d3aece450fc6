"""What the gateway needs of the services behind it, in the words of its own bodies."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from services.gateway.bodies.answers import AnswerBody, AnswerEvent
from services.gateway.bodies.collections import CollectionBody, CollectionView
from services.gateway.bodies.documents import ChunkView, DocumentBody
from services.gateway.bodies.generations import BuildBegun, BuildBody, PromoteBody, Promotion, RolledBack
from services.gateway.bodies.jobs import JobView
from services.gateway.bodies.search import SearchBody, SearchPage
from services.gateway.bodies.status import GeneratorStatus, ModelStatus, ServiceStatus
from services.shared.catalog.collection_settings import CollectionSettings
from services.shared.catalog.collections import Collection
from services.shared.catalog.documents import Document, DocumentPage
from services.shared.catalog.jobs import Failure, Job
from services.shared.catalog.judgments import Judgment, JudgmentPage
from services.shared.catalog.manifest import Generation
from services.shared.index.fields import FieldValue


@dataclass(frozen=True, slots=True)
class KnownCollection:
    """A collection with the settings that hold for it; `stale` when the catalog did not answer this time."""

    collection: Collection
    settings: CollectionSettings
    stale: bool = False


@dataclass(frozen=True, slots=True)
class FileBegins:
    """The next pieces are the bytes of this file; `media_type` is what the caller says, possibly empty."""

    name: str
    media_type: str


class Searcher(Protocol):
    """The search service. Raises what it raises, and DependencyUnavailable when it does not answer."""

    async def search(self, body: SearchBody, known: KnownCollection) -> SearchPage:
        """A page of hits."""
        ...

    async def chunks(self, collection: str, document_id: str) -> list[ChunkView]:
        """The chunks of a document in document order."""
        ...


class Answerer(Protocol):
    """The answer service."""

    def answer(self, body: AnswerBody, known: KnownCollection) -> AsyncGenerator[AnswerEvent, None]:
        """The events of one answer; closing the generator stops the work at once.

        Raises the service's error, also after the first event when the answer cannot be finished.
        """
        ...


class Ingester(Protocol):
    """The ingest service: all writes."""

    async def create_collection(self, body: CollectionBody) -> CollectionView | None:
        """The collection when it is new, with its empty generation; None for the same declaration again."""
        ...

    async def replace_settings(self, name: str, settings: Mapping[str, object]) -> None:
        """Make `settings` the collection's only overrides."""
        ...

    async def delete_collection(self, name: str) -> None:
        """Delete a collection with all that belongs to it."""
        ...

    async def put_documents(self, collection: str, documents: Sequence[DocumentBody]) -> str:
        """The job of these documents."""
        ...

    async def delete_document(self, collection: str, document_id: str) -> str:
        """The job of this deletion."""
        ...

    async def upload(
        self, collection: str, metadata: Mapping[str, FieldValue], pieces: AsyncIterator[FileBegins | bytes]
    ) -> str:
        """The job of these files; an error that `pieces` raises is raised again and nothing is accepted."""
        ...

    def watch(self, job_id: str) -> AsyncGenerator[JobView, None]:
        """The job now and after each change, until it has ended."""
        ...

    async def cancel(self, job_id: str) -> JobView:
        """The job after what had not begun was cancelled."""
        ...

    async def build_generation(self, collection: str, body: BuildBody) -> BuildBegun:
        """The generation that is being built from now on."""
        ...

    async def promote_generation(self, collection: str, generation_id: str, body: PromoteBody) -> Promotion:
        """What serves now. Raises Conflict when the generation is not ready or the gate fails."""
        ...

    async def roll_back_generation(self, collection: str) -> RolledBack:
        """What serves now. Raises Conflict when there is nothing to go back to."""
        ...


class CatalogReader(Protocol):
    """What the gateway reads itself, so that reads go on while ingest is away. Raises DependencyUnavailable."""

    async def collection(self, name: str) -> Collection:
        """Raises NotFound."""
        ...

    async def collections(self) -> tuple[Collection, ...]:
        """All by name."""
        ...

    async def generations(self, collection: str) -> tuple[Generation, ...]:
        """Those of the collection, newest first."""
        ...

    async def document(self, collection: str, document_id: str) -> Document:
        """Raises NotFound naming `document_id`, or `collection` when that is not there."""
        ...

    async def documents(self, collection: str, *, after: str | None, limit: int) -> DocumentPage:
        """In the order of ids. Raises NotFound."""
        ...

    async def job(self, job_id: str) -> Job:
        """Raises NotFound."""
        ...

    async def failures(self, job_id: str) -> tuple[Failure, ...]:
        """The first 100."""
        ...

    async def jobs(self, *, collection: str | None, limit: int) -> tuple[Job, ...]:
        """Newest first."""
        ...


class JudgmentStore(Protocol):
    """The judged queries, which the gateway itself keeps. Raises DependencyUnavailable."""

    async def put_judgments(self, collection: str, judged: Sequence[Judgment]) -> None:
        """All of them, each in place of the one with its id. Raises NotFound."""
        ...

    async def judgments(self, collection: str, *, after: str | None, limit: int) -> JudgmentPage:
        """In the order of ids. Raises NotFound."""
        ...


class System(Protocol):
    """The state of all services. Nothing here raises because a service is away."""

    async def services(self) -> dict[str, ServiceStatus]:
        """Each of the five services behind the gateway."""
        ...

    async def model(self) -> ModelStatus | None:
        """The embedding model, None when embedding does not answer."""
        ...

    async def generator(self) -> GeneratorStatus | None:
        """What writes answers, None when answer does not answer."""
        ...
