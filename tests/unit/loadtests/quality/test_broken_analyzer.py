import pytest

from loadtests.quality.broken_analyzer import analyze_as_turkish
from services.search.domain import keywords


def test_the_fault_reaches_the_keyword_leg(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = keywords.keyword_tokens("running shoes", "en", {})
    monkeypatch.setattr(keywords, "analyze_query", analyze_as_turkish)
    assert whole == ["w:running", "s:run", "w:shoes", "s:shoe"]
    assert keywords.keyword_tokens("running shoes", "en", {}) == ["w:running", "s:runningi", "w:shoes", "s:shoes"]
