"""`python -m services.gateway` serves the HTTP API and the console."""

from services.gateway.server import run
from services.gateway.wiring import build

if __name__ == "__main__":
    run(build)
