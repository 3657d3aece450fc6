"""The classes of a Weaviate that are generations: made, read, dropped, and their keyword indexes built anew."""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any

from services.shared.index.fields import FieldType
from services.shared.index.precision import Precision
from services.shared.index.weaviate_class import (
    ANALYSED,
    GenerationClass,
    class_name,
    declared_property,
    definition_of,
    generation_class,
    generation_of,
    is_generation_id,
)
from services.shared.index.weaviate_cluster import ClassMissing, Cluster, NodeClient, RequestRefused
from services.shared.runtime.errors import AlreadyExists, DependencyUnavailable, NotFound

# Classes are made by an agreement of the nodes: 0.1 to 0.5 s each.
_SCHEMA_S = 30.0
# A leader answers in milliseconds. When it is lost, a node lets the question wait for the next one: 10 to 40 s.
_LEADER_S = 2.0
# 20,000 chunks take seconds, millions minutes.
_REBUILD_S = 1_800.0
_POLL_S = 0.05
_LONGEST_POLL_S = 2.0


class Classes:
    """Makes, reads and drops the class of a generation, and remembers what it read.

    What is remembered may be old in one way only: other processes add fields, or drop a class and make it anew.
    """

    def __init__(self, cluster: Cluster, *, replication_factor: int, ef: int) -> None:
        self._cluster = cluster
        self._replication_factor = replication_factor
        self._ef = ef
        self._known: dict[str, GenerationClass] = {}

    async def known(self, generation_id: str) -> GenerationClass:
        """What the class of a generation says, as it was last read. Raises NotFound, DependencyUnavailable."""
        return self._known.get(generation_id) or await self.read(generation_id)

    async def read(self, generation_id: str) -> GenerationClass:
        """What the class of a generation says now. Raises NotFound, DependencyUnavailable."""
        self.forget(generation_id)
        if not is_generation_id(generation_id):
            raise no_generation(generation_id)
        try:
            definition = await self._ask(f"/schema/{class_name(generation_id)}")
        except ClassMissing:
            raise no_generation(generation_id) from None
        self._known[generation_id] = generation_class(definition)
        return self._known[generation_id]

    def forget(self, generation_id: str) -> None:
        """Read the class again when it is asked for."""
        self._known.pop(generation_id, None)

    async def make(
        self, generation_id: str, dimensions: int, fields: Mapping[str, FieldType], precision: Precision
    ) -> None:
        """Make the class, or add to the one that is there the fields that it lacks.

        Raises AlreadyExists when it is there with other dimensions, another precision or another type for a field.
        """
        try:
            there = await self.read(generation_id)
        except NotFound:
            definition = definition_of(
                generation_id,
                dimensions,
                fields,
                replication_factor=self._replication_factor,
                ef=self._ef,
                precision=precision,
            )
            await self._change("POST", "/schema", definition)
            there = await self.read(generation_id)
        if there.dimensions != dimensions:
            raise AlreadyExists(f"Generation {generation_id!r} is there with other dimensions than {dimensions}.")
        if there.precision != precision:
            raise AlreadyExists(f"Generation {generation_id!r} is there with another precision than {precision}.")
        for name, declared in fields.items():
            if there.fields.get(name, declared) != declared:
                raise AlreadyExists(f"Generation {generation_id!r} has field {name} with type {there.fields[name]}.")
        for name in fields.keys() - there.fields.keys():
            path = f"/schema/{class_name(generation_id)}/properties"
            await self._change("POST", path, declared_property(name, fields[name]))
            self.forget(generation_id)

    async def drop(self, generation_id: str) -> None:
        """Drop the class with its objects; one that is not there is as good as dropped."""
        self.forget(generation_id)
        if is_generation_id(generation_id):
            await self._refused_is_unavailable(self._rest("DELETE", f"/schema/{class_name(generation_id)}"))

    async def generation_ids(self) -> list[str]:
        """The generations whose classes are there, in ascending order."""
        described = (await self._ask("/schema"))["classes"]
        ids = (generation_of(definition["class"]) for definition in described)
        return sorted(generation_id for generation_id in ids if generation_id is not None)

    async def rebuild_keyword_index(self, generation_id: str) -> None:
        """Build the index of `analysed` anew from the stored chunks and return when it serves; reads and writes go on.

        Raises NotFound, DependencyUnavailable.
        """
        path = f"/schema/{class_name(generation_id)}"
        poll_s = _POLL_S
        try:
            async with asyncio.timeout(_REBUILD_S):
                await self._rest("POST", f"{path}/properties/{ANALYSED}/index/searchable/rebuild")
                while (status := _status_of_keyword_index(await self._rest("GET", f"{path}/indexes"))) != "ready":
                    if status in ("failed", "cancelled"):
                        raise DependencyUnavailable(f"The keyword index of {generation_id!r} could not be built anew.")
                    await asyncio.sleep(poll_s)
                    poll_s = min(2 * poll_s, _LONGEST_POLL_S)
        except ClassMissing:
            raise no_generation(generation_id) from None
        except (RequestRefused, TimeoutError) as error:
            raise DependencyUnavailable(f"The keyword index of {generation_id!r} could not be built anew.") from error

    async def _ask(self, path: str) -> Any:
        """What the nodes' leader says; while they have none, what a node says: then nothing changes either."""

        def told(node: NodeClient) -> Awaitable[Any]:
            return node.rest("GET", path)

        def known(node: NodeClient) -> Awaitable[Any]:
            return node.rest("GET", path, headers={"consistency": "false"})

        try:
            return await self._refused_is_unavailable(self._cluster.tell(told, within_s=_LEADER_S))
        except DependencyUnavailable:
            return await self._refused_is_unavailable(self._cluster.tell(known, within_s=_SCHEMA_S))

    @staticmethod
    async def _refused_is_unavailable(call: Awaitable[Any]) -> Any:
        try:
            return await call
        except RequestRefused as refused:
            raise DependencyUnavailable("Weaviate refuses to tell or to drop its classes.") from refused

    async def _change(self, method: str, path: str, json: Any) -> None:
        """Change the schema; a change that another process has made meanwhile is refused, which does no harm."""
        try:
            await self._rest(method, path, json)
        except RequestRefused as refused:
            if "already exists" not in str(refused):
                raise DependencyUnavailable("Weaviate refuses to make or to extend a class.") from refused

    async def _rest(self, method: str, path: str, json: Any = None) -> Any:
        return await self._cluster.tell(lambda node: node.rest(method, path, json=json), within_s=_SCHEMA_S)


def no_generation(generation_id: str) -> NotFound:
    """The error for a generation that is not there."""
    return NotFound(f"There is no generation {generation_id!r} in the index.")


def _status_of_keyword_index(indexes: Mapping[str, Any]) -> str:
    for described in indexes["properties"]:
        if described["name"] == ANALYSED:
            return str(described["indexes"][0]["status"])
    return "failed"
