"""What the tests in this folder look at: the repository's own Python files, generated code left out."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def python_files(folder: str) -> list[Path]:
    """The Python files under `folder`, relative to the repository, in order of their path."""
    return sorted(file.relative_to(ROOT) for file in (ROOT / folder).rglob("*.py") if "__pycache__" not in file.parts)


def pure_files() -> list[Path]:
    """The modules that decide without doing: domain code, text analysis and the batch plan."""

    def is_pure(file: Path) -> bool:
        return (
            "domain" in file.parts
            or file.is_relative_to("services/shared/text")
            or file == Path("services/shared/batching/plan.py")
        )

    return [file for file in python_files("services") if is_pure(file) and file.name != "__init__.py"]


def syntax_tree(file: Path) -> ast.Module:
    """The syntax tree of `file`, which is relative to the repository."""
    return ast.parse((ROOT / file).read_text(), filename=str(file))
