"""What an embedding call gives back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from services.embedding.domain.unit_vectors import Matrix, unit_rows
from services.embedding.domain.windows import Span, TokenizedText


class Purpose(StrEnum):
    """What texts are embedded for; it chooses the model's prompt and how urgent the call is."""

    QUERY = "query"
    PASSAGE = "passage"


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """One text: `vectors` is (windows, d), unit length, row i for window i."""

    tokens: int
    windows: tuple[Span, ...]
    vectors: Matrix
    truncated: bool


def deal_rows(rows: Matrix, texts: Sequence[TokenizedText]) -> list[EmbeddedText]:
    """Each text with its rows; `rows` is (n, d), one for each window of each text in order.

    The rows are copied, so that one text that is kept does not keep the vectors of all.
    """
    embedded, first = [], 0
    for text in texts:
        after = first + len(text.windows)
        spans = tuple(window.span for window in text.windows)
        embedded.append(EmbeddedText(text.tokens, spans, rows[first:after].copy(), text.truncated))
        first = after
    return embedded


def shortened(text: EmbeddedText, dimensions: int) -> EmbeddedText:
    """The text with the first `dimensions` numbers of each vector, at unit length again (Matryoshka).

    Raises ValueError when nothing is left of a vector.
    """
    rows, unsound = unit_rows(text.vectors[:, :dimensions])
    if unsound:
        raise ValueError(f"the first {dimensions} numbers of a vector are all zero")
    return replace(text, vectors=rows)


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds in each stage."""

    tokenize_s: float = 0.0
    queue_s: float = 0.0
    forward_s: float = 0.0
    post_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Embedding:
    """The texts of one call in request order."""

    texts: tuple[EmbeddedText, ...]
    timings: Timings


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a loaded model.

    `max_tokens` are read at once, `special_tokens` of them are taken in every window. `weights_sha256` is lower-case
    hex; an encoder without weights gives the digest of its name and parameters. `revision` is the commit on the model
    hub, empty where it is not known. `shorter_dimensions` are those to which a vector may be cut, ascending.
    """

    name: str
    kind: str
    weights_sha256: str
    dimensions: int
    max_tokens: int
    special_tokens: int
    device: str
    dtype: str
    revision: str = ""
    shorter_dimensions: tuple[int, ...] = ()
    tokens_estimated: bool = False
