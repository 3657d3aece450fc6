"""The form of the trial: one Pod with six containers that may do as little as possible."""

import pytest

from tests.charts.rendering import SERVICES, Object, containers, only, render, rendered_files, trial_pod


def all_containers(pod: Object) -> list[Object]:
    return [*pod.get("initContainers", ()), *pod["containers"]]


def mounts(container: Object) -> dict[str, tuple[str, str | None, bool]]:
    """Volume, folder in it and whether it is read-only, by path."""
    return {
        mount["mountPath"]: (mount["name"], mount.get("subPath"), mount.get("readOnly", False))
        for mount in container["volumeMounts"]
    }


def test_the_trial_is_one_replaced_pod_with_six_containers_and_one_claim() -> None:
    objects = render()
    assert [(each["kind"], each["metadata"]["name"]) for each in objects] == [
        ("ConfigMap", "demo-plumbline-probe"),
        ("Deployment", "demo-plumbline-trial"),
        ("PersistentVolumeClaim", "demo-plumbline-data"),
        ("ServiceAccount", "demo-plumbline"),
    ]
    deployment = only("Deployment", objects)["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    assert set(containers(deployment["template"]["spec"])) == SERVICES


def test_a_release_named_after_the_chart_does_not_say_it_twice() -> None:
    assert only("ServiceAccount", render(release="plumbline"))["metadata"]["name"] == "plumbline"


def test_selectors_are_the_frozen_part_of_the_labels() -> None:
    deployment = only("Deployment", render())
    selector = deployment["spec"]["selector"]["matchLabels"]
    # Kubernetes refuses an upgrade that changes these: if this fails, it is the chart that is wrong.
    assert selector == {
        "app.kubernetes.io/name": "plumbline",
        "app.kubernetes.io/instance": "demo",
        "app.kubernetes.io/component": "trial",
    }
    for labels in (deployment["metadata"]["labels"], deployment["spec"]["template"]["metadata"]["labels"]):
        assert selector.items() < labels.items()


def test_every_object_carries_the_recommended_labels() -> None:
    wanted = {"name", "instance", "component", "part-of", "version", "managed-by"}
    for each in render():
        assert {f"app.kubernetes.io/{label}" for label in wanted} < each["metadata"]["labels"].keys()


def test_the_pod_has_no_token_no_links_and_no_root() -> None:
    pod = trial_pod()
    assert pod["automountServiceAccountToken"] is False
    assert only("ServiceAccount", render())["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 10001,
        "runAsGroup": 10001,
        "fsGroup": 10001,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def test_the_platform_may_choose_the_user() -> None:
    security = trial_pod({"user": None})["securityContext"]
    assert security["runAsNonRoot"] is True
    assert not {"runAsUser", "runAsGroup", "fsGroup"} & security.keys()


def test_every_container_is_confined_and_has_resources() -> None:
    for container in all_containers(trial_pod()):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"cpu", "memory"} <= container["resources"]["requests"].keys()
        assert "memory" in container["resources"]["limits"]
        assert mounts(container)["/tmp"] == ("tmp", container["name"], False)


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_every_service_has_three_probes_that_ask_inside_the_pod(service: str) -> None:
    container = containers(trial_pod())[service]
    for kind, question in (("startup", "alive"), ("readiness", "ready"), ("liveness", "alive")):
        probe = container[f"{kind}Probe"]
        interpreter, script, *asked = probe["exec"]["command"]
        (port,) = (each["value"] for each in container["env"] if each["name"] == f"PLUMBLINE_{service.upper()}_PORT")
        assert (interpreter, script) == ("python", "/etc/plumbline/probe.py")
        assert asked == [question, "http" if service == "gateway" else "grpc", port]
        assert {"periodSeconds", "timeoutSeconds", "failureThreshold"} < probe.keys()


def test_each_container_sees_only_the_stores_it_uses() -> None:
    stores = {
        name: {path.removeprefix("/data/") for path in mounts(container) if path.startswith("/data/")}
        for name, container in containers(trial_pod()).items()
    }
    assert stores == {
        "gateway": {"catalog"},
        "embedding": {"models"},
        "ranking": set(),
        "search": {"catalog", "index"},
        "answer": set(),
        "ingest": {"blobs", "catalog", "index"},
    }
    for name, container in containers(trial_pod()).items():
        for store in stores[name]:
            assert mounts(container)[f"/data/{store}"] == ("data", store, store == "models")


def test_weights_come_from_the_internet_from_a_claim_or_not_at_all() -> None:
    (fetching,) = trial_pod()["initContainers"]
    assert mounts(fetching)["/data/models"] == ("data", "models", False)

    own = trial_pod({"weights": {"claim": "models"}})
    assert "initContainers" not in own
    assert mounts(containers(own)["embedding"])["/data/models"] == ("weights", None, True)
    assert {"name": "weights", "persistentVolumeClaim": {"claimName": "models", "readOnly": True}} in own["volumes"]

    assert "initContainers" not in trial_pod({"services": {"embedding": {"settings": {"model": "hashing"}}}})


def test_the_time_to_stop_is_the_longest_drain_and_grace_and_five_seconds() -> None:
    assert trial_pod()["terminationGracePeriodSeconds"] == 2 + 30 + 5
    settings = {"drain_s": 0.5, "grace_s": 90}
    assert trial_pod({"services": {"ingest": {"settings": settings}}})["terminationGracePeriodSeconds"] == 91 + 5


def test_images_are_named_by_version_or_digest() -> None:
    digest = f"sha256:{'0' * 64}"
    values = {"image": {"repository": "registry.example/plumbline"}, "services": {"search": {"digest": digest}}}
    images = {name: container["image"] for name, container in containers(trial_pod(values)).items()}
    assert images["search"] == f"registry.example/plumbline/search@{digest}"
    assert images["ingest"] == "registry.example/plumbline/ingest:0.1.0"
    assert containers(trial_pod({"image": {"tag": "0.2.0"}}))["ingest"]["image"] == "localhost/plumbline/ingest:0.2.0"


def test_a_service_says_only_what_differs() -> None:
    values = {"services": {"search": {"probes": {"liveness": {"periodSeconds": 7}}}}}
    changed, other = (containers(trial_pod(values))[name]["livenessProbe"] for name in ("search", "answer"))
    assert (changed["periodSeconds"], changed["timeoutSeconds"]) == (7, other["timeoutSeconds"])
    assert other["periodSeconds"] != 7


def test_the_volume_outlives_the_release_unless_told_otherwise() -> None:
    assert only("PersistentVolumeClaim", render())["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    claim = only("PersistentVolumeClaim", render({"volume": {"keep": False, "storageClass": "fast", "size": "1Gi"}}))
    assert "annotations" not in claim["metadata"]
    assert claim["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    }


def test_a_claim_that_exists_is_used_and_none_is_made() -> None:
    objects = render({"volume": {"existingClaim": "documents"}})
    assert "PersistentVolumeClaim" not in {each["kind"] for each in objects}
    volumes = only("Deployment", objects)["spec"]["template"]["spec"]["volumes"]
    assert {"name": "data", "persistentVolumeClaim": {"claimName": "documents"}} in volumes


def test_placement_and_credentials_reach_the_pod() -> None:
    taint = {"key": "small", "operator": "Exists", "effect": "NoSchedule"}
    pod = trial_pod({"nodeSelector": {"zone": "a"}, "tolerations": [taint], "image": {"pullSecrets": ["registry"]}})
    assert (pod["nodeSelector"], pod["tolerations"]) == ({"zone": "a"}, [taint])
    assert pod["imagePullSecrets"] == [{"name": "registry"}]


def test_the_notes_say_how_to_get_in_and_why_there_is_no_other_way() -> None:
    notes = rendered_files({"services": {"gateway": {"port": 8088}}})["NOTES.txt"]
    assert "kubectl --namespace here port-forward deployment/demo-plumbline-trial 8088" in notes
    assert "There is no Service: this version has no keys" in notes
