"""The ranking service as search needs it."""

import math

from services.search import convert
from services.search.ports import Order, RankingTask
from services.shared.clients.ranking import RankingClient
from services.shared.runtime.errors import Internal, InvalidInput


class RankingService:
    """Implements `Ranker` over gRPC."""

    def __init__(self, client: RankingClient) -> None:
        self._client = client

    async def rank(self, task: RankingTask, *, timeout_s: float) -> Order:
        """See `Ranker.rank`."""
        try:
            response = await self._client.rank(convert.ranking_task_to_proto(task), timeout_s=timeout_s)
        except InvalidInput as error:
            group, _, setting = (error.field or "").partition(".")
            if group == "settings":  # which our caller gave us under another name
                raise InvalidInput(error.message, field=f"ranking.{setting}") from None
            raise Internal(f"ranking refused {error.field}: {error.message}") from None
        given = sorted(candidate.chunk_id for candidate in task.candidates)
        if sorted(convert.candidates_accounted_for(response)) != given:
            raise Internal("ranking gave back other candidates than it was given")
        order = convert.order_from_proto(response)
        if not all(math.isfinite(hit.score) for hit in order.ranked):
            raise Internal("ranking gave a score that is no number")
        return order
