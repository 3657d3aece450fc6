import re

import pytest

from services.answer.domain.markdown_code import MarkdownCode

TOKEN = re.compile(r"`+|~+|\n|\\|[^`~\n\\]+")


def literal_after(text: str) -> bool:
    """Whether what would follow `text` is taken literally."""
    code = MarkdownCode()
    for token in TOKEN.findall(text):
        code.feed(token)
    return code.takes_literally()


@pytest.mark.parametrize(
    "text",
    ["a `b", "a ``b`", "```\n", "```py\n", "~~~\nx", "> ```\n", "- ```\n", "1. text:\n   ```\n   x", "```\n``\n",
     "```\n~~~\n", "````\n```\n", "```\ncode\n``` not the end\n"],
)  # fmt: skip
def test_inside_code(text: str) -> None:
    assert literal_after(text)


@pytest.mark.parametrize(
    "text",
    ["", "a `b` c", "``b` c`` d", "```\nx\n```\n", "```x``` d", "~~~\nx\n~~~~\n", "a ~~~ b\n", "~~struck~~ ",
     "text ```\n"],
)  # fmt: skip
def test_outside_code(text: str) -> None:
    assert not literal_after(text)


def test_a_stray_backtick_ends_with_its_line() -> None:
    assert literal_after("the ` key")
    assert not literal_after("the ` key\n")


def test_a_backslash_escapes_one_character_outside_code() -> None:
    assert literal_after("\\")
    assert not literal_after("\\\\")
    assert not literal_after("\\` ")
    assert literal_after("`\\")


def test_a_fence_that_is_escaped_opens_nothing() -> None:
    assert not literal_after("\\```\n")


@pytest.mark.parametrize("text", ["```py\n```\n", "a ``b`` `c", "~~~~\n~~~\n"])
def test_runs_may_arrive_sign_by_sign(text: str) -> None:
    whole, single = MarkdownCode(), MarkdownCode()
    for token in TOKEN.findall(text):
        whole.feed(token)
        for character in token:
            single.feed(character)
        assert whole.takes_literally() == single.takes_literally()
