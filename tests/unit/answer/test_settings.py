import pytest
from pydantic import ValidationError

from services.answer.settings import AnswerServiceSettings


def settings(**fields: object) -> AnswerServiceSettings:
    return AnswerServiceSettings(port=0, search_target="s:1", embedding_target="e:1", **fields)


@pytest.mark.parametrize("fields", [{"llm_url": "http://llm:8000"}, {"llm_model": "m"}])
def test_a_language_model_needs_both_its_address_and_its_name(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="set both PLUMBLINE_ANSWER_LLM_URL and PLUMBLINE_ANSWER_LLM_MODEL"):
        settings(**fields)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://llm:8000", "http://llm:8000/v1"),
        ("http://llm:8000/", "http://llm:8000/v1"),
        ("http://llm:8000/v1/", "http://llm:8000/v1"),
        ("https://llm.example/openai/v1", "https://llm.example/openai/v1"),
    ],
)
def test_the_version_is_added_to_an_address_without_a_path(url: str, base: str) -> None:
    assert settings(llm_url=url, llm_model="m").llm_base_url == base


def test_without_a_language_model_there_is_no_address() -> None:
    assert settings().llm_base_url is None


def test_a_key_is_not_shown() -> None:
    assert "s3cret" not in repr(settings(llm_url="http://llm", llm_model="m", llm_api_key="s3cret"))
