"""What counts as the same letter: compatibility forms, invisible characters, dashes, apostrophes and case."""

import unicodedata

import regex

# Characters without a shape of their own: joiners, marks of direction, variation selectors, byte order marks.
# A zero-width space found in scraped prose stands inside words as often as between them, so it goes too.
_INVISIBLE = regex.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]")

# Word processors write 1–12 and don’t for what a person types as 1-12 and don't.
_PLAIN_SIGNS = str.maketrans({"\u2010": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-", "\u2019": "'", "\u02bc": "'"})
_ONE_I = str.maketrans("Iİı", "iii")


def normalise(text: str) -> str:
    """NFKC without invisible characters, one kind of hyphen and apostrophe; case is kept. Idempotent."""
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_PLAIN_SIGNS)


def fold_case(text: str) -> str:
    """Case-folded `text`, in which I, İ, ı and i are one letter whatever the language.

    The dot that lower-casing İ leaves behind (i + U+0307) goes as well, so text that another program has lower-cased
    without knowing Turkish still meets.
    """
    return unicodedata.normalize("NFKC", text.translate(_ONE_I).casefold()).replace("i\u0307", "i")
