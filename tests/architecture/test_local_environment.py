"""`make run` tells every service exactly what its settings ask for: a variable too many or too few is found here."""

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from services.local.environment import SERVICES, Options, environment
from services.shared.runtime.settings import ProcessSettings

OPTIONS = [
    Options(data=Path("/data"), model="/models/a-model", otlp_port=1),
    Options(data=Path("/data"), model="/models/a-model", otlp_port=1, llm_url="http://l/v1", llm_model="x"),
]


def settings_class(service: str) -> type[ProcessSettings]:
    """The settings of the service itself; those of its commands are derived from them."""
    module = import_module(f"services.{service}.settings")
    found = {
        one
        for _, one in inspect.getmembers(module, inspect.isclass)
        if issubclass(one, ProcessSettings) and one.__module__ == module.__name__
    }
    (own,) = (one for one in found if found.isdisjoint(one.__mro__[1:]))
    return own


@pytest.mark.parametrize("options", OPTIONS, ids=["extractive", "language model"])
@pytest.mark.parametrize("service", SERVICES)
def test_what_a_service_is_told_are_its_settings(
    service: str, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = environment({name: 5000 for name in SERVICES}, options)[service]
    kind = settings_class(service)
    prefix = str(kind.model_config["env_prefix"])
    known = {f"{prefix}{name}".upper() for name in kind.model_fields}
    assert {name for name in told if name.split("__")[0] not in known} == set()
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    settings = kind()  # raises when a required knob is missing or a value is out of bounds
    assert settings.port == 5000
