"""`python -m services.search` serves search."""

from services.search.settings import SearchSettings
from services.search.wiring import build
from services.shared.runtime.server import run

if __name__ == "__main__":
    run("search", SearchSettings, build)
