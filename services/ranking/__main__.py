"""`python -m services.ranking` serves ranking."""

from services.ranking.settings import RankingServiceSettings
from services.ranking.wiring import build
from services.shared.runtime.server import run

if __name__ == "__main__":
    run("ranking", RankingServiceSettings, build)
