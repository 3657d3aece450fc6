import re
from collections import Counter
from pydoc_data.topics import topics

import pytest
from markdown_it import MarkdownIt

from services.local.python_topics import to_markdown


def test_underlined_headings_become_markdown_of_their_level() -> None:
    text = 'The "with" statement\n********************\n\nText.\n\n\nA\n===\n\nB\n---\nDirectly\n\nC\n~~~\n'
    assert to_markdown(text) == ('# The "with" statement\n\nText.\n\n## A\n\n### B\n\nDirectly\n\n#### C')


@pytest.mark.parametrize("text", ["a\n**", "a\n==-==", "Plain text\nover two lines."])
def test_what_is_no_underlined_heading_stays_as_it_is(text: str) -> None:
    assert to_markdown(text) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The following code:\n\n   with A() as a:\n       B()\n\n   C()\n\nText.", "with A() as a:\n    B()\n\nC()"),
        ('Text.\n\n   pass_stmt ::= "pass"\n\nText.', 'pass_stmt ::= "pass"'),
        ("Text.\n\n   >>> __name__\n   '__main__'\n\n   Prose follows here.", ">>> __name__\n'__main__'"),
        ("Text.\n\n+---+---+\n| a | b |\n+---+---+", "+---+---+\n| a | b |\n+---+---+"),
    ],
)
def test_code_grammar_sessions_and_tables_are_fenced_as_they_are(text: str, code: str) -> None:
    assert f"\n\n```\n{code}\n```" in to_markdown(text)
    assert to_markdown(text).count("```") == 2


@pytest.mark.parametrize(
    "text",
    [
        "object.name(self)\n\n   Called when something happens.",
        "These are sequences:\n\n   * a class that inherits",
        "1. First do this:\n\n   then that.",
    ],
)
def test_indented_prose_is_not_code(text: str) -> None:
    assert "```" not in to_markdown(text)


def test_code_inside_a_definition_is_left_to_its_indentation() -> None:
    assert to_markdown("a.b()\n\n   Text_s:\n\n      x_y = 1") == "a.b()\n\n   Text\\_s:\n\n      x_y = 1"


def rendered(markdown: str) -> str:
    """The words that a reader of the Markdown sees."""
    seen: list[str] = []
    for block in MarkdownIt("commonmark").parse(markdown):
        if block.type == "inline":
            seen += [part.content or " " for part in block.children or ()]
        elif block.content:
            seen.append(block.content)
        seen.append("\n")
    return "".join(seen)


def names(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w*__\w+__\w*|\w+_\w+", text))


def test_every_name_of_every_topic_is_read_as_it_was_written() -> None:
    changed = {topic for topic, text in topics.items() if names(rendered(to_markdown(text))) != names(text)}
    assert changed == set()
