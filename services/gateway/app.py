"""The HTTP application: all routes over the ports, whatever is behind them."""

from dataclasses import dataclass
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from services.gateway.address import check_parameters
from services.gateway.known_collections import KnownCollections
from services.gateway.metrics import GatewayMetrics
from services.gateway.middleware import RequestMiddleware
from services.gateway.ports import Answerer, CatalogReader, Ingester, JudgmentStore, Searcher, System
from services.gateway.problems import PROBLEM_MEDIA_TYPE, Problem, add_problem_handlers
from services.gateway.readiness import Readiness
from services.gateway.routes.answers import answer_routes
from services.gateway.routes.collections import collection_routes
from services.gateway.routes.console import console_routes
from services.gateway.routes.documents import document_routes
from services.gateway.routes.files import file_routes
from services.gateway.routes.generations import generation_routes
from services.gateway.routes.jobs import job_routes
from services.gateway.routes.judgments import judgment_routes
from services.gateway.routes.search import search_routes
from services.gateway.routes.status import status_routes
from services.gateway.settings import GatewaySettings
from services.shared.runtime.telemetry import Telemetry
from services.shared.runtime.version import VERSION

_PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "description": "The request cannot be served as it is."},
    "5XX": {"model": Problem, "description": "A part failed or does not answer."},
}


class _DescribedApp(FastAPI):
    """Its description has problems under their own media type; the framework puts every model under that of JSON."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            for path in super().openapi()["paths"].values():
                for operation in path.values():
                    for status in _PROBLEMS:
                        content = operation["responses"][status]["content"]
                        content[PROBLEM_MEDIA_TYPE] = content.pop("application/json")
        return super().openapi()


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything that the routes talk to."""

    searcher: Searcher
    answerer: Answerer
    ingester: Ingester
    catalog: CatalogReader
    judgments: JudgmentStore
    system: System


def http_app(
    ports: Ports, settings: GatewaySettings, telemetry: Telemetry, metrics: GatewayMetrics, readiness: Readiness
) -> FastAPI:
    """The application; every response has a request id, every error is a problem document."""
    # The interactive pages load their scripts from another origin, so only the document itself is served.
    app = _DescribedApp(
        title="Plumbline",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=_PROBLEMS,
    )
    known_collections = KnownCollections(ports.catalog, stale=metrics.stale_collections)
    body = settings.max_body_bytes
    routers = [
        search_routes(ports.searcher, known_collections, max_body_bytes=body),
        answer_routes(ports.answerer, known_collections, max_body_bytes=body),
        collection_routes(ports.catalog, ports.ingester, known_collections, max_body_bytes=body),
        generation_routes(ports.catalog, ports.ingester, known_collections, max_body_bytes=body),
        document_routes(ports.catalog, ports.ingester, ports.searcher, max_body_bytes=body),
        judgment_routes(ports.catalog, ports.judgments, max_body_bytes=body),
        file_routes(ports.ingester, max_upload_bytes=settings.max_upload_bytes),
        job_routes(ports.catalog, ports.ingester),
        status_routes(ports.system, ports.catalog, readiness, telemetry.registry),
    ]
    for router in routers:
        app.include_router(router, dependencies=[Depends(check_parameters)])
    routers.append(console_routes())  # whose page reads its parameters itself
    app.include_router(routers[-1])
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    metrics.serve((route.path, method) for route in routes for method in route.methods or ())
    add_problem_handlers(app, routes)
    app.add_middleware(RequestMiddleware, telemetry=telemetry, metrics=metrics, longest_s=settings.longest_request_s)
    return app
