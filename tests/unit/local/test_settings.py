from pathlib import Path

import pytest

from services.local.failure import Failure
from services.local.settings import DEFAULT_MODEL, LocalSettings, read_settings

VARIABLES = [name.upper() for name in LocalSettings.model_fields]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_without_variables_the_laptop_defaults_hold() -> None:
    settings = read_settings()
    assert (settings.port, settings.data, settings.model) == (8080, Path(".plumbline"), DEFAULT_MODEL)
    assert settings.sample is True
    assert settings.models_folder == Path.home() / ".cache" / "plumbline" / "models"


@pytest.mark.parametrize("name", VARIABLES)
def test_an_empty_variable_counts_as_not_given(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "")
    assert read_settings() == LocalSettings()


def test_zero_leaves_the_samples_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMPLE", "0")
    assert read_settings().sample is False


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"PORT": "70000"}, "PORT: Input should be less than or equal to 65535"),
        ({"PORT": "http"}, "PORT: Input should be a valid integer"),
        ({"INDEX": "postgres"}, "INDEX: Input should be 'lancedb'"),
        ({"LLM_URL": "localhost:8000", "LLM_MODEL": "m"}, "LLM_URL: String should match pattern"),
        ({"LLM_URL": "http://localhost:8000/v1"}, "LLM_URL and LLM_MODEL belong together"),
        ({"LLM_MODEL": "m"}, "LLM_URL and LLM_MODEL belong together"),
    ],
)
def test_a_wrong_value_is_one_sentence_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sentence: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Failure, match="^" + sentence):
        read_settings()
