import platform
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.local import bootstrap


class FakePerform:
    """Records steps instead of running them; makes the folder as the first step would; fails on demand."""

    def __init__(self, root: Path, fails_at: str | None = None) -> None:
        self.root = root
        self.fails_at = fails_at
        self.titles: list[str] = []

    def __call__(self, step: bootstrap.Step) -> None:
        self.titles.append(step.title)
        (self.root / ".venv").mkdir(exist_ok=True)
        if step.title == self.fails_at:
            raise bootstrap.SetUpFailed(step.title)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    checkout = tmp_path / "checkout"
    for name in bootstrap.INPUTS:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(bootstrap.ROOT / name, checkout / name)
    return checkout


def test_first_run_does_every_step_and_the_second_does_nothing(root: Path) -> None:
    first, second = FakePerform(root), FakePerform(root)
    bootstrap.set_up(root, first)
    bootstrap.set_up(root, second)
    assert first.titles[0].startswith("virtual environment")
    assert first.titles[1:] == ["uv", "locked packages", "torch 2.13.0", "plumbline itself"]
    assert second.titles == []


@pytest.mark.parametrize("name", bootstrap.INPUTS)
def test_a_changed_input_updates_the_environment_in_place(root: Path, name: str) -> None:
    bootstrap.set_up(root, FakePerform(root))
    with (root / name).open("a") as file:
        file.write("# changed\n")
    again = FakePerform(root)
    bootstrap.set_up(root, again)
    assert again.titles == ["uv", "locked packages", "torch 2.13.0", "plumbline itself"]


def test_an_interrupted_set_up_is_done_again_from_the_start(root: Path) -> None:
    with pytest.raises(bootstrap.SetUpFailed):
        bootstrap.set_up(root, FakePerform(root, fails_at="locked packages"))
    again = FakePerform(root)
    bootstrap.set_up(root, again)
    assert again.titles[0].startswith("virtual environment")


def test_an_interrupted_update_is_done_again_from_the_start(root: Path) -> None:
    bootstrap.set_up(root, FakePerform(root))
    (root / bootstrap.LOCK).write_text("# other packages\n")
    with pytest.raises(bootstrap.SetUpFailed):
        bootstrap.set_up(root, FakePerform(root, fails_at="locked packages"))
    again = FakePerform(root)
    bootstrap.set_up(root, again)
    assert again.titles[0].startswith("virtual environment")


def test_another_python_makes_the_environment_anew(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bootstrap.set_up(root, FakePerform(root))
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.0")
    again = FakePerform(root)
    bootstrap.set_up(root, again)
    assert again.titles[0] == "virtual environment, Python 3.99.0"


def test_of_two_set_ups_at_once_one_works_and_the_other_waits(root: Path) -> None:
    performs = [FakePerform(root), FakePerform(root)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda perform: bootstrap.set_up(root, perform), performs))
    assert sorted(len(perform.titles) for perform in performs) == [0, 5]


def test_a_torch_wheel_for_this_python_beside_the_checkout_is_the_only_source(root: Path) -> None:
    wheels = root.parent / "shared" / "wheels"
    wheels.mkdir(parents=True)
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    (wheels / f"torch-2.13.0+cpu-{tag}-{tag}-manylinux_2_28_{platform.machine()}.whl").touch()
    torch = next(step for step in bootstrap.plan(root, fresh=False) if step.title.startswith("torch"))
    assert [command[-3:] for command in torch.commands] == [("--find-links", str(wheels), "torch==2.13.0")]


def test_without_a_fitting_wheel_the_cpu_index_is_tried_before_the_package_index(root: Path) -> None:
    wheels = root.parent / "shared" / "wheels"
    wheels.mkdir(parents=True)
    (wheels / "torch-2.13.0+cpu-cp27-cp27-manylinux_2_28_other.whl").touch()
    torch = next(step for step in bootstrap.plan(root, fresh=False) if step.title.startswith("torch"))
    assert ["--torch-backend=auto" in command for command in torch.commands] == [True, False]
    assert not any("--find-links" in command for command in torch.commands)


def test_the_first_alternative_that_succeeds_is_enough(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    touch = (sys.executable, "-c", f"open({str(proof)!r}, 'a').write('x')")
    bootstrap.perform(bootstrap.Step("a step", ((sys.executable, "-c", "raise SystemExit(1)"), touch, touch)))
    assert proof.read_text() == "x"


def test_a_failed_step_names_itself_and_the_remedy() -> None:
    script = "print('error: client error (Connect): dns error'); raise SystemExit(2)"
    with pytest.raises(bootstrap.SetUpFailed, match=r"^uv: the package index cannot be reached; check the network"):
        bootstrap.perform(bootstrap.Step("uv", ((sys.executable, "-c", script),)))


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "uv cache clean"),
        ("error: Hash mismatch for `torch`", "uv cache clean"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("error: command 'gcc' failed: No such file or directory", "apt-get install build-essential"),
        ("one\ntwo\nthree\nfour\nfive\n", "two / three / four / five"),
    ],
)
def test_known_failures_have_a_remedy_and_others_show_their_last_words(output: str, words: str) -> None:
    assert words in bootstrap.explain(output)


def test_an_old_python_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    with pytest.raises(bootstrap.SetUpFailed, match=r"too old, 3.11 or later is needed; .*PYTHON=python3.11"):
        bootstrap.check_python()


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_missing_venv_module_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(bootstrap.SetUpFailed, match=f"{module} module is missing; .*apt-get install python3-venv"):
        bootstrap.check_python()
