"""`python -m services.answer` serves answers."""

from services.answer.settings import AnswerServiceSettings
from services.answer.wiring import build
from services.shared.runtime.server import run

if __name__ == "__main__":
    run("answer", AnswerServiceSettings, build)
