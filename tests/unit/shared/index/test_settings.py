import pytest

from services.ingest.settings import IngestSettings
from services.search.settings import SearchSettings
from services.shared.index.settings import IndexSettings
from services.shared.runtime.settings import read_settings

ADDRESSES = {
    SearchSettings: {"PORT": "0", "EMBEDDING_TARGET": "e:1", "RANKING_TARGET": "r:1", "CATALOG_URL": "sqlite:///c"},
    IngestSettings: {"PORT": "0", "EMBEDDING_TARGET": "e:1", "BLOBS_URL": "b", "CATALOG_URL": "sqlite:///c"},
}


def read(monkeypatch: pytest.MonkeyPatch, kind: type[IndexSettings], **knobs: str) -> IndexSettings:
    """The service's settings when it is told these about the index."""
    for knob, value in {**ADDRESSES[kind], **knobs}.items():
        monkeypatch.setenv(f"{kind.model_config['env_prefix']}{knob}", value)
    return read_settings(kind)


@pytest.mark.parametrize("kind", ADDRESSES)
@pytest.mark.parametrize(
    ("knobs", "how"),
    [({}, "neither"), ({"INDEX_FOLDER": "/data/index", "WEAVIATE_NODES": "weaviate:8080:50051"}, "both")],
)
def test_both_engines_or_none_is_refused_in_one_sentence_that_names_both_knobs(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: type[IndexSettings],
    knobs: dict[str, str],
    how: str,
) -> None:
    with pytest.raises(SystemExit):
        read(monkeypatch, kind, **knobs)
    prefix = kind.model_config["env_prefix"]
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith(f"refusing to start: {prefix}INDEX_FOLDER and {prefix}WEAVIATE_NODES: give one of them")
    assert sentence.endswith(how)


def test_nodes_that_are_malformed_are_refused_by_their_knob(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read(monkeypatch, SearchSettings, WEAVIATE_NODES="http://weaviate:8080")
    assert "PLUMBLINE_SEARCH_WEAVIATE_NODES: 'http://weaviate:8080' is not host:http_port" in capsys.readouterr().err


@pytest.mark.parametrize(("factor", "fits"), [("1", True), ("2", False), ("3", True), ("4", False)])
def test_copies_are_on_one_node_or_on_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], factor: str, fits: bool
) -> None:
    knobs = {"WEAVIATE_NODES": "a:1:2,b:1:2,c:1:2", "WEAVIATE_REPLICATION_FACTOR": factor}
    if fits:
        assert read(monkeypatch, SearchSettings, **knobs).weaviate_replication_factor == int(factor)
        return
    with pytest.raises(SystemExit):
        read(monkeypatch, SearchSettings, **knobs)
    said = capsys.readouterr().err
    assert "SEARCH_WEAVIATE_REPLICATION_FACTOR must be 1 or the number of" in said
    assert said.strip().endswith("SEARCH_WEAVIATE_NODES, which is 3")


def test_a_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = read(monkeypatch, SearchSettings, WEAVIATE_NODES="w:1:2", WEAVIATE_API_KEY="hush")
    assert "hush" not in repr(settings)
    assert settings.weaviate_api_key is not None and settings.weaviate_api_key.get_secret_value() == "hush"
