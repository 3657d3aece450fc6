from pathlib import Path

from tests.architecture.source_files import ROOT, pure_files


def mirror(file: Path) -> Path:
    """Where the tests of a module stand: the same path, the same noun."""
    return Path("tests/unit") / file.relative_to("services").with_name(f"test_{file.name}")


def test_every_pure_module_has_a_mirror_in_the_unit_tests() -> None:
    assert [str(file) for file in pure_files() if not (ROOT / mirror(file)).is_file()] == []


def test_a_mirror_has_the_path_and_noun_of_its_module() -> None:
    assert mirror(Path("services/search/domain/fusion.py")) == Path("tests/unit/search/domain/test_fusion.py")
