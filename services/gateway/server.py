"""The life of the gateway's process: listen, become ready, serve, drain on SIGTERM, leave with exit code 0."""

import asyncio
import logging
import math
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
import uvicorn
from starlette.types import ASGIApp

from services.gateway.readiness import Readiness
from services.gateway.settings import GatewaySettings
from services.shared.runtime.errors import InvalidInput, PlumblineError
from services.shared.runtime.logs import configure_logs
from services.shared.runtime.process_life import live
from services.shared.runtime.server import Closable
from services.shared.runtime.settings import read_settings
from services.shared.runtime.telemetry import Telemetry, build_telemetry, otlp_processor
from services.shared.runtime.version import VERSION

log = structlog.get_logger()

# Between two tries to become ready while the catalog is not there yet.
_READY_RETRY_S = 0.2
_BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class App:
    """The gateway as its wiring built it.

    `become_ready` returns once requests can be served and may raise a PlumblineError, then it is asked again, or
    InvalidInput, when waiting cannot help. `closables` are closed in reverse order.
    """

    asgi: ASGIApp
    readiness: Readiness
    become_ready: Callable[[], Awaitable[None]]
    closables: Sequence[Closable]


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers, which would end streams before the drain."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class RunningGateway:
    """A started gateway; `port` is the one it listens on."""

    def __init__(self, settings: GatewaySettings, app: App, telemetry: Telemetry) -> None:
        self._settings = settings
        self._app = app
        self._telemetry = telemetry
        self._server = _Server(
            uvicorn.Config(
                app.asgi,
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="warning",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=math.ceil(settings.grace_s),
            )
        )
        self._serving: asyncio.Task[None] | None = None
        self.port = 0

    async def start(self) -> None:
        """Listen; /readyz says 503 still. Raises SystemExit with one sentence when the port is taken."""
        listener = _listen(self._settings)
        self.port = listener.getsockname()[1]
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))

    async def become_ready(self) -> None:
        """Wait until requests can be served. Raises SystemExit with one sentence when waiting cannot help."""
        said = ""
        while True:
            try:
                await self._app.become_ready()
                break
            except InvalidInput as error:
                variable = f"{self._settings.environment_prefix}{(error.field or '').upper()}"
                raise SystemExit(f"refusing to start: {variable}: {error.message}") from None
            except PlumblineError as error:
                if error.message != said:
                    said = error.message
                    log.warning("not_ready", reason=said)
                await asyncio.sleep(_READY_RETRY_S)
        self._app.readiness.become_ready()
        log.info("serving", port=self.port)

    async def serve(self) -> None:
        """Become ready and serve until cancelled."""
        await self.become_ready()
        if self._serving is not None:
            await asyncio.shield(self._serving)

    async def stop(self) -> None:
        """Not ready, wait for callers to see it, finish what runs within the grace, close, flush."""
        self._app.readiness.drain()
        await asyncio.sleep(self._settings.drain_s)
        self._server.should_exit = True
        if self._serving is not None:
            await self._serving
        for closable in reversed(self._app.closables):
            await closable.close()
        await asyncio.to_thread(self._telemetry.flush)


def _listen(settings: GatewaySettings) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    # A port whose last connections still fade away is free; one that another process listens on is not.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError:
        variable = f"{settings.environment_prefix}PORT"
        raise SystemExit(f"port {settings.port} on {settings.host} is taken; free it or set {variable}") from None
    listener.listen(_BACKLOG)
    return listener


def run(build: Callable[[GatewaySettings, Telemetry], Awaitable[App]]) -> None:
    """Run the gateway until SIGTERM or SIGINT; exits 0 after a drain, 2 when its settings are wrong."""
    settings = read_settings(GatewaySettings)
    configure_logs("gateway", settings.log_level)
    for library in ("sse_starlette", "python_multipart"):  # their debug lines hold what passes through
        logging.getLogger(library).setLevel(logging.INFO)
    telemetry = build_telemetry("gateway", VERSION, processor=otlp_processor(settings.otlp_endpoint))

    async def built_and_live() -> int:
        return await live(RunningGateway(settings, await build(settings, telemetry), telemetry))

    sys.exit(asyncio.run(built_and_live()))
