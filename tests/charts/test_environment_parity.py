"""What the chart tells a process is what that process understands."""

import os

import pytest

from charts.settings_schema import KINDS
from services.gateway.settings import GatewaySettings
from services.local.settings import LocalSettings
from services.shared.runtime.settings import ProcessSettings, read_settings
from tests.charts.rendering import SERVICES, Object, containers, environment, trial_pod

_CHOSEN: Object = {
    "weights": {"claim": "models"},
    "defaults": {"settings": {"log_level": "debug", "otlp_endpoint": "traces:4317", "grace_s": 45}},
    "services": {
        "gateway": {"settings": {"max_upload_bytes": 2**40, "status_timeout_s": 0.25}},
        "search": {"secrets": {"cursor_secret": {"name": "cursors", "key": "secret"}}},
        "answer": {
            "settings": {"llm_url": "http://llm:8000", "llm_model": "small"},
            "secrets": {"llm_api_key": {"name": "llm", "key": "api-key"}},
        },
    },
}  # fmt: skip


def read(service: str, values: Object | None, monkeypatch: pytest.MonkeyPatch) -> ProcessSettings:
    """The service's own settings from its container's environment; SystemExit when it would refuse to start."""
    for variable in list(os.environ):
        if variable.startswith("PLUMBLINE_"):
            monkeypatch.delenv(variable)
    for variable, value in environment(containers(trial_pod(values))[service]).items():
        # A reference is a number of cores or a secret; each of them may be this.
        monkeypatch.setenv(
            variable, value if isinstance(value, str) else "1" if "resourceFieldRef" in value else "s" * 16
        )
    return read_settings(KINDS[service])


@pytest.mark.parametrize("values", [None, _CHOSEN], ids=["defaults", "chosen"])
@pytest.mark.parametrize("service", sorted(SERVICES))
def test_each_variable_is_a_setting_and_each_required_setting_is_given(
    service: str, values: Object | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = read(service, values, monkeypatch)
    assert settings.host == "127.0.0.1"
    assert settings.grace_s == (45 if values else 30)


def test_numbers_arrive_as_they_were_written(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read("gateway", _CHOSEN, monkeypatch)
    assert isinstance(settings, GatewaySettings)
    assert (settings.max_upload_bytes, settings.status_timeout_s) == (2**40, 0.25)


def test_every_target_is_the_port_that_service_listens_on() -> None:
    told = {name: environment(container) for name, container in containers(trial_pod()).items()}
    targets = {
        (name, variable): value
        for name, variables in told.items()
        for variable, value in variables.items()
        if variable.endswith("_TARGET")
    }
    assert len(targets) == 12
    for (name, variable), value in targets.items():
        called = variable.removeprefix(f"PLUMBLINE_{name.upper()}_").removesuffix("_TARGET").lower()
        assert value == f"127.0.0.1:{told[called][f'PLUMBLINE_{called.upper()}_PORT']}"


def test_secrets_are_references() -> None:
    told = environment(containers(trial_pod(_CHOSEN))["answer"])
    assert told["PLUMBLINE_ANSWER_LLM_API_KEY"] == {"secretKeyRef": {"name": "llm", "key": "api-key"}}


def test_weights_are_fetched_by_the_command_and_settings_of_the_local_set_up() -> None:
    (fetching,) = trial_pod()["initContainers"]
    told = environment(fetching)
    settings = {variable for variable in told if variable.lower() in LocalSettings.model_fields}
    assert settings == {"MODEL", "XDG_CACHE_HOME"}
    served = environment(containers(trial_pod())["embedding"])
    assert served["PLUMBLINE_EMBEDDING_MODEL"] == told["MODEL"]
    local = LocalSettings(model=told["MODEL"], xdg_cache_home=told["XDG_CACHE_HOME"])
    assert served["PLUMBLINE_EMBEDDING_MODELS"] == str(local.models_folder)
