"""`python -m services.ingest` serves the write side; with a command it does that and ends."""

import sys

from services.ingest.commands import main
from services.ingest.settings import IngestSettings
from services.ingest.wiring import build
from services.shared.runtime.server import run

if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(main(sys.argv[1:]))
    run("ingest", IngestSettings, build)
