"""Which Snowball stemmer reads the words of which locale."""

import regex
import snowballstemmer

from services.shared.text.spelling import bare_letters, common_spelling

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


# One of the clitics, or one of those that go before others and then one.
_HEBREW_PREFIX = regex.compile(r"(?:[ושכ][הבלמשכ]|[והבלמשכ])(?=\p{Hebrew})")


def language_of(locale: str) -> str:
    """The language of a locale in lower case: `tr-TR` and `tr_TR` mean `tr`; the empty locale means none."""
    return locale.replace("_", "-").split("-", 1)[0].lower()


def has_stemmer(language: str) -> bool:
    """Whether Snowball knows the language; where it does not, a stem is a surface without its accents."""
    return language in _ALGORITHMS


def stems(word: str, language: str) -> tuple[str, ...]:
    """What stands for the folded `word` and its other forms and spellings, the likeliest first.

    Hebrew writes and, the, in, to, from and that as a letter in front of the word, which no rule tells from the word's
    own first letters: a word has a stem for each way to read it.
    """
    first = stem(word, language)
    if language != "he":
        return (first,)
    return tuple(dict.fromkeys((first, *(word[cut:] for cut in _hebrew_cuts(word)))))


def stem(word: str, language: str) -> str:
    """The stem of a folded `word`, in bare letters; the word's where Snowball does not know `language`.

    A word in ASCII letters in a language of another script is stemmed as English.
    """
    known = "en" if language in _OTHER_SCRIPTS and word.isascii() else language
    word = common_spelling(word, known)
    algorithm = _ALGORITHMS.get(known)
    if algorithm is not None:
        # A stemmer keeps the word it works on, so one that threads shared would mix words up; a new one costs 0.2 µs.
        stemmed = snowballstemmer.stemmer(algorithm).stemWord(word)
        word = stemmed if len(stemmed) > 1 else word  # in Hindi of, that, to and who would all be one letter
    return bare_letters(word) or word


def _hebrew_cuts(word: str) -> list[int]:
    """After how many of its letters a Hebrew word may begin, two at most, with three letters left."""
    prefix = _HEBREW_PREFIX.match(word)
    return [] if prefix is None else [cut for cut in range(1, prefix.end() + 1) if len(word) - cut >= 3]
