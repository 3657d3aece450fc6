from pathlib import Path

from tests.architecture.source_files import ROOT, python_files


def is_pure(file: Path) -> bool:
    return "domain" in file.parts or file.is_relative_to("services/shared/text")


def mirror(file: Path) -> Path:
    """Where the tests of a module stand: the same path, the same noun."""
    return Path("tests/unit") / file.relative_to("services").with_name(f"test_{file.name}")


def test_every_pure_module_has_a_mirror_in_the_unit_tests() -> None:
    modules = [file for file in python_files("services") if is_pure(file) and file.name != "__init__.py"]
    assert modules
    assert [str(file) for file in modules if not (ROOT / mirror(file)).is_file()] == []


def test_a_mirror_has_the_path_and_noun_of_its_module() -> None:
    assert mirror(Path("services/search/domain/fusion.py")) == Path("tests/unit/search/domain/test_fusion.py")
