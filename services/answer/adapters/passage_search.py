"""The search service as the pipeline's port."""

from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.answer import convert
from services.answer.domain.found import Found
from services.answer.domain.question import Question
from services.shared.clients.search import SERVICE, SearchClient
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput


class GrpcPassageSearch:
    """Searches over gRPC for the `passages` best hits."""

    def __init__(self, client: SearchClient, *, passages: int, timeout_s: float) -> None:
        self._client = client
        self._passages = passages
        self._timeout_s = timeout_s

    async def find(self, question: Question) -> Found:
        """See `PassageSearch`."""
        request = convert.search_to_proto(question, limit=self._passages)
        try:
            response = await self._client.search(request, timeout_s=self._timeout_s)
        except InvalidInput as error:
            field = "question" if error.field == "query" else error.field
            raise InvalidInput(error.message, field=field) from None
        return convert.found_from_proto(response)

    async def answered(self) -> None:
        """Return once the service serves. Raises DependencyUnavailable while it does not."""
        response = await self._client.peer.call(
            health_pb2_grpc.HealthStub(self._client.peer.channel).Check,
            health_pb2.HealthCheckRequest(service=SERVICE.full_name),
            rpc="Check",
            timeout_s=self._timeout_s,
            read=True,
        )
        if response.status != health_pb2.HealthCheckResponse.SERVING:
            raise DependencyUnavailable("search does not serve yet")
