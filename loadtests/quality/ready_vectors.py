"""`python -m loadtests.quality.ready_vectors`: the embedding service, with vectors that need not be computed again.

Everything of the service is real but one step: a window whose very pieces were embedded before, in the vectors that
come with a judged set or in an earlier run, gets that vector; every other window goes through the model. So two cores
measure in minutes what they embed in half an hour.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import structlog

from loadtests.quality.judged_set import ReadyVectors
from loadtests.quality.known_sets import known_sets
from loadtests.quality.settings import ReadyVectorsSettings
from services.embedding.domain.embedding import ModelFacts, Purpose
from services.embedding.domain.unit_vectors import Matrix, unit_rows
from services.embedding.domain.windows import Piece, TokenizedText
from services.embedding.loaded_models import ModelSource
from services.embedding.ports import Encoder
from services.embedding.wiring import assemble, encoder_sources
from services.local.failure import Failure
from services.shared.runtime.server import App, run
from services.shared.runtime.telemetry import Telemetry

log = structlog.get_logger()

VERIFIED, USED = "ready_vectors_verified", "ready_vectors_used"
# Half precision and another machine's arithmetic cost under 0.0005; another model or another text costs far more.
LEAST_COSINE = 0.999
_SAMPLE = 30
_AT_ONCE = 5  # windows of the sample in one forward pass

Vector: TypeAlias = npt.NDArray[np.float32]
# Vectors by the digest of a window's pieces.
Known: TypeAlias = dict[bytes, Vector]


class ComputedVectors:
    """The vectors that the model computed, kept from run to run in `<folder>/<SHA-256 of the weights>.npz`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: Path | None = None
        self._stored = 0
        self.known: Known = {}
        self.uses = {"ready": 0, "computed": 0}

    def open(self, weights_sha256: str) -> None:
        """Read what earlier runs computed with these weights."""
        self._file = self._folder / f"{weights_sha256}.npz"
        if self._file.is_file():
            with np.load(self._file) as stored:
                self.known = {key.tobytes(): row for key, row in zip(stored["keys"], stored["rows"], strict=True)}
        self._stored = len(self.known)

    async def close(self) -> None:
        """Write what is new; a file is there whole or not at all."""
        log.info(USED, **self.uses)
        if self._file is None or len(self.known) == self._stored:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        partial = self._file.with_suffix(".partial.npz")
        keys = np.array([np.frombuffer(key, dtype=np.uint8) for key in self.known])
        np.savez(partial, keys=keys, rows=np.stack(list(self.known.values())))
        partial.replace(self._file)


class RememberingEncoder:
    """An `Encoder` in front of a slow one: a window that is known by its pieces is not computed."""

    def __init__(self, encoder: Encoder, ready: Known, computed: ComputedVectors) -> None:
        self._encoder = encoder
        self._ready = ready
        self._computed = computed

    @property
    def facts(self) -> ModelFacts:
        """Those of the real encoder."""
        return self._encoder.facts

    def tokenize(self, texts: Sequence[str], purpose: Purpose, *, truncate: bool) -> list[TokenizedText]:
        """As the real encoder does."""
        return self._encoder.tokenize(texts, purpose, truncate=truncate)

    def tokenizer_json(self) -> bytes:
        """The real encoder's."""
        return self._encoder.tokenizer_json()

    def forward(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """(n, d) float32: the rows that are known, and what the real encoder makes of the other windows."""
        keys = [key_of(window) for window in windows]
        computed = self._computed.known
        if unknown := [place for place, key in enumerate(keys) if key not in self._ready and key not in computed]:
            rows = self._encoder.forward([windows[place] for place in unknown])
            computed |= {keys[place]: row for place, row in zip(unknown, rows, strict=True)}
        ready = sum(key in self._ready for key in keys)
        self._computed.uses["ready"] += ready
        self._computed.uses["computed"] += len(keys) - ready
        return np.stack([self._ready[key] if key in self._ready else computed[key] for key in keys])

    def forward_in_float32(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """The real encoder's: nothing is remembered of what had to be computed again."""
        return self._encoder.forward_in_float32(windows)


def key_of(window: Sequence[Piece]) -> bytes:
    """The digest under which the vector of a window is known."""
    return hashlib.sha256(np.asarray(window, dtype=np.int32).tobytes()).digest()


def verified(encoder: Encoder, ready: Sequence[ReadyVectors]) -> Known:
    """All ready vectors, once a sample of each file was found to be what `encoder` computes.

    A text over the model's limit gives its first window only, as plain encoding cuts it. Raises Failure.
    """
    known: Known = {}
    checked, least = 0, 1.0
    for one in ready:
        windows, rows = _windows(encoder, one)
        sample = np.random.default_rng(0).choice(len(windows), min(_SAMPLE, len(windows)), replace=False)
        for part in np.array_split(sample, -(-len(sample) // _AT_ONCE)):
            computed, _ = unit_rows(encoder.forward([windows[place] for place in part]))
            given, _ = unit_rows(rows[part])
            least = min(least, float((computed * given).sum(axis=1).min()))
        if least < LEAST_COSINE:
            raise Failure(f"{one.file} was not made of these texts by {encoder.facts.name}: a cosine is {least:.4f}")
        checked += len(sample)
        known |= {key_of(window): row for window, row in zip(windows, rows, strict=True)}
    log.info(VERIFIED, sample=checked, least_cosine=round(least, 6), vectors=len(known))
    return known


def _windows(encoder: Encoder, ready: ReadyVectors) -> tuple[list[tuple[Piece, ...]], Matrix]:
    texts = ready.texts()
    try:
        rows = np.load(ready.file).astype(np.float32)
    except (OSError, ValueError) as error:
        raise Failure(f"{ready.file} cannot be read: {error}") from error
    if rows.shape != (expected := (len(texts), encoder.facts.dimensions)):
        raise Failure(f"{ready.file} has the shape {rows.shape}, not {expected}")
    tokenized = encoder.tokenize(texts, Purpose.PASSAGE, truncate=True)
    return [text.windows[0].pieces for text in tokenized], rows


async def build(settings: ReadyVectorsSettings, telemetry: Telemetry) -> App:
    """The embedding service around the remembering encoder."""
    (source,) = encoder_sources(settings)
    computed = ComputedVectors(settings.computed)

    def load() -> Encoder:
        encoder = source.load()
        sets = known_sets()
        try:
            ready = verified(encoder, [one for name in settings.ready_sets for one in sets[name].ready])
        except Failure as failure:
            raise SystemExit(str(failure)) from None
        computed.open(encoder.facts.weights_sha256)
        return RememberingEncoder(encoder, ready, computed)

    app = assemble(settings, telemetry, encoders=[ModelSource(source.label, load)])
    return replace(app, closables=(*app.closables, computed))


if __name__ == "__main__":
    run("embedding", ReadyVectorsSettings, build)
