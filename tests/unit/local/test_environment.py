from pathlib import Path

from services.local.environment import SERVICES, IndexServer, Options, environment

PORTS = {name: 5000 + number for number, name in enumerate(SERVICES)}
OPTIONS = Options(data=Path("/data"), model="/models/a-model", otlp_port=4317)


def test_every_variable_of_a_service_carries_its_name() -> None:
    for service, variables in environment(PORTS, OPTIONS).items():
        assert variables
        assert all(name.startswith(f"PLUMBLINE_{service.upper()}_") for name in variables)


def test_every_service_serves_on_its_own_port_and_sends_its_spans_here() -> None:
    told = environment(PORTS, OPTIONS)
    assert list(told) == list(SERVICES)
    for service in SERVICES:
        assert told[service][f"PLUMBLINE_{service.upper()}_PORT"] == str(PORTS[service])
        assert told[service][f"PLUMBLINE_{service.upper()}_OTLP_ENDPOINT"] == "127.0.0.1:4317"


def test_targets_follow_the_request_tree() -> None:
    told = environment(PORTS, OPTIONS)
    targets = {
        service: {name.removeprefix(f"PLUMBLINE_{service.upper()}_"): value for name, value in variables.items()}
        for service, variables in told.items()
    }
    calls = {
        "ranking": ("embedding",),
        "search": ("embedding", "ranking"),
        "answer": ("search", "embedding"),
        "ingest": ("embedding", "search"),
        "gateway": ("search", "answer", "ingest", "embedding", "ranking"),
    }
    for service in SERVICES:
        found = {name.removesuffix("_TARGET").lower() for name in targets[service] if name.endswith("_TARGET")}
        assert found == set(calls.get(service, ()))
        for callee in found:
            assert targets[service][f"{callee.upper()}_TARGET"] == f"127.0.0.1:{PORTS[callee]}"


def test_no_service_is_started_before_one_that_it_calls() -> None:
    for service, variables in environment(PORTS, OPTIONS).items():
        called = [name for name in SERVICES if f"PLUMBLINE_{service.upper()}_{name.upper()}_TARGET" in variables]
        assert all(SERVICES.index(name) < SERVICES.index(service) for name in called)


def test_a_language_model_is_named_to_the_answer_service_only() -> None:
    options = Options(
        data=Path("/data"), model="/models/a-model", otlp_port=1, llm_url="http://llm/v1", llm_model="small"
    )
    with_llm, without = environment(PORTS, options), environment(PORTS, OPTIONS)
    assert with_llm["answer"]["PLUMBLINE_ANSWER_LLM_URL"] == "http://llm/v1"
    assert not any("LLM" in name for name in without["answer"])
    assert [name for name in SERVICES if any("LLM" in variable for variable in with_llm[name])] == ["answer"]


def test_search_and_ingest_are_told_the_same_one_engine() -> None:
    options = Options(data=Path("/data"), model="m", otlp_port=1, index_server=IndexServer("w:1:2", "hush"))
    for chosen, index in (
        (OPTIONS, {"INDEX_FOLDER": "/data/index"}),
        (options, {"WEAVIATE_NODES": "w:1:2", "WEAVIATE_API_KEY": "hush"}),
    ):
        for service, variables in environment(PORTS, chosen).items():
            prefix = f"PLUMBLINE_{service.upper()}_"
            told = {name.removeprefix(prefix): value for name, value in variables.items()}
            about_index = {name: value for name, value in told.items() if name.startswith(("INDEX", "WEAVIATE"))}
            assert about_index == (index if service in ("search", "ingest") else {})
