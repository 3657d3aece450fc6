"""The state of the whole system for people, of this process for machines, and its metrics."""

import asyncio
from http import HTTPStatus

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from services.gateway.bodies.status import ServiceStatus, SystemStatus
from services.gateway.ports import CatalogReader, System
from services.gateway.readiness import Readiness
from services.shared.runtime.errors import DependencyUnavailable
from services.shared.runtime.version import VERSION

# What a caller misses while a service is away.
_DEGRADED = {"embedding": "vector"}


def status_routes(
    system: System, catalog: CatalogReader, readiness: Readiness, registry: CollectorRegistry
) -> APIRouter:
    """Status, probes, metrics."""
    router = APIRouter(tags=["status"])

    @router.get("/v1/status")
    async def status() -> SystemStatus:
        """Every service's state and version, the model, the generator, and what is degraded."""
        services, model, generator, catalog_answers = await asyncio.gather(
            system.services(), system.model(), system.generator(), _answers(catalog)
        )
        away = [name for name, service in services.items() if service.state != "serving"]
        degraded = [_DEGRADED.get(name, name) for name in away] + ([] if catalog_answers else ["catalog"])
        gateway = ServiceStatus(state="serving" if readiness.is_ready else "not_serving", version=VERSION)
        return SystemStatus(
            ready=not degraded and readiness.is_ready,
            services={"gateway": gateway, **services},
            model=model,
            generator=generator,
            degraded=sorted(degraded),
        )

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz")
    async def healthz() -> dict[str, str]:
        """The process lives; asks nobody."""
        return {"status": "alive"}

    @router.head("/readyz", include_in_schema=False)
    @router.get("/readyz")
    async def readyz(response: Response) -> dict[str, str]:
        """200 when this process can serve, 503 before its catalog has answered and while it ends."""
        if not readiness.is_ready:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        return {"status": readiness.state}

    @router.head("/metrics", include_in_schema=False)
    @router.get("/metrics")
    async def metrics() -> Response:
        """All instruments in Prometheus' text format."""
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return router


async def _answers(catalog: CatalogReader) -> bool:
    try:
        await catalog.jobs(collection=None, limit=1)
    except DependencyUnavailable:
        return False
    return True
