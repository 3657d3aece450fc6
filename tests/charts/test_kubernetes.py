"""Every rendered object is one that Kubernetes knows, in the oldest and the newest version the validator knows."""

import kubernetes_validate
import pytest

from tests.charts.rendering import Object, only, render

_VERSIONS = kubernetes_validate.utils.all_versions()
_CHOSEN: Object = {
    "user": None,
    "image": {"pullSecrets": ["registry"]},
    "nodeSelector": {"zone": "a"},
    "tolerations": [{"key": "small", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}],
    "volume": {"storageClass": "fast", "keep": False},
    "weights": {"claim": "models"},
    "services": {"search": {"secrets": {"cursor_secret": {"name": "cursors", "key": "secret"}}}},
}


@pytest.mark.parametrize("version", [_VERSIONS[0], _VERSIONS[-1]])
@pytest.mark.parametrize("values", [None, _CHOSEN], ids=["defaults", "chosen"])
def test_kubernetes_takes_every_object(version: str, values: Object | None) -> None:
    for each in render(values):
        kubernetes_validate.validate(each, version, strict=True)


def test_a_key_that_kubernetes_does_not_know_is_seen() -> None:
    deployment = only("Deployment", render())
    deployment["spec"]["template"]["spec"]["containers"][0]["livenessprobe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, _VERSIONS[-1], strict=True)
