"""`python -m services.ingest` serves the write side."""

from services.ingest.settings import IngestSettings
from services.ingest.wiring import build
from services.shared.runtime.server import run

if __name__ == "__main__":
    run("ingest", IngestSettings, build)
