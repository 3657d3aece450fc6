"""An embedding model behind any OpenAI-compatible endpoint.

Texts travel as text: what their tokens are, only the endpoint knows for sure. Tokens are counted with tiktoken where it
knows the model, else estimated, and the facts say which.
"""

import hashlib
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Protocol

import numpy as np
import openai
import tiktoken

from services.embedding.domain.embedding import ModelFacts, Purpose
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.domain.windows import Piece, Span, TokenizedText, cut_into_windows
from services.embedding.ports import UnfitModel
from services.shared.runtime.errors import DependencyUnavailable, InvalidInput, Overloaded

KIND = "openai"
_OVERLAP = 64
# Inputs and tokens that the most common endpoint takes in one request.
_MOST_INPUTS = 2048
# How long a caller waits when the endpoint is over its limit and does not say for how long.
_RETRY_AFTER_S = 1.0
# Statuses that speak of what was sent and not of the endpoint.
_TEXTS_FAULT = (400, 413, 422)
# Four letters or digits, or any other character alone. English has about 4 characters a token and long words more
# tokens than this counts short ones; other scripts have up to about one a character. So it counts rather too many.
_PIECE = re.compile(r"\s*(?:[A-Za-z0-9]{1,4}|\S)")


class Tokens(Protocol):
    """Where the tokens of a text stand."""

    def __call__(self, text: str) -> list[Span]: ...


class OpenAIEncoder:
    """Asks the endpoint; `dimensions` are those of its first reply, and every later one must have as many."""

    def __init__(
        self, client: openai.OpenAI, *, model: str, max_tokens: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._model = model
        self._clock = clock
        self._closed_until = 0.0
        self._spans, is_estimated = tokens_of(model)
        try:
            dimensions = self._embed(["A first pass."]).shape[1]
        except InvalidInput as error:
            raise UnfitModel(f"the endpoint refuses it: {error.message}") from None
        recipe = f"{KIND} {client.base_url} {model} d={dimensions}"
        self._facts = ModelFacts(
            name=model,
            kind=KIND,
            weights_sha256=hashlib.sha256(recipe.encode()).hexdigest(),
            dimensions=dimensions,
            max_tokens=max_tokens,
            special_tokens=0,
            device="endpoint",
            dtype="float32",
            tokens_estimated=is_estimated,
        )

    @property
    def facts(self) -> ModelFacts:
        """Name and limits; the hash is of endpoint, model and dimensions."""
        return self._facts

    def tokenize(self, texts: Sequence[str], purpose: Purpose, *, truncate: bool) -> list[TokenizedText]:
        """The windows of each text; a query and a passage are read alike."""
        return [self._cut(text, truncate=truncate) for text in texts]

    def _cut(self, text: str, *, truncate: bool) -> TokenizedText:
        spans = self._spans(text)

        def pieces(first: int, last: int) -> tuple[Piece, ...]:
            return tuple(text[span.start : span.end] for span in spans[first:last])

        room = self._facts.max_tokens
        overlap = min(_OVERLAP, room // 4)
        return cut_into_windows(len(text), spans, pieces=pieces, room=room, overlap=overlap, truncate=truncate)

    def forward(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """(n, d) float32. Raises Overloaded, DependencyUnavailable, InvalidInput."""
        texts = ["".join(map(str, pieces)) for pieces in windows]
        parts = [self._embed(texts[start : start + _MOST_INPUTS]) for start in range(0, len(texts), _MOST_INPUTS)]
        rows = np.concatenate(parts)
        if rows.shape[1] != self._facts.dimensions:
            raise DependencyUnavailable(
                f"the endpoint gives vectors of {rows.shape[1]} numbers, and gave {self._facts.dimensions} before"
            )
        return rows

    def forward_in_float32(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """The same: the endpoint decides."""
        return self.forward(windows)

    def tokenizer_json(self) -> bytes:
        """None: callers estimate."""
        return b""

    def _embed(self, texts: Sequence[str]) -> Matrix:
        left_s = self._closed_until - self._clock()
        if left_s > 0:
            raise Overloaded("the embeddings endpoint is over its limit", retry_after_s=left_s)
        try:
            with _our_errors():
                reply = self._client.embeddings.create(model=self._model, input=list(texts), encoding_format="float")
        except Overloaded as error:
            self._closed_until = self._clock() + (error.retry_after_s or 0.0)
            raise
        rows = sorted(reply.data, key=lambda row: row.index)
        if [row.index for row in rows] != list(range(len(texts))) or len({len(row.embedding) for row in rows}) != 1:
            raise DependencyUnavailable("the embeddings endpoint did not give one vector for each text")
        return np.asarray([row.embedding for row in rows], dtype=np.float32)


@contextmanager
def _our_errors() -> Iterator[None]:
    """The client's exceptions as ours; none of them is shown, for they quote what was sent."""
    try:
        yield
    except openai.RateLimitError as error:
        hint = _retry_after_s(error.response.headers.get("retry-after", ""))
        raise Overloaded("the embeddings endpoint is over its limit", retry_after_s=hint) from None
    except (openai.AuthenticationError, openai.PermissionDeniedError):
        raise DependencyUnavailable("the embeddings endpoint refuses the key") from None
    except openai.APIStatusError as error:
        if error.status_code in _TEXTS_FAULT:
            raise InvalidInput("the embeddings endpoint refuses the text", field="texts") from None
        raise DependencyUnavailable(f"the embeddings endpoint answers with status {error.status_code}") from None
    except openai.OpenAIError as error:
        raise DependencyUnavailable(f"the embeddings endpoint does not answer ({type(error).__name__})") from None


def _retry_after_s(header: str) -> float:
    """Seconds from a Retry-After header, which is a number of seconds or a date."""
    with suppress(ValueError):
        seconds = float(header)
        return seconds if 0 <= seconds < math.inf else _RETRY_AFTER_S
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return _RETRY_AFTER_S
    return max(0.0, (date - datetime.now(date.tzinfo)).total_seconds())


def tokens_of(model: str) -> tuple[Tokens, bool]:
    """What finds the tokens of a text for `model`, and whether it estimates.

    tiktoken fetches its tables from the network once; where that fails, or it does not know the model, it is an
    estimate.
    """
    try:
        encoding = tiktoken.encoding_for_model(model)
    except Exception:  # an unknown model is a KeyError, a network without the tables any of several
        return estimated_spans, True
    return lambda text: counted_spans(encoding, text), False


def counted_spans(encoding: tiktoken.Encoding, text: str) -> list[Span]:
    """One span for each token; the spans cover the text, and one of a part of a character is empty."""
    _, starts = encoding.decode_with_offsets(encoding.encode_ordinary(text))
    return [Span(start, end) for start, end in zip(starts, [*starts, len(text)][1:], strict=True)]


def estimated_spans(text: str) -> list[Span]:
    """One span for each token that there may be; white space belongs to what follows."""
    return [Span(*match.span()) for match in _PIECE.finditer(text)]


def load_openai_encoder(model: str, *, url: str, api_key: str, max_tokens: int, timeout_s: float) -> OpenAIEncoder:
    """Ask the endpoint for a first vector. Raises UnfitModel, DependencyUnavailable, Overloaded."""
    client = openai.OpenAI(base_url=url, api_key=api_key, timeout=timeout_s, max_retries=0)
    return OpenAIEncoder(client, model=model, max_tokens=max_tokens)
