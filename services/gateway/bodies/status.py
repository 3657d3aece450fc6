"""`GET /v1/status`: every service's state, the model, the generator and what is degraded."""

from typing import Literal, TypeAlias

from pydantic import BaseModel

ServiceState: TypeAlias = Literal["serving", "not_serving", "unreachable"]


class ServiceStatus(BaseModel):
    """One service; `version` is null when it does not answer."""

    state: ServiceState
    version: str | None


class ModelStatus(BaseModel):
    """The embedding model."""

    name: str
    weights_sha256: str
    dimensions: int
    max_tokens: int
    languages: list[str]
    kind: str
    device: str
    dtype: str


class GeneratorStatus(BaseModel):
    """What writes answers; without `general_knowledge` no language model is configured."""

    name: str
    general_knowledge: bool
    context_tokens: int


class SystemStatus(BaseModel):
    """`ready` when all six services serve and the catalog answers."""

    ready: bool
    services: dict[str, ServiceStatus]
    model: ModelStatus | None
    generator: GeneratorStatus | None
    degraded: list[str]
