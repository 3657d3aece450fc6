"""What can be told of the images without building them."""

import re
from dataclasses import dataclass

from tests.charts.rendering import ROOT, SERVICES


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: what it starts from, and its instructions as (word, rest)."""

    origin: str
    instructions: tuple[tuple[str, str], ...]

    def all(self, word: str) -> list[str]:
        return [rest for name, rest in self.instructions if name == word]


def stages() -> dict[str, Stage]:
    """The stages of the Dockerfile by name; what stands before the first is the stage of no name."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", "")
    found: dict[str, Stage] = {}
    name, stage = "", Stage("", ())
    for line in filter(str.strip, text.splitlines()):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found[name] = stage
            origin, _, name = rest.partition(" AS ")
            stage = Stage(origin, ())
        else:
            stage = Stage(stage.origin, (*stage.instructions, (word, rest.strip())))
    return found | {name: stage}


def test_every_service_has_a_target_that_runs_it() -> None:
    for service in SERVICES:
        assert stages()[service].all("ENTRYPOINT") == [f'["python", "-m", "services.{service}"]']


def test_every_target_runs_as_the_user_of_the_chart() -> None:
    assert {stages()[service].origin for service in SERVICES} == {"runtime"}
    assert stages()["runtime"].all("USER") == ["10001:10001"]
    assert all(not stages()[service].all("USER") for service in SERVICES)


def test_the_only_foreign_image_is_the_base_that_the_builder_pins() -> None:
    found = stages()
    assert found[""].all("ARG") == ["BASE"]  # without a default
    assert {stage.origin for name, stage in found.items() if name} - found.keys() == {"${BASE}"}
    assert "latest" not in (ROOT / "Dockerfile").read_text()


def test_each_service_gets_its_own_packages_and_only_embedding_gets_torch() -> None:
    for service in SERVICES:
        (installs,) = stages()[f"{service}-packages"].all("RUN")
        assert re.findall(r"--extra (\w+)", installs)[0] == service
        assert ("torch" in installs) == (service == "embedding")
        copied = stages()[service].all("COPY")
        assert copied == [f"--from={service}-packages /opt/packages /opt/packages", "--from=code /opt/code /opt/code"]


def test_everything_but_torch_and_our_own_wheel_is_installed_by_hash() -> None:
    found = stages()
    assert "--require-hashes" in " ".join(found["packages"].all("ENV"))
    commands = [command for stage in found.values() for run in stage.all("RUN") for command in run.split("&&")]
    installs = [command.strip() for command in commands if re.search(r"\b(install|build) ", command)]
    by_hash = [command for command in installs if re.search(r"--require-hashes|\$\{LOCKED\}", command)]
    others = [command for command in installs if command not in by_hash]
    assert len(by_hash) == 9
    assert [re.findall(r"TORCH_OPTIONS|dist/\*\.whl", command) for command in others] == [
        ["dist/*.whl"],
        ["TORCH_OPTIONS"],
    ]


def test_what_is_copied_from_the_checkout_is_there_and_not_ignored() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    kept = tuple(line.removeprefix("!") for line in ignored if line.startswith("!"))
    copied = [
        source
        for stage in stages().values()
        for rest in stage.all("COPY")
        if not rest.startswith("--from=")
        for source in rest.split()[:-1]
    ]
    assert copied
    for source in copied:
        assert (ROOT / source).exists()
        assert any(source == name or source.startswith(f"{name}/") for name in kept)
