"""`POST /v1/answers`: a stream of events, or one object."""

from collections.abc import AsyncGenerator

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from services.gateway.bodies.answers import EVENT_NAMES, Answer, AnswerBody, AnswerEvent, ErrorEvent, Mode
from services.gateway.json_route import json_route
from services.gateway.known_collections import KnownCollections
from services.gateway.ports import Answerer
from services.gateway.problems import problem_of_exception
from services.gateway.streaming import begun, event_stream, while_connected
from services.gateway.whole_answer import whole_answer


def answer_routes(answerer: Answerer, known_collections: KnownCollections, *, max_body_bytes: int) -> APIRouter:
    """Answers."""
    router = APIRouter(tags=["answers"], route_class=json_route(max_body_bytes))

    @router.post("/v1/answers", response_model=Answer)
    async def answer(body: AnswerBody, request: Request) -> Answer | Response:
        """An answer from the documents with citations, or a refusal; after consent, from general knowledge.

        With `stream` the events are `sources`, `delta`, `citation`, `unsupported`, `refusal`, `done` and `error`.
        """
        events = answerer.answer(body, await known_collections.get(body.collection))
        if not body.stream:
            return await while_connected(request, whole_answer(events))
        first_is_there = await while_connected(request, begun(events))
        return event_stream(_named(first_is_there, body.mode))

    return router


async def _named(events: AsyncGenerator[AnswerEvent, None], mode: Mode) -> AsyncGenerator[tuple[str, BaseModel], None]:
    """Events with their names; a failure after the first one is told as the event `error`."""
    try:
        async for event in events:
            yield EVENT_NAMES[type(event)], event
    except Exception as error:
        failure = ErrorEvent(mode=mode, **problem_of_exception(error).model_dump())
        yield EVENT_NAMES[ErrorEvent], failure
    finally:
        await events.aclose()
