"""What import contracts cannot see: a clock or chance that comes through an allowed module, such as datetime.now()."""

import ast

import pytest

from tests.architecture.source_files import pure_files, syntax_tree

_CLOCKS_AND_CHANCE = {"now", "utcnow", "today", "random", "uuid1", "uuid4", "urandom"}


def uses(tree: ast.AST) -> list[int]:
    """The lines of `tree` that reach for a clock or for chance."""
    return [
        node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in _CLOCKS_AND_CHANCE
    ]


def test_domain_code_and_text_analysis_ask_no_clock_and_leave_nothing_to_chance() -> None:
    assert {str(file): lines for file in pure_files() if (lines := uses(syntax_tree(file)))} == {}


@pytest.mark.parametrize("call", ["datetime.now()", "date.today()", "np.random.default_rng()", "uuid.uuid4()"])
def test_a_use_is_seen(call: str) -> None:
    assert uses(ast.parse(call)) == [1]
