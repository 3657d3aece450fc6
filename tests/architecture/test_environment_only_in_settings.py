import ast
from pathlib import Path

import pytest

from tests.architecture.source_files import python_files, syntax_tree

# What reads or changes the environment in the os module.
_NAMES = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}


def may_read(file: Path) -> bool:
    return file.name == "settings.py" or file.is_relative_to("services/local")


def environment_reads(tree: ast.AST) -> list[int]:
    """The lines of `tree` that touch the environment, as an attribute or by an import of the name."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in _NAMES)
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and _NAMES & {name.name for name in node.names})
    ]


def test_only_settings_and_the_local_set_up_read_the_environment() -> None:
    readers = {
        str(file): lines
        for file in python_files("services")
        if not may_read(file) and (lines := environment_reads(syntax_tree(file)))
    }
    assert readers == {}


@pytest.mark.parametrize(
    "source",
    ["import os\nos.environ['A']", "import os\nos.getenv('A')", "from os import environ", "from os import getenv as g"],
)
def test_a_read_is_seen_however_it_is_written(source: str) -> None:
    assert environment_reads(ast.parse(source))


def test_a_parameter_of_that_name_is_no_read() -> None:
    assert environment_reads(ast.parse("def run(environment): return environment['A']")) == []
