"""The answer service as the gateway's port."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from services.gateway import convert
from services.gateway.bodies.answers import AnswerBody, AnswerEvent
from services.gateway.ports import KnownCollection
from services.shared.clients.answer import AnswerClient
from services.shared.runtime.call import current_call


class AnswerService:
    """Answers over gRPC."""

    def __init__(self, client: AnswerClient, *, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def answer(self, body: AnswerBody, known: KnownCollection) -> AsyncGenerator[AnswerEvent, None]:
        """See `Answerer`."""
        call = current_call()
        request_id = call.request_id if call else ""
        request = convert.answer_to_proto(body, known)
        async with aclosing(self._client.answer(request, timeout_s=self._timeout_s)) as replies:
            async for reply in replies:
                yield convert.event_from_proto(reply, request_id=request_id, stale=known.stale)
