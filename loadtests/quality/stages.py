"""What each stage of a search made of a query, read from the ledgers of its own responses.

`keyword` and `vector` are the legs alone, `rrf` the order of the fused scores, `fused` the order in which ranking got
the window (exact hits first), then ranking's own steps, and `ranked` the order of the hits as they were given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from loadtests.quality.judged_set import Mode

RANKED = "ranked"
# A hit as a response holds it.
Hit = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """A document in a stage's order; `attribute` and `age_years` are None where it does not tell."""

    document_id: str
    attribute: str | None
    age_years: int | None


def stages_of(mode: Mode, hits: Sequence[Hit], *, attribute: str | None) -> dict[str, list[Found]]:
    """The order of documents, best first, after each stage of a search with ledgers.

    A document stands where the first of its hits stands. The last step of the ledger is `ranked` and is not told twice.
    """
    if mode != "hybrid":
        found = [hit for hit in hits if hit["ledger"][mode]["rank"]]
        return {mode: _documents(sorted(found, key=lambda hit: hit["ledger"][mode]["rank"]), attribute)}
    places = [{place["step"]: place["place"] for place in hit["ledger"]["places"]} for hit in hits]
    steps = list(places[0])[:-1] if places else []
    orders: dict[str, list[Any]] = {
        "rrf": [(-hit["ledger"]["fused_score"], place["fused"]) for hit, place in zip(hits, places, strict=True)],
        **{step: [place[step] for place in places] for step in steps},
    }
    stages = {
        stage: _documents([hit for _, hit in sorted(zip(keys, hits, strict=True), key=itemgetter(0))], attribute)
        for stage, keys in orders.items()
    }
    return stages | {RANKED: _documents(hits, attribute)}


def _documents(hits: Sequence[Hit], attribute: str | None) -> list[Found]:
    found: dict[str, Found] = {}
    for hit in hits:
        value = hit["metadata"].get(attribute) if attribute else None
        one = Found(hit["document_id"], None if value is None else str(value), hit["ledger"]["age_years"])
        found.setdefault(hit["document_id"], one)
    return list(found.values())
