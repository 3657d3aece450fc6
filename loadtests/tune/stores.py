"""Where queries are captured: in a stack that is started for judged sets, or in the stores of a collection's own."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import groupby
from pathlib import Path

from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.measuring import ready_collection
from loadtests.quality.own_stack import all_running, own_stack
from loadtests.tune.capture import Captured, capture
from services.local.collection_upload import gateway_client
from services.local.data_folder import fresh_log
from services.local.environment import LOOPBACK
from services.local.failure import Failure
from services.local.index_engine import EMBEDDED
from services.local.loopback import free_ports
from services.local.readiness import is_serving
from services.local.service_process import ServiceProcess, ServiceSpec
from services.local.settings import read_settings
from services.local.weights import folder_of
from services.search.settings import SearchSettings
from services.shared.catalog.catalog import Catalog
from services.shared.runtime.errors import PlumblineError

_PREFIX = "PLUMBLINE_SEARCH_"
_HASHING = "hashing"  # the encoder without weights


async def capture_sets(sets: Sequence[JudgedSet], data: Path) -> dict[str, Captured]:
    """Every set by its name, captured in a stack of this checkout that is started for those of one model together.

    Its data is kept in `data`, and what is there is gone on from. Raises Failure.
    """
    captured: dict[str, Captured] = {}
    for model, group in groupby(sorted(sets, key=lambda judged: judged.model), lambda judged: judged.model):
        folder, judged_sets = data / Path(model).name, list(group)
        async with (
            own_stack(folder, judged_sets, index=EMBEDDED, broken_analyzer=False) as stack,
            gateway_client(stack.url) as client,
        ):
            settings = search_settings(stack.search)
            for judged in judged_sets:
                await ready_collection(client, judged, folder / "samples")
                captured[judged.name] = await capture(
                    settings, judged.collection, attribute=judged.attribute, filtered=judged.filtered
                )
    return captured


async def capture_collection(collection: str, environment: Mapping[str, str], data: Path, log: Path) -> Captured:
    """A collection that is there, captured beside its stack, which may run or not.

    Its stores are those that the environment tells a search service, else the ones that `make run` keeps in `data`;
    its attribute is the one that its settings spread. The folder `log` takes the log of the embedding service, where
    one has to be started. Raises Failure.
    """
    told = {name: value for name, value in environment.items() if name.startswith(_PREFIX)}
    if f"{_PREFIX}CATALOG_URL" not in told:
        catalog = data.resolve() / "catalog.db"
        if not catalog.is_file():
            raise Failure(f"{data} is no data folder of `make run`: it has no catalog.db; give another one with --data")
        told[f"{_PREFIX}CATALOG_URL"] = f"sqlite:///{catalog}"
        told[f"{_PREFIX}INDEX_FOLDER"] = str(data.resolve() / "index")
    url = told[f"{_PREFIX}CATALOG_URL"]
    model, attribute = await _of_collection(url, collection)
    if f"{_PREFIX}EMBEDDING_TARGET" in told:
        return await capture(search_settings(told), collection, attribute=attribute)
    async with _embedding(model, log) as target:
        settings = search_settings({**told, f"{_PREFIX}EMBEDDING_TARGET": target})
        return await capture(settings, collection, attribute=attribute)


async def _of_collection(catalog_url: str, collection: str) -> tuple[str, str | None]:
    """The model of its vectors, and the field whose values it spreads."""
    catalog = await Catalog.open(catalog_url)
    try:
        stored = await catalog.collections.get(collection)
    except PlumblineError as error:
        raise Failure(f"{collection}: {error.message}") from None
    finally:
        await catalog.close()
    return stored.active.manifest.model, stored.declaration.resolved_settings().ranking.diversify_by


@asynccontextmanager
async def _embedding(model: str, log: Path) -> AsyncIterator[str]:
    """The address of an embedding service with this model while the block runs."""
    settings = read_settings()
    folder = model if model == _HASHING else str(folder_of(model, settings.models_folder))
    (port,) = free_ports(1)
    target = f"{LOOPBACK}:{port}"
    knobs = {"PLUMBLINE_EMBEDDING_MODEL": folder, "PLUMBLINE_EMBEDDING_PORT": str(port)}
    spec = ServiceSpec(
        "embedding", ("-m", "services.embedding"), knobs, fresh_log(log, "embedding"), partial(is_serving, target)
    )
    async with all_running([ServiceProcess(spec, print)]):
        yield target


def search_settings(told: Mapping[str, str]) -> SearchSettings:
    """The settings of a search service by the variables that it is told, less those of its own process."""
    knobs = {name.removeprefix(_PREFIX).lower(): value for name, value in told.items()}
    wanted = {name: value for name, value in knobs.items() if name in SearchSettings.model_fields}
    return SearchSettings(**{"port": 0, "ranking_target": "unused", **wanted})  # type: ignore[arg-type]
