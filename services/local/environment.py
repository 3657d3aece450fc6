"""What each process is told: the one place outside the services' own settings that knows the names of their knobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

# In this order they are started; in reverse they are stopped, so that no caller outlives what it calls.
SERVICES = ("embedding", "ranking", "search", "answer", "ingest", "gateway")
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class IndexServer:
    """A Weaviate that keeps the index: its nodes as settings name them, and the key it asks for."""

    nodes: str
    api_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Options:
    """What differs from one `make run` to another.

    `data` is absolute; `model` is the absolute path of a model's folder, or `hashing` for the encoder without weights.
    Without an `index_server` the index is embedded.
    """

    data: Path
    model: str
    otlp_port: int
    index_server: IndexServer | None = None
    llm_url: str | None = None
    llm_model: str | None = None


def environment(ports: Mapping[str, int], options: Options) -> dict[str, dict[str, str]]:
    """The environment variables of every service, by service; `ports` holds the port that each one serves on."""

    def target(service: str) -> str:
        return f"{LOOPBACK}:{ports[service]}"

    catalog_url = f"sqlite:///{options.data / 'catalog.db'}"
    index = {"INDEX_FOLDER": str(options.data / "index")}
    if server := options.index_server:
        index = {"WEAVIATE_NODES": server.nodes, "WEAVIATE_API_KEY": server.api_key}
    knobs: dict[str, dict[str, str]] = {
        "embedding": {"MODEL": options.model},
        "ranking": {"EMBEDDING_TARGET": target("embedding")},
        "search": {
            "EMBEDDING_TARGET": target("embedding"),
            "RANKING_TARGET": target("ranking"),
            "CATALOG_URL": catalog_url,
            **index,
        },
        "answer": {
            "SEARCH_TARGET": target("search"),
            "EMBEDDING_TARGET": target("embedding"),
        },
        "ingest": {
            "EMBEDDING_TARGET": target("embedding"),
            "SEARCH_TARGET": target("search"),
            "CATALOG_URL": catalog_url,
            "BLOBS_URL": str(options.data / "blobs"),
            **index,
        },
        "gateway": {
            "SEARCH_TARGET": target("search"),
            "ANSWER_TARGET": target("answer"),
            "INGEST_TARGET": target("ingest"),
            "EMBEDDING_TARGET": target("embedding"),
            "RANKING_TARGET": target("ranking"),
            "CATALOG_URL": catalog_url,
        },
    }
    if options.llm_url and options.llm_model:
        knobs["answer"] |= {"LLM_URL": options.llm_url, "LLM_MODEL": options.llm_model}
    for service in SERVICES:
        knobs[service] |= {
            "PORT": str(ports[service]),
            "OTLP_ENDPOINT": f"{LOOPBACK}:{options.otlp_port}",
            # A person who pressed Ctrl-C does not wait for a long answer to end.
            "GRACE_S": "5",
        }
    return {
        service: {f"PLUMBLINE_{service.upper()}_{knob}": value for knob, value in knobs[service].items()}
        for service in SERVICES
    }
