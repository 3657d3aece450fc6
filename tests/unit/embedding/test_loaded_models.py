"""A model is found only after a real forward pass."""

from typing import Any

import numpy as np
import pytest

from services.embedding.loaded_models import LoadedModels
from services.shared.batching.device import DeviceThread
from services.shared.runtime.errors import DependencyUnavailable, NotFound
from tests.fakes.encoder import FakeEncoder


class Pipeline:
    """Stands in for the pipeline: only its facts are asked for."""

    def __init__(self, encoder: Any) -> None:
        self.facts = encoder.facts


def models_with(encoder: FakeEncoder) -> LoadedModels:
    return LoadedModels(lambda: encoder, Pipeline, DeviceThread())  # type: ignore[arg-type, return-value]


async def test_nothing_is_found_before_loading() -> None:
    models = models_with(FakeEncoder())
    with pytest.raises(DependencyUnavailable):
        models.named("")
    assert models.names() == []


async def test_after_loading_the_model_is_found_by_its_name_and_as_the_default() -> None:
    models = models_with(FakeEncoder())
    await models.load()
    assert models.named("") is models.named("fake")
    assert models.names() == ["fake"]
    with pytest.raises(NotFound, match="fake"):
        models.named("other")


@pytest.mark.parametrize("value", [np.nan, 0.0])
async def test_a_model_whose_first_vector_is_not_sound_is_never_ready(value: float) -> None:
    encoder = FakeEncoder()
    encoder.compute = lambda windows: np.full((len(windows), 384), value, dtype=np.float32)
    with pytest.raises(SystemExit, match="no sound vector"):
        await models_with(encoder).load()
