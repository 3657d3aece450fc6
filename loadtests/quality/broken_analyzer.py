"""`python -m loadtests.quality.broken_analyzer`: the search service with a fault that a refactoring could bring in.

Every query is analysed as Turkish, whatever its locale, so that its stems are not those of the documents. Nothing fails
and every query finds something: only a comparison of figures notices.
"""

from services.search.domain import keywords
from services.search.settings import SearchSettings
from services.search.wiring import build
from services.shared.runtime.server import run
from services.shared.text.analyzer import analyze_query


def analyze_as_turkish(text: str, locale: str, *, surfaces_up_to: int | None = None) -> list[str]:
    """The fault."""
    return analyze_query(text, "tr", surfaces_up_to=surfaces_up_to)


if __name__ == "__main__":
    keywords.analyze_query = analyze_as_turkish  # type: ignore[attr-defined]
    run("search", SearchSettings, build)
