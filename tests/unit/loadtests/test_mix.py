import random
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml

from loadtests.mix import MIXES, Mix, read_mix
from services.local.failure import Failure

MIX: dict[str, Any] = {
    "says": "a mix",
    "rate_per_s": 2,
    "scratch": {"name": "scratch", "profile": "docs"},
    "words": {"thing": ["cats", "dogs", "birds"], "place": ["home", "work"]},
    "kinds": {
        "short": {"share": 3, "call": "search", "body": {"query": "{thing} at {place}", "limit": 3}},
        "ingest": {
            "share": 1,
            "call": "write",
            "timeout_s": 30,
            "body": {"documents": [{"id": "n-{serial}", "text": "about {thing}"}]},
        },
    },
}


def drawn(mix: Mix, count: int, *, seed: int = 0, first_serial: int = 0) -> list[Any]:
    return list(islice(mix.requests(random.Random(seed), first_serial), count))


def written(folder: Path, content: Any) -> str:
    file = folder / "mine.yaml"
    file.write_text(yaml.safe_dump(content))
    return str(file)


def test_slots_are_filled_and_all_else_stays_as_it_is() -> None:
    searches = [request for request in drawn(Mix.model_validate(MIX), 200) if request.kind == "short"]
    queries = {request.body["query"] for request in searches}
    assert queries == {f"{thing} at {place}" for thing in ("cats", "dogs", "birds") for place in ("home", "work")}
    assert {request.body["limit"] for request in searches} == {3}
    assert {(request.call, request.over, request.timeout_s) for request in searches} == {("search", "http", 10.0)}


def test_kinds_come_by_their_shares() -> None:
    kinds = Counter(request.kind for request in drawn(Mix.model_validate(MIX), 10_000))
    assert kinds["short"] / 10_000 == pytest.approx(0.75, abs=0.02)


def test_a_seed_draws_the_same_requests_again() -> None:
    mix = Mix.model_validate(MIX)
    assert drawn(mix, 50, seed=1) == drawn(mix, 50, seed=1)
    assert drawn(mix, 50, seed=1) != drawn(mix, 50, seed=2)


def test_serials_never_repeat_and_begin_where_they_are_told() -> None:
    writes = [request for request in drawn(Mix.model_validate(MIX), 100, first_serial=500) if request.kind == "ingest"]
    serials = [int(request.body["documents"][0]["id"].removeprefix("n-")) for request in writes]
    assert len(set(serials)) == len(serials) > 0
    assert all(500 <= serial < 600 for serial in serials)


def test_drawing_leaves_the_mix_as_it_was() -> None:
    mix = Mix.model_validate(MIX)
    drawn(mix, 20)
    assert mix == Mix.model_validate(MIX)


@pytest.mark.parametrize("name", sorted(file.stem for file in MIXES.glob("*.yaml")))
def test_every_mix_of_the_repository_can_be_read_and_drawn_from(name: str) -> None:
    requests = drawn(read_mix(name), 500)
    assert {request.kind for request in requests} == read_mix(name).kinds.keys()
    assert not any(
        "{" in str(value) for request in requests for value in request.body.values() if isinstance(value, str)
    )


def test_the_everyday_mix_has_every_kind_that_the_verdict_is_about() -> None:
    assert read_mix("everyday").kinds.keys() == {
        "short", "long", "filtered", "no_hit", "non_latin", "repeated", "answers", "ingest"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ({"share": 1, "call": "search", "body": {"query": "{animal}"}}, "slots without words: animal"),
        ({"share": 0, "call": "search", "body": {}}, "kinds.odd.share"),
        ({"share": 1, "call": "embed", "body": {}}, "embed does not go over http"),
        ({"share": 1, "call": "write", "over": "grpc", "body": {}}, "write does not go over grpc"),
        ({"share": 1, "call": "search", "body": {}, "rate": 3}, "kinds.odd.rate: there is no such key"),
    ],
)
def test_a_kind_that_cannot_be_sent_is_refused(tmp_path: Path, kind: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Failure, match=sentence):
        read_mix(written(tmp_path, MIX | {"kinds": {"odd": kind}}))


def test_writes_need_a_scratch_collection(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="ingest writes, and there is no scratch collection"):
        read_mix(written(tmp_path, MIX | {"scratch": None}))


def test_an_unknown_mix_is_told_with_those_there_are() -> None:
    with pytest.raises(Failure, match="there is no mix everyyear; give a path, or one of everyday, services"):
        read_mix("everyyear")
