from pathlib import Path

from tests.architecture.source_files import python_files

# Names that say nothing of what is inside. A model is weights here and a type has a name of its own.
_SAY_NOTHING = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "base", "core", "model", "types"}


def says_nothing(file: Path) -> bool:
    return bool(_SAY_NOTHING & {*file.parent.parts, file.stem})


def test_every_file_is_named_after_the_concept_in_it() -> None:
    files = [*python_files("services"), *python_files("tests")]
    assert [str(file) for file in files if says_nothing(file)] == []


def test_files_and_folders_that_say_nothing_are_seen() -> None:
    assert says_nothing(Path("services/search/utils.py"))
    assert says_nothing(Path("services/core/fusion.py"))
    assert not says_nothing(Path("services/search/domain/fusion.py"))
