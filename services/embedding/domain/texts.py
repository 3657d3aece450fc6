"""Which texts can have a vector at all."""

import unicodedata

# White space and separators, control and format characters (zero-width ones among them): nothing that could be read.
_UNREADABLE = {"Zs", "Zl", "Zp", "Cc", "Cf"}


def is_blank(text: str) -> bool:
    """No character of the text can be read. Stops at the first that can."""
    return all(unicodedata.category(character) in _UNREADABLE for character in text)
