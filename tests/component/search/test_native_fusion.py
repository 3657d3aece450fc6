"""Our fusion beside the hybrid query of the real Weaviate, on the very same legs."""

import numpy as np
import pytest
from weaviate.proto.v1 import base_pb2, base_search_pb2, search_get_pb2

from services.search.domain.fusion import Ballot, reciprocal_rank_fusion
from services.shared.index.chunk import LegHit, Vector
from services.shared.index.weaviate_class import ANALYSED, VECTORS, class_name
from services.shared.index.weaviate_cluster import NodeClient
from services.shared.index.weaviate_objects import query_vector
from services.shared.text.analyzer import analyze_query
from tests.component.search.conftest import Engine
from tests.component.search.searching import a_chunk
from tests.conftest import WeaviateAddress

pytestmark = pytest.mark.weaviate
WORDS = ("solar", "cells", "current", "light", "wind", "turbine", "bread", "oven")
COUNT = 60


def native_hybrid(generation_id: str, tokens: list[str], vector: Vector, alpha: float) -> search_get_pb2.SearchRequest:
    """Weaviate's own hybrid query with ranked fusion, over the fields that our legs search."""
    targets = base_search_pb2.Targets(target_vectors=[VECTORS])
    any_token = base_search_pb2.SearchOperatorOptions(
        operator=base_search_pb2.SearchOperatorOptions.OPERATOR_OR, minimum_or_tokens_match=1
    )
    return search_get_pb2.SearchRequest(
        collection=class_name(generation_id),
        limit=COUNT,
        hybrid_search=base_search_pb2.Hybrid(
            query=" ".join(tokens),
            properties=[ANALYSED],
            alpha=alpha,
            fusion_type=base_search_pb2.Hybrid.FUSION_TYPE_RANKED,
            near_vector=base_search_pb2.NearVector(vectors=[query_vector(vector)], targets=targets),
            targets=targets,
            bm25_search_operator=any_token,
        ),
        properties=search_get_pb2.PropertiesRequest(non_ref_properties=["chunk_id"]),
        metadata=search_get_pb2.MetadataRequest(uuid=True, score=True),
        consistency_level=base_pb2.CONSISTENCY_LEVEL_ONE,
        uses_127_api=True,
    )


def ids(hits: list[LegHit]) -> list[str]:
    return [hit.chunk.chunk_id for hit in hits]


@pytest.mark.parametrize("engine_settings", ["weaviate"], indirect=True)
@pytest.mark.parametrize("alpha", [0.25, 0.5, 0.75])
async def test_the_order_is_that_of_weaviate_s_own_hybrid_query(
    engine: Engine, weaviate: WeaviateAddress, alpha: float
) -> None:
    rng = np.random.default_rng(3)
    chunks = []
    for number in range(COUNT):
        # A length of its own for every text, so that no two have one BM25 score.
        text = " ".join(rng.choice(WORDS, size=number + 2))
        chunks.append(a_chunk(f"d{number:02d}", text, rng.standard_normal(4).tolist()))
    await engine.hold(*chunks)
    node = NodeClient(weaviate.nodes[0], weaviate.api_key)
    generation_id = engine.generation.id
    for query in ("solar turbine", "bread oven", "light"):
        tokens, vector = analyze_query(query, "en"), rng.standard_normal(4).astype(np.float32)
        vector /= np.linalg.norm(vector)
        keyword = await engine.index.keyword(generation_id, tokens, filter=None, limit=COUNT)
        nearest = await engine.index.nearest(generation_id, vector, filter=None, limit=COUNT)
        ours = reciprocal_rank_fusion([Ballot(ids(keyword), 1 - alpha), Ballot(ids(nearest), alpha)], k=59)
        reply = await node.search(native_hybrid(generation_id, tokens, vector, alpha))
        theirs = {
            result.properties.non_ref_props.fields["chunk_id"].text_value: result.metadata.score
            for result in reply.results
        }
        assert {fused.key: fused.score for fused in ours} == pytest.approx(theirs, abs=1e-6)
        in_our_order = [theirs[fused.key] for fused in ours]
        assert in_our_order == pytest.approx(sorted(in_our_order, reverse=True), abs=1e-7)
    await node.close()
