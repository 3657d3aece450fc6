"""`python -m services.embedding` serves embedding."""

from services.embedding.settings import EmbeddingSettings
from services.embedding.wiring import build
from services.shared.runtime.server import run

if __name__ == "__main__":
    run("embedding", EmbeddingSettings, build)
