"""Which Snowball stemmer reads the words of which locale."""

import snowballstemmer

_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

# In a text written in another script, a word in plain Latin letters is nearly always English.
_OTHER_SCRIPTS = frozenset(
    ("ar", "bg", "el", "fa", "he", "hi", "hy", "ja", "ko", "ne", "ru", "ta", "th", "uk", "yi", "zh")
)


def language_of(locale: str) -> str:
    """The language of a locale in lower case: `tr-TR` and `tr_TR` mean `tr`; the empty locale means none."""
    return locale.replace("_", "-").split("-", 1)[0].lower()


def stem(word: str, language: str) -> str:
    """The stem of a folded `word`; the word itself where Snowball does not know `language`.

    A word in ASCII letters in a language of another script is stemmed as English.
    """
    known = "en" if language in _OTHER_SCRIPTS and word.isascii() else language
    algorithm = _ALGORITHMS.get(known)
    if algorithm is None:
        return word
    # A stemmer keeps the word it works on, so one that threads shared would mix words up; a new one costs 0.2 µs.
    return snowballstemmer.stemmer(algorithm).stemWord(word) or word
