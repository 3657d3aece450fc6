"""What counts as the same letter: compatibility forms, digits, invisible characters, reading marks, signs and case.

Both functions pass over every text of a window, so each first asks whether there is anything to do: 100 chunks of 3,600
characters take 1 to 2 ms this way and 20 to 30 without.
"""

import re
import unicodedata
from collections.abc import Mapping

import regex

# Characters without a shape of their own: joiners, marks of direction, variation selectors, byte order marks.
# A zero-width space found in scraped prose stands inside words as often as between them, so it goes too.
_INVISIBLE_CHARACTERS = r"\u00ad\u061c\u200b\u200d-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
NON_JOINER = "\u200c"
# What helps to read aloud or fills a line: Hebrew points, Arabic vowel signs and tatweel; Russian stress.
_POINTS = r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670\u06d6-\u06dc\u06df-\u06e4"
_STRESS = r"\u0300\u0301"
# A small iota under a letter of another script than Greek is a stray mark, which case folding would make a letter.
_IOTA = r"\u0345"
# Thai and Lao write a ring and a tone over one letter, and people type them in either order.
_RINGS, _TONES = r"\u0e4d\u0ecd", r"\u0e48-\u0e4b\u0ec8-\u0ecb"

_INVISIBLE = re.compile(f"[{_INVISIBLE_CHARACTERS}]")
# Persian parts a word with a non-joiner (می‌روم); elsewhere it only chooses between shapes of the same letters.
_IDLE_NON_JOINER = regex.compile(r"(?<!\p{Arabic})\u200c++|\u200c++(?!(?=\p{Arabic})\p{L})")
_POINT = re.compile(f"[{_POINTS}]")
_STRAY_MARK = regex.compile(rf"(?<=\p{{Cyrillic}}\p{{M}}*)[{_STRESS}]|(?<!\p{{Greek}}\p{{M}}*){_IOTA}")
_RING_AND_TONE = re.compile(f"[{_TONES}]*[{_RINGS}][{_RINGS}{_TONES}]*")
# Decimal digits from the Arabic-Indic ones up to the end of the basic plane: with characters beyond it, a pattern is
# twenty times as slow, and the digits there are of scripts that only scholars write.
_DIGITS = "".join(chr(code) for code in range(0x660, 0x10000) if chr(code).isdecimal())
_DIGIT = re.compile(f"[{_DIGITS}]")
_TOUCHED = re.compile(f"[{_INVISIBLE_CHARACTERS}{NON_JOINER}{_POINTS}{_STRESS}{_IOTA}{_RINGS}{_DIGITS}]")

# Word processors write 1–12 and don’t for what a person types as 1-12 and don't. Two e are one ae in Thai.
_PLAIN_SIGNS = {
    "\u2010": "-", "\u2012": "-", "\u2013": "-", "\u2212": "-", "\u2019": "'", "\u02bc": "'", "เเ": "แ"
}  # fmt: skip
# I, İ and ı are one letter; Persian and Urdu keyboards have their own yeh, kaf and heh for the Arabic ones.
_ONE_LETTER = {"I": "i", "İ": "i", "ı": "i", "ی": "ي", "ک": "ك", "ہ": "ه", NON_JOINER: ""}


def normalise(text: str) -> str:
    """NFKC without invisible characters and reading marks, with ASCII digits, one kind of hyphen and apostrophe.

    Case is kept. Idempotent.
    """
    if text.isascii():
        return text
    if _TOUCHED.search(text):
        text = _only_telling_non_joiners(_INVISIBLE.sub("", text))
    text = _nfkc(text)
    if _TOUCHED.search(text):
        text = _DIGIT.sub(_value, _STRAY_MARK.sub("", _POINT.sub("", text)))
        text = _RING_AND_TONE.sub(lambda marks: "".join(sorted(marks.group())), text)
        text = _nfkc(_only_telling_non_joiners(text))
    return _replaced(text, _PLAIN_SIGNS)


def fold_case(text: str) -> str:
    """Case-folded `text`, in which I, İ, ı and i are one letter whatever the language, as are ی and ي.

    The dot that lower-casing İ leaves behind (i + U+0307) goes as well, so text that another program has lower-cased
    without knowing Turkish still meets.
    """
    if text.isascii():
        return text.lower()
    return _nfkc(_replaced(text, _ONE_LETTER).casefold()).replace("i\u0307", "i")


def _nfkc(text: str) -> str:
    # Asking first is ten times as fast where text is in Devanagari.
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


def _replaced(text: str, replacements: Mapping[str, str]) -> str:
    # str.translate looks every character up: 8 ms for those 100 chunks, where this takes 0.1.
    for old, new in replacements.items():
        text = text.replace(old, new)
    return text


def _only_telling_non_joiners(text: str) -> str:
    return _IDLE_NON_JOINER.sub("", text) if NON_JOINER in text else text


def _value(digit: re.Match[str]) -> str:
    """२ is 2."""
    return str(unicodedata.decimal(digit.group()))
