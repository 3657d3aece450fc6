"""The knobs that every process has, and how settings are read: once, at the start, whole or not at all.

Variables are `PLUMBLINE_<SERVICE>_<KNOB>`; nested knobs are joined by `__`.
"""

import os
import sys
from typing import NoReturn, Self, TypeVar

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT_PREFIX = "PLUMBLINE_"


class ProcessSettings(BaseSettings):
    """Knobs of every process. A service's own class adds its knobs and `model_config = settings_of("<service>")`."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", min_length=1, description="Address to listen on; 0.0.0.0 inside a container.")
    port: int = Field(ge=0, le=65535, description="Port to serve on; 0 takes a free one.")
    metrics_port: int = Field(
        0, ge=0, le=65535, description="Port of /metrics on the same address; 0 takes a free one."
    )
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$", description="Least severe event logged.")
    otlp_endpoint: str | None = Field(
        None, description="host:port of an OTLP/gRPC trace receiver; unset records no traces, which costs nothing."
    )
    drain_s: float = Field(
        0.0, ge=0, le=120, description="Seconds between NOT_SERVING and refusing calls, so that callers see it first."
    )
    grace_s: float = Field(
        30.0, ge=0, le=600, description="Seconds that running calls get to finish; longer than the longest stream."
    )

    @property
    def environment_prefix(self) -> str:
        """The prefix of this class's variables, for messages."""
        return str(self.model_config.get("env_prefix"))


class RpcSettings(ProcessSettings):
    """Knobs of every gRPC service."""

    max_concurrent_rpcs: int = Field(
        256, ge=1, le=100_000, description="Calls served at once; over it RESOURCE_EXHAUSTED at once, nothing piles up."
    )
    max_connection_age_s: float = Field(
        300.0,
        ge=1,
        le=86_400,
        description="Age at which a connection is closed gently, so that clients find new replicas.",
    )
    max_connection_age_grace_s: float = Field(
        600.0, ge=1, le=86_400, description="Seconds for calls on an aged connection; longer than the longest stream."
    )

    @model_validator(mode="after")
    def _streams_outlive_their_connection(self) -> Self:
        if self.max_connection_age_grace_s < self.grace_s:
            raise ValueError(
                f"{self.environment_prefix}MAX_CONNECTION_AGE_GRACE_S must be at least "
                f"{self.environment_prefix}GRACE_S, else it cuts streams that a shutdown would let finish"
            )
        return self


def settings_of(service: str) -> SettingsConfigDict:
    """The pydantic configuration of the settings of `service`."""
    return SettingsConfigDict(
        env_prefix=f"{ROOT_PREFIX}{service.upper()}_", env_nested_delimiter="__", frozen=True, extra="forbid"
    )


SettingsT = TypeVar("SettingsT", bound=ProcessSettings)


def read_settings(kind: type[SettingsT]) -> SettingsT:
    """Settings from the environment; on any fault the process ends with one sentence and exit code 2.

    A variable with the service's prefix that no knob has is a fault: a typo would silently keep the default.
    """
    prefix = str(kind.model_config["env_prefix"])
    known = {f"{prefix}{name}".upper() for name in kind.model_fields}
    for variable in os.environ:
        upper = variable.upper()
        if upper.startswith(prefix) and not any(upper == name or upper.startswith(f"{name}__") for name in known):
            _refuse(f"{variable} is not a setting; the settings are {', '.join(sorted(known))}")
    try:
        return kind()
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{prefix}{'__'.join(str(part) for part in first['loc']).upper()}: " if first["loc"] else ""
        _refuse(f"{where}{first['msg'].removeprefix('Value error, ')}")


def _refuse(sentence: str) -> NoReturn:
    sys.stderr.write(f"refusing to start: {sentence}\n")
    raise SystemExit(2)
