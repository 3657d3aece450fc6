"""`python -m loadtests.quality.word_tokenizer`: what Weaviate's own `word` tokenizer reaches on the keyword leg.

The real server reads the raw texts and the raw queries, with the BM25 that our keyword leg has (k1 1.2, b 0.75, no stop
words). Its figures stand beside ours in the report of `make eval`: see known_sets.py.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import weaviate
from weaviate.classes.config import Configure, DataType, Property, StopwordsPreset, Tokenization
from weaviate.classes.init import Auth
from weaviate.collections import Collection

from loadtests.quality.asking import DEPTH
from loadtests.quality.chance import mean_of
from loadtests.quality.judged_set import JudgedSet
from loadtests.quality.known_sets import known_sets
from loadtests.quality.measures import measure
from loadtests.quality.stages import Found
from services.local.failure import Failure
from services.local.settings import read_settings
from services.local.weaviate_build import ensure_server
from services.local.weaviate_nodes import running_nodes

_K1, _B = 1.2, 0.75
_MEASURE = "nDCG@10"


def main(arguments: Sequence[str]) -> int:
    """Print the figure of each set that the arguments name; returns the exit code, 3 when nothing was measured."""
    known = {name: judged for name, judged in known_sets().items() if judged.content and judged.filtered}
    parser = argparse.ArgumentParser(prog="python -m loadtests.quality.word_tokenizer", description=__doc__)
    parser.add_argument("sets", nargs="+", choices=known, metavar="SET", help=", ".join(known))
    names = parser.parse_args(arguments).sets
    try:
        with own_server() as client:
            for name in names:
                values = measured(client, known[name])
                mean = mean_of(values)
                print(f"{name}: {_MEASURE} {mean.value:.3f} ({mean.low:.3f} to {mean.high:.3f}), {len(values)} queries")
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 3
    return 0


@contextmanager
def own_server() -> Iterator[weaviate.WeaviateClient]:
    """A client of a server that ends with the block. Raises Failure."""
    server = ensure_server(read_settings().weaviate_folder)
    with TemporaryDirectory(prefix="plumbline-word-") as scratch, running_nodes(1, server, Path(scratch)) as nodes:
        (node,) = nodes.addresses
        with weaviate.connect_to_custom(
            http_host=node.host,
            http_port=node.http_port,
            http_secure=False,
            grpc_host=node.host,
            grpc_port=node.grpc_port,
            grpc_secure=False,
            auth_credentials=Auth.api_key(nodes.api_key),
            skip_init_checks=True,
        ) as client:
            yield client


def measured(client: weaviate.WeaviateClient, judged: JudgedSet) -> list[float | None]:
    """nDCG@10 of each judged query of a set with content, in their order. Raises Failure for a refused document."""
    assert judged.content is not None, "sets without content are not offered"
    texts = client.collections.create(
        "Texts",
        properties=[
            Property(name="text", data_type=DataType.TEXT, tokenization=Tokenization.WORD),
            Property(
                name="document_id", data_type=DataType.TEXT, tokenization=Tokenization.FIELD, index_searchable=False
            ),
        ],
        inverted_index_config=Configure.inverted_index(bm25_k1=_K1, bm25_b=_B, stopwords_preset=StopwordsPreset.NONE),
    )
    try:
        _put(texts, judged.content.documents())
        judgments = judged.content.judgments()
        found = {judgment["id"]: _found(texts, judgment["query"]) for judgment in judgments}
    finally:
        client.collections.delete("Texts")
    relevance = {judgment["id"]: judgment["relevance"] for judgment in judgments}
    return measure(found, relevance, attribute=False)[_MEASURE]


def _put(texts: "Collection[Any, Any]", documents: Sequence[Mapping[str, Any]]) -> None:
    with texts.batch.fixed_size(200) as batch:
        for document in documents:
            body = document.get("text") or document["markdown"]
            text = "\n".join(filter(None, (document.get("title"), body)))
            batch.add_object({"document_id": document["id"], "text": text})
    if refused := texts.batch.failed_objects:
        raise Failure(f"Weaviate refused {len(refused)} documents, the first with: {refused[0].message}")


def _found(texts: "Collection[Any, Any]", query: str) -> list[Found]:
    hits = texts.query.bm25(query, query_properties=["text"], limit=DEPTH, return_properties=["document_id"])
    return [Found(str(hit.properties["document_id"]), None, None) for hit in hits.objects]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
