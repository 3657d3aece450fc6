"""The probe's script against real servers: one that is ready, one that only lives, and none."""

import asyncio
import subprocess
import sys
from asyncio.subprocess import PIPE
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from services.local.loopback import free_ports
from services.ranking.settings import RankingServiceSettings
from services.ranking.wiring import build
from services.shared.runtime.server import RunningServer
from tests.charts.rendering import CHART
from tests.fakes.serving import recorded_telemetry

PROBE = CHART / "files" / "probe.py"


async def probe(*arguments: str) -> tuple[int | None, str]:
    """Exit code, and what Kubernetes would show as the event's text."""
    process = await asyncio.create_subprocess_exec(sys.executable, str(PROBE), *arguments, stdout=PIPE, stderr=PIPE)
    _, said = await process.communicate()
    return process.returncode, said.decode().strip()


async def test_a_grpc_service_lives_before_it_is_ready() -> None:
    settings = RankingServiceSettings(port=0)
    telemetry = recorded_telemetry("ranking").telemetry
    server = RunningServer(settings, await build(settings, telemetry), telemetry)
    await server.start()
    port = str(server.port)
    try:
        assert await probe("alive", "grpc", port) == (0, "")
        assert await probe("ready", "grpc", port) == (1, f"port {port} answers NOT_SERVING")
        await server.become_ready()
        assert await probe("ready", "grpc", port) == (0, "")
    finally:
        await server.stop()


@pytest.mark.parametrize("protocol", ["grpc", "http"])
@pytest.mark.parametrize("question", ["ready", "alive"])
async def test_a_port_on_which_nothing_listens_fails_in_one_line(question: str, protocol: str) -> None:
    (port,) = free_ports(1)
    code, said = await probe(question, protocol, str(port))
    assert code == 1
    assert said.startswith(f"port {port} does not answer: ")
    assert "\n" not in said


def test_the_gateway_is_ready_when_readyz_says_so() -> None:
    class Starting(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/healthz" else 503)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Starting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        port = str(server.server_port)
        codes = {
            question: subprocess.run((sys.executable, PROBE, question, "http", port), check=False).returncode
            for question in ("alive", "ready")
        }
        server.shutdown()
    assert codes == {"alive": 0, "ready": 1}
