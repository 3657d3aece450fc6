"""The requests that the index sends to Weaviate, and the hits in its replies. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weaviate.proto.v1 import aggregate_pb2, base_pb2, base_search_pb2, search_get_pb2

from services.shared.index.chunk import Vector
from services.shared.index.weaviate_class import ANALYSED, VECTORS
from services.shared.index.weaviate_filter import of_document, one_of_objects
from services.shared.index.weaviate_objects import COLUMNS, query_vector

MAX_RESULTS = 10_000
"""What one query may bring; the server's own limit."""

# Weaviate's BM25 leaves out the factor k1 + 1 that the textbook, Lucene and LanceDB have.
_BM25_FACTOR = 1.2 + 1


@dataclass(frozen=True, slots=True)
class Copy:
    """A chunk as one replica has it: its raw score, 0 without a query, and when it was written, in ms."""

    chunk_id: str
    score: float
    written_ms: int
    result: search_get_pb2.SearchResult

    @property
    def object_id(self) -> str:
        """The id of its object."""
        return self.result.metadata.id

    @property
    def windows(self) -> int:
        """How many windows the chunk has."""
        return self.result.properties.non_ref_props.fields["windows"].int_value

    @property
    def ordinal(self) -> int:
        """The chunk's place in its document, where it was asked for."""
        return self.result.properties.non_ref_props.fields["ordinal"].int_value

    @property
    def analysed(self) -> str:
        """The chunk's tokens, where they were asked for."""
        return self.result.properties.non_ref_props.fields[ANALYSED].text_value

    def scored(self, score: float) -> "Copy":
        """The same with another score."""
        return replace(self, score=score)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a reply should bring of each hit: `columns` of the chunk, its vectors or not."""

    columns: Sequence[str] = COLUMNS
    vectors: bool = False


IDS_ONLY = Wanted(columns=("chunk_id", "windows"))


def keyword_request(
    class_name: str, tokens: Sequence[str], filters: base_pb2.Filters | None, limit: int, wanted: Wanted
) -> search_get_pb2.SearchRequest:
    """The best chunks that hold a token, by BM25."""
    any_token = base_search_pb2.SearchOperatorOptions(
        operator=base_search_pb2.SearchOperatorOptions.OPERATOR_OR, minimum_or_tokens_match=1
    )
    request = _request(class_name, filters, limit, wanted)
    request.bm25_search.CopyFrom(
        base_search_pb2.BM25(query=" ".join(tokens), properties=[ANALYSED], search_operator=any_token)
    )
    request.metadata.score = True
    return request


def nearest_request(
    class_name: str, vector: Vector, filters: base_pb2.Filters | None, limit: int, wanted: Wanted
) -> search_get_pb2.SearchRequest:
    """The chunks whose best windows are among the `limit` windows nearest to `vector`."""
    request = _request(class_name, filters, limit, wanted)
    request.near_vector.CopyFrom(
        base_search_pb2.NearVector(
            vectors=[query_vector(vector)], targets=base_search_pb2.Targets(target_vectors=[VECTORS])
        )
    )
    request.metadata.distance = True
    return request


def objects_request(class_name: str, object_ids: Sequence[str], wanted: Wanted) -> search_get_pb2.SearchRequest:
    """Those of these objects that are there, at most `MAX_RESULTS`, in no order."""
    return _request(class_name, one_of_objects(object_ids), len(object_ids), wanted)


def filtered_request(class_name: str, filters: base_pb2.Filters, wanted: Wanted) -> search_get_pb2.SearchRequest:
    """The chunks that match, at most `MAX_RESULTS`, in no order."""
    return _request(class_name, filters, MAX_RESULTS, wanted)


def document_request(
    class_name: str, document_id: str, first_ordinal: int, limit: int, wanted: Wanted
) -> search_get_pb2.SearchRequest:
    """The first `limit` chunks of a document by ordinal, from this one on."""
    request = _request(class_name, of_document(document_id, first_ordinal), limit, wanted)
    request.sort_by.add(path=["ordinal"], ascending=True)
    return request


def page_request(class_name: str, after: str, limit: int, wanted: Wanted) -> search_get_pb2.SearchRequest:
    """The first `limit` chunks whose objects' ids come after `after`, in the order of those ids."""
    request = _request(class_name, None, limit, wanted)
    request.after = after
    return request


def count_request(class_name: str, filters: base_pb2.Filters | None) -> aggregate_pb2.AggregateRequest:
    """How many chunks match."""
    return aggregate_pb2.AggregateRequest(collection=class_name, objects_count=True, filters=filters)


def copies(reply: search_get_pb2.SearchReply) -> list[Copy]:
    """The hits of a reply, in its order."""
    return [
        Copy(
            result.properties.non_ref_props.fields["chunk_id"].text_value,
            _score(result.metadata),
            result.metadata.last_update_time_unix,
            result,
        )
        for result in reply.results
    ]


def _request(
    class_name: str, filters: base_pb2.Filters | None, limit: int, wanted: Wanted
) -> search_get_pb2.SearchRequest:
    return search_get_pb2.SearchRequest(
        collection=class_name,
        limit=min(limit, MAX_RESULTS),
        filters=filters,
        properties=search_get_pb2.PropertiesRequest(non_ref_properties=wanted.columns),
        metadata=search_get_pb2.MetadataRequest(
            uuid=True, last_update_time_unix=True, vectors=[VECTORS] if wanted.vectors else []
        ),
        # One copy is read here; how many replicas are asked is the index's to say.
        consistency_level=base_pb2.CONSISTENCY_LEVEL_ONE,
        uses_127_api=True,
    )


def _score(metadata: search_get_pb2.MetadataResult) -> float:
    """BM25, or the cosine: the distance of a multi-vector is minus the sum, here of one, of the best inner products.

    BM25 is summed in single precision in an order that differs from chunk to chunk; six digits of it are the same for
    chunks that are equal.
    """
    if metadata.score_present:
        return float(f"{metadata.score * _BM25_FACTOR:.6g}")
    return min(1.0, max(-1.0, -metadata.distance))
