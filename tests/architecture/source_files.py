"""What the tests in this folder look at: the repository's own Python files, generated code left out."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def python_files(folder: str) -> list[Path]:
    """The Python files under `folder`, relative to the repository, in order of their path."""
    return sorted(file.relative_to(ROOT) for file in (ROOT / folder).rglob("*.py") if "__pycache__" not in file.parts)


def syntax_tree(file: Path) -> ast.Module:
    """The syntax tree of `file`, which is relative to the repository."""
    return ast.parse((ROOT / file).read_text(), filename=str(file))
