"""Text whose words are spread as those of language are, so that BM25 has real work. Pure.

Words are drawn by Zipf's law (Mandelbrot's form, `1 / (rank + 2.7)`): the first ranks are English function words, the
rest are made of syllables and English endings, so that stems differ from surfaces. One word in five comes from the list
of its topic instead, again by rank, so that texts of a topic share rare words as they share a direction. A document has
a code of its own, like those of exercises and products, that stands in its title and in one in eight of its chunks.
"""

import numpy as np
import numpy.typing as npt

from services.shared.text.stop_words import STOP_WORDS

VOCABULARY = 60_000
_RANK_SHIFT = 2.7
_TOPIC_WORDS = 80
_TOPIC_SHARE = 0.2
_CODE_SHARE = 0.125
# A chunk of the profile `docs` has about 400 word pieces, 300 words; many are shorter.
_MEDIAN_WORDS, _SPREAD, _SHORTEST, _LONGEST = 180, 0.5, 20, 300

# fmt: off
_ONSETS = (
    "b", "bl", "br", "c", "ch", "cl", "cr", "d", "dr", "f", "fl", "g", "gl", "gr", "h", "j", "k", "l", "m", "n", "p",
    "ph", "pl", "pr", "qu", "r", "s", "sc", "sh", "sl", "st", "str", "t", "th", "tr", "v", "w",
)
# fmt: on
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ee", "io", "oa", "ou")
_CODAS = ("", "", "b", "ck", "d", "l", "m", "n", "nd", "nt", "r", "rt", "s", "st", "t", "x")
_ENDINGS = ("", "", "", "s", "ed", "ing", "er", "ly", "ness", "ation", "al", "ive")

Ranks = npt.NDArray[np.int64]


class Words:
    """The vocabulary, and draws from it; one for all of a corpus."""

    def __init__(self, topics: int, seed: int) -> None:
        rng = np.random.default_rng((seed, 1))
        self.vocabulary = _vocabulary(rng)
        weights = 1 / (np.arange(VOCABULARY) + _RANK_SHIFT)
        self._cumulated = np.cumsum(weights / weights.sum())
        # Words of a subject are neither function words nor so rare that nobody asks for them.
        self._topic_words = rng.integers(200, VOCABULARY // 2, (topics, _TOPIC_WORDS))
        by_rank = 1 / (np.arange(_TOPIC_WORDS) + 5)
        self._cumulated_topic = np.cumsum(by_rank / by_rank.sum())

    def chunk(self, topic: int, rng: np.random.Generator) -> list[str]:
        """The words of one chunk on this topic."""
        drawn = int(rng.lognormal(np.log(_MEDIAN_WORDS), _SPREAD))
        return self._words(self._drawn(topic, min(max(drawn, _SHORTEST), _LONGEST), _TOPIC_SHARE, rng))

    def title(self, topic: int, rng: np.random.Generator) -> str:
        """Five words, most of them of the topic."""
        return " ".join(self._words(self._drawn(topic, 5, 0.8, rng))).capitalize()

    def query(self, topic: int, text: list[str], rng: np.random.Generator) -> str:
        """Three to six words out of `text` and two of its topic, among function words, in no order."""
        telling = [word for word in text if word not in STOP_WORDS["en"]] or text
        own = list(rng.choice(telling, size=min(len(telling), int(rng.integers(3, 7)))))
        on_topic = self._words(self._drawn(topic, 2, 1.0, rng))
        plain = self._words(rng.integers(0, 20, 3))
        words = [*own, *on_topic, *plain]
        return " ".join(words[place] for place in rng.permutation(len(words)))

    def _drawn(self, topic: int, count: int, topic_share: float, rng: np.random.Generator) -> Ranks:
        ranks = np.searchsorted(self._cumulated, rng.random(count))
        of_topic = self._topic_words[topic, np.searchsorted(self._cumulated_topic, rng.random(count))]
        return np.where(rng.random(count) < topic_share, of_topic, np.minimum(ranks, VOCABULARY - 1))

    def _words(self, ranks: Ranks) -> list[str]:
        return [self.vocabulary[rank] for rank in ranks]


def code_of(document: int) -> str:
    """The code of a document."""
    return f"K{document % 97}-{document}"


def names_its_code(rng: np.random.Generator) -> bool:
    """Whether a chunk is to hold the code of its document."""
    return bool(rng.random() < _CODE_SHARE)


def _vocabulary(rng: np.random.Generator) -> list[str]:
    """`VOCABULARY` different words, the most frequent first."""
    function_words = sorted(STOP_WORDS["en"], key=lambda word: (len(word), word))
    words = dict.fromkeys(word for word in function_words if word.isalpha())
    while len(words) < VOCABULARY:
        syllables = rng.integers(1, 4)
        root = "".join(
            str(rng.choice(_ONSETS)) + str(rng.choice(_VOWELS)) + str(rng.choice(_CODAS)) for _ in range(syllables)
        )
        words.setdefault(root + str(rng.choice(_ENDINGS)))
    return list(words)
