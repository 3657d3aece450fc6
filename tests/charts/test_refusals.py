import pytest

from tests.charts.rendering import Object, refusal


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"voulme": {}}, "- at '': additional properties 'voulme' not allowed"),
        ({"services": {"serch": {}}}, "- at '/services': additional properties 'serch' not allowed"),
        (
            {"services": {"search": {"settings": {"rank_timeout": 1}}}},
            "- at '/services/search/settings': additional properties 'rank_timeout' not allowed",
        ),
        ({"services": {"gateway": {"port": "8080"}}}, "- at '/services/gateway/port': got string, want integer"),
        ({"services": {"gateway": {"port": 80}}}, "- at '/services/gateway/port': minimum: got 80, want 1,024"),
        (
            {"services": {"gateway": {"metricsPort": 9100}}},
            "- at '/services/gateway': additional properties 'metricsPort' not allowed",
        ),
        (
            {"services": {"search": {"settings": {"rank_timeout_s": 100}}}},
            "- at '/services/search/settings/rank_timeout_s': maximum: got 100, want 60",
        ),
        (
            {"services": {"search": {"settings": {"embedding_target": "elsewhere:9001"}}}},
            "- at '/services/search/settings': additional properties 'embedding_target' not allowed",
        ),
        ({"services": {"search": None}}, "- at '/services': missing property 'search'"),
        ({"profile": "ha"}, "- at '/profile': value must be 'trial'"),
        (
            {"services": {"answer": {"secrets": {"llm_api_key": {"name": "llm"}}}}},
            "- at '/services/answer/secrets/llm_api_key': missing property 'key'",
        ),
        (
            {"services": {"answer": {"secrets": {"llm_api_key": "the key itself"}}}},
            "- at '/services/answer/secrets/llm_api_key': got string, want object",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_the_schema(values: Object, sentence: str) -> None:
    assert refusal(values) == sentence


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"services": {"search": {"replicas": 2}}},
            "profile trial is one Pod with one volume, so services.search.replicas cannot be 2: "
            "set it, or defaults.replicas, to 1",
        ),
        (
            {"defaults": {"replicas": 3}},
            "profile trial is one Pod with one volume, so services.answer.replicas cannot be 3: "
            "set it, or defaults.replicas, to 1",
        ),
        (
            {"services": {"search": {"port": 9102}}},
            "services.ranking.metricsPort and services.search.port are both 9102, and the containers of one Pod share "
            "its ports: choose different ones",
        ),
        *(
            (
                {"services": {"answer": {"settings": settings}}},
                "services.answer.settings.llm_url and services.answer.settings.llm_model name one language model "
                "together: set both or neither",
            )
            for settings in ({"llm_url": "http://llm:8000"}, {"llm_model": "small"})
        ),
        (
            {"services": {"answer": {"secrets": {"llm_api_key": {"name": "llm", "key": "api-key"}}}}},
            "services.answer.secrets.llm_api_key is the key of services.answer.settings.llm_url, which is not set: "
            "set it, or take the key away",
        ),
        (
            {"services": {"search": {"settings": {"max_connection_age_grace_s": 10}}}},
            "services.search.settings.max_connection_age_grace_s (10) is below grace_s (30), so a connection's age "
            "would cut calls that a stop lets finish: raise it",
        ),
        (
            {"weights": {"claim": "models"}, "services": {"embedding": {"settings": {"model": "hashing"}}}},
            "services.embedding.settings.model is hashing, which has no weights, but weights.claim names some: "
            "name a model, or empty weights.claim",
        ),
        (
            {"volume": {"existingClaim": "documents", "storageClass": "fast"}},
            "volume.existingClaim has a class already, so volume.storageClass would be ignored: empty one of them",
        ),
        (
            {"image": {"tag": "latest"}},
            "image.tag is latest, which does not say what runs: name a version, or empty it for this chart's, 0.1.0",
        ),
    ],
)
def test_a_contradiction_is_one_sentence_that_names_both_keys(values: Object, sentence: str) -> None:
    assert refusal(values) == sentence
