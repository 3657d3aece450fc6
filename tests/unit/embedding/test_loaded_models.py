"""Models are found only after a real forward pass, and come and go one by one."""

from typing import Any

import pytest

from services.embedding.loaded_models import LoadedModels, ModelSource
from services.embedding.ports import UnfitModel
from services.shared.runtime.errors import Conflict, DependencyUnavailable, NotFound
from tests.fakes.encoder import FakeEncoder


class Pipeline:
    """Stands in for the pipeline: only what is told of it is asked for."""

    ingest_batch_tokens = 1024

    def __init__(self, encoder: Any) -> None:
        self.facts = encoder.facts


async def serve(encoder: Any) -> Any:
    return Pipeline(encoder)


def source(name: str) -> ModelSource[Any]:
    return ModelSource(f"KNOB={name}", lambda: FakeEncoder(name=name))


def missing() -> ModelSource[Any]:
    def load() -> Any:
        raise UnfitModel("there is no folder")

    return ModelSource("KNOB=gone", load)


def models_with(*sources: ModelSource[Any], scorer: ModelSource[Any] | None = None) -> LoadedModels:
    return LoadedModels(sources, scorer, serve=serve, serve_scorer=serve)


async def loaded(*names: str) -> LoadedModels:
    models = models_with(*map(source, names))
    await models.load()
    return models


async def test_nothing_is_found_before_loading() -> None:
    models = models_with(source("first"))
    for asked in (models.named, models.scorer):
        with pytest.raises(DependencyUnavailable):
            asked("")
    assert models.names() == []


async def test_a_model_is_found_by_its_name_and_the_first_one_as_the_default() -> None:
    models = await loaded("first", "second")
    assert models.named("") is models.named("first") is not models.named("second")
    assert models.names() == ["first", "second"]
    with pytest.raises(NotFound, match="first, second"):
        models.named("other")


async def test_a_process_whose_second_model_is_missing_ends_and_answers_nothing() -> None:
    models = models_with(source("first"), missing())
    with pytest.raises(SystemExit, match=r"^KNOB=gone cannot be served: there is no folder; `make weights` fetches"):
        await models.load()
    with pytest.raises(DependencyUnavailable):
        models.named("first")


async def test_two_models_of_one_name_are_refused() -> None:
    with pytest.raises(SystemExit, match="has that name too"):
        await loaded("same", "same")


async def test_a_try_that_failed_for_a_dependency_goes_on_where_it_ended() -> None:
    tries = []

    def load() -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise DependencyUnavailable("not yet")
        return FakeEncoder(name="second")

    models = models_with(source("first"), ModelSource("KNOB=second", load))
    with pytest.raises(DependencyUnavailable):
        await models.load()
    await models.load()
    assert models.names() == ["first", "second"]


async def test_one_is_dropped_and_another_takes_its_place() -> None:
    models = await loaded("first", "second")
    await models.drop("first")
    await models.add("third", source("third"))
    assert models.names() == ["second", "third"]
    assert models.named("") is models.named("second")


async def test_a_third_one_is_refused_and_the_loaded_ones_are_named() -> None:
    models = await loaded("first", "second")
    with pytest.raises(Conflict, match="first, second are loaded"):
        await models.add("third", source("third"))


async def test_one_that_is_there_is_not_loaded_again() -> None:
    models = await loaded("first", "second")
    before = models.named("second")
    assert await models.add("second", missing()) is before


async def test_one_that_cannot_be_served_is_refused_with_the_reason_and_the_others_stay() -> None:
    models = await loaded("first")
    with pytest.raises(Conflict, match="there is no folder"):
        await models.add("gone", missing())
    assert models.names() == ["first"]


async def test_the_only_model_is_not_dropped() -> None:
    models = await loaded("first")
    with pytest.raises(Conflict, match="only model"):
        await models.drop("first")
    with pytest.raises(NotFound):
        await models.drop("other")


async def test_the_cross_encoder_is_found_by_its_name_and_without_one() -> None:
    models = models_with(source("first"), scorer=source("pairs"))
    await models.load()
    assert models.scorer("").facts.name == models.scorer("pairs").facts.name == "pairs"
    with pytest.raises(NotFound, match="pairs is"):
        models.scorer("first")
    with pytest.raises(NotFound, match="no cross-encoder"):
        (await loaded("first")).scorer("")
