"""Weaviate's own hybrid query, with its fusion, boost and MMR, over a class that is made for it.

The class holds the same tokens and vectors with the same settings, but one vector an object: Weaviate's MMR passes over
objects that have several.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from google.protobuf import struct_pb2
from weaviate.proto.v1 import base_pb2, base_search_pb2, batch_pb2, search_get_pb2

from loadtests.search_bench.asking import DEPTH
from loadtests.search_bench.engines import Engine
from services.local.failure import Failure
from services.shared.index.chunk import IndexedChunk, Vector
from services.shared.index.weaviate_class import ANALYSED, VECTORS, definition_of
from services.shared.index.weaviate_cluster import NodeClient
from services.shared.index.weaviate_index import DEFAULT_EF
from services.shared.index.weaviate_objects import object_id

Fusion: TypeAlias = Literal["ranked", "relative"]
_FUSIONS = {
    "ranked": base_search_pb2.Hybrid.FUSION_TYPE_RANKED,
    "relative": base_search_pb2.Hybrid.FUSION_TYPE_RELATIVE_SCORE,
}
_CLASS = "NativeHybrid"
_YEAR = "year"
_STORED = ("chunk_id", "document_id", "title", "uri", "text", _YEAR)
PAGE = 10
# Our own defaults: relevance counts 0.6 in MMR, and a paper of this year 1.2 / 0.9 of an old one.
_BALANCE = 0.6
_BOOST_WEIGHT, _BOOST_SCALE_YEARS = 0.25, 5.0


class NativeHybrid:
    """The class and its queries on one node."""

    def __init__(self, engine: Engine) -> None:
        if engine.node is None:
            raise ValueError("only Weaviate has a hybrid query of its own")
        self._client = NodeClient(engine.node, engine.api_key)

    async def make(self, dimensions: int) -> None:
        """Make the class, without objects."""
        definition = definition_of("native", dimensions, {}, replication_factor=1, ef=DEFAULT_EF)
        definition["class"] = _CLASS
        definition["vectorConfig"][VECTORS]["vectorIndexConfig"]["multivector"] = {"enabled": False}
        definition["properties"].append({"name": _YEAR, "dataType": ["number"], "indexRangeFilters": True})
        await self._client.rest("POST", "/schema", json=definition)

    async def load(self, batches: Iterable[list[IndexedChunk]]) -> None:
        """Write the chunks, each with its first window. Raises Failure when one is refused."""
        for batch in batches:
            reply = await self._client.write(batch_pb2.BatchObjectsRequest(objects=[_to_object(one) for one in batch]))
            if reply.errors:
                raise Failure(f"Weaviate refused {len(reply.errors)} objects: {reply.errors[0].error}")

    async def drop(self) -> None:
        """Remove the class with its objects."""
        await self._client.rest("DELETE", f"/schema/{_CLASS}")

    async def search(
        self, tokens: Sequence[str], vector: Vector, *, fusion: Fusion, boosted_and_diverse: bool, this_year: int
    ) -> list[str]:
        """The documents of the first page, best first; with boost by year and MMR over the window, or without."""
        hybrid = base_search_pb2.Hybrid(
            query=" ".join(tokens),
            properties=[ANALYSED],
            fusion_type=_FUSIONS[fusion],
            alpha_param=0.5,
            use_alpha_param=True,
            targets=base_search_pb2.Targets(target_vectors=[VECTORS]),
            vectors=[_single(vector)],
            bm25_search_operator=base_search_pb2.SearchOperatorOptions(
                operator=base_search_pb2.SearchOperatorOptions.OPERATOR_OR, minimum_or_tokens_match=1
            ),
        )
        request = search_get_pb2.SearchRequest(
            collection=_CLASS, limit=PAGE, hybrid_search=hybrid, uses_123_api=True, uses_125_api=True, uses_127_api=True
        )
        request.properties.non_ref_properties.extend(_STORED)
        request.metadata.score = True
        if boosted_and_diverse:
            # Of a query with MMR the limit is the window, and MMR's own the page.
            request.limit = DEPTH
            request.hybrid_search.selection.mmr.limit = PAGE
            request.hybrid_search.selection.mmr.balance = _BALANCE
            request.boost.weight, request.boost.depth = _BOOST_WEIGHT, DEPTH
            decay = request.boost.conditions.add().numeric_decay
            decay.property, decay.origin, decay.scale = _YEAR, this_year, _BOOST_SCALE_YEARS
        reply = await self._client.search(request)
        return [hit.properties.non_ref_props.fields["document_id"].text_value for hit in reply.results[:PAGE]]

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()


def _to_object(chunk: IndexedChunk) -> batch_pb2.BatchObject:
    stored = struct_pb2.Struct()
    stored.update({name: getattr(chunk, name) for name in ("chunk_id", "document_id", "title", "uri", "text")})
    stored.update({ANALYSED: chunk.analysed, _YEAR: int(chunk.date[:4] or 0)})
    return batch_pb2.BatchObject(
        uuid=object_id(chunk.chunk_id),
        collection=_CLASS,
        properties=batch_pb2.BatchObject.Properties(non_ref_properties=stored),
        vectors=[_single(chunk.vectors[0])],
    )


def _single(vector: Vector) -> base_pb2.Vectors:
    packed = vector.astype("<f4", copy=False).tobytes()
    return base_pb2.Vectors(name=VECTORS, vector_bytes=packed, type=base_pb2.Vectors.VECTOR_TYPE_SINGLE_FP32)


def unit(vector: Vector) -> Vector:
    """The vector at length 1."""
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
