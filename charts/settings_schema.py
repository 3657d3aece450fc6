"""Writes the services' settings into the chart's values.schema.json; with --check proves that it holds them.

The rest of that file is written by hand. What a chart works out itself (addresses, ports, folders) is left out: a user
who sets it is refused.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from services.answer.settings import AnswerServiceSettings
from services.embedding.settings import EmbeddingSettings
from services.gateway.settings import GatewaySettings
from services.ingest.settings import IngestSettings
from services.ranking.settings import RankingServiceSettings
from services.search.settings import SearchSettings
from services.shared.runtime.settings import ProcessSettings

SCHEMA = Path(__file__).resolve().parent / "plumbline" / "values.schema.json"
KINDS: dict[str, type[ProcessSettings]] = {
    "answer": AnswerServiceSettings,
    "embedding": EmbeddingSettings,
    "gateway": GatewaySettings,
    "ingest": IngestSettings,
    "ranking": RankingServiceSettings,
    "search": SearchSettings,
}
_SET_BY_THE_CHART = {
    "host", "port", "metrics_port", "threads", "catalog_url", "index_folder", "blobs_url", "models",
    # The trial keeps its index in its one volume.
    "weaviate_nodes", "weaviate_replication_factor", "weaviate_api_key",
}  # fmt: skip


def definitions() -> dict[str, Any]:
    """The generated part of `$defs`: what each service's `settings` and `secrets` may hold."""
    made = {"processSettings": _closed(dict(_knobs(ProcessSettings)))}
    for service, kind in KINDS.items():
        knobs = dict(_knobs(kind))
        secrets = {name: knob for name, knob in knobs.items() if knob.get("format") == "password"}
        made[f"{service}Settings"] = _closed({name: knob for name, knob in knobs.items() if name not in secrets})
        made[f"{service}Secrets"] = _closed(
            {name: {"description": knob["description"], "$ref": "#/$defs/secretKey"} for name, knob in secrets.items()}
        )
    return made


def _knobs(kind: type[ProcessSettings]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each knob that a user may set, with its JSON schema; one that may be unset is simply not given."""
    for name, knob in kind.model_json_schema()["properties"].items():
        if name in _SET_BY_THE_CHART or name.endswith("_target"):
            continue
        given: dict[str, Any] = next((choice for choice in knob.get("anyOf", ()) if choice["type"] != "null"), {})
        merged = {key: value for key, value in (knob | given).items() if key not in ("anyOf", "title", "writeOnly")}
        if merged.get("default", ...) is None:
            del merged["default"]
        if merged.get("format") == "uri":
            merged["pattern"] = "^https?://"
        yield name, merged


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def fresh(schema: str) -> str:
    """The text of `schema` with the generated definitions as they should be."""
    document = json.loads(schema)
    document["$defs"] |= definitions()
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare with what is committed, write nothing")
    committed = SCHEMA.read_text()
    if not parser.parse_args().check:
        SCHEMA.write_text(fresh(committed))
        return 0
    if fresh(committed) == committed:
        return 0
    print(
        f"{SCHEMA.name} does not hold the services' settings: run `python charts/settings_schema.py`", file=sys.stderr
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
