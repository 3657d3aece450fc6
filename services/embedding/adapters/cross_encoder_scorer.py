"""A cross-encoder: any folder that sentence-transformers' CrossEncoder can load and that gives one score a pair.

A pair that fits at once gets the score that `CrossEncoder.predict` gives it before any activation.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers import CrossEncoder

from services.embedding.adapters.model_folder import ModelFolder
from services.embedding.adapters.placement import Placement, padded, single_precision
from services.embedding.adapters.safe_loading import load_safely
from services.embedding.domain.embedding import ModelFacts
from services.embedding.domain.pairs import Pair, PairPieces, Scores, pair_windows
from services.embedding.ports import UnfitModel

KIND = "cross-encoder"
# As for passages that are embedded.
_OVERLAP = 64
_MOST_TOKENS = 1_000_000


class CrossEncoderScorer:
    """A loaded cross-encoder. Raises UnfitModel when `predict` would do more than is done here."""

    def __init__(self, module: CrossEncoder, *, name: str, weights_sha256: str, revision: str = "") -> None:
        tokenizer: Any = module.tokenizer
        if not getattr(tokenizer, "is_fast", False):
            raise UnfitModel("it has no fast tokenizer")
        if module.num_labels != 1:
            raise UnfitModel(f"it gives {module.num_labels} scores a pair, and one is served")
        limit = module.max_seq_length
        if not limit or limit > _MOST_TOKENS:
            raise UnfitModel("it does not tell how many tokens it reads at once (max_seq_length)")
        self._module = module.eval()
        self._device: torch.device = module.device
        self._tokenizer = tokenizer.backend_tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._frame = _Frame.of(self._tokenizer)
        self._pad_id = tokenizer.pad_token_id or 0
        self._pad_type = tokenizer.pad_token_type_id
        self._pads_left = tokenizer.padding_side == "left"
        self._reads_types = "token_type_ids" in tokenizer.model_input_names
        self._facts = ModelFacts(
            name=name,
            kind=KIND,
            weights_sha256=weights_sha256,
            dimensions=0,
            max_tokens=limit,
            special_tokens=self._frame.special_tokens,
            device=str(self._device),
            dtype=str(module.dtype).removeprefix("torch."),
            revision=revision,
        )

    @property
    def facts(self) -> ModelFacts:
        """Name, hash, limits."""
        return self._facts

    def tokenize(self, pairs: Sequence[Pair]) -> list[tuple[PairPieces, ...]]:
        """The windows of each pair. The texts are tokenised outside Python's lock, on all cores."""
        texts = [text for pair in pairs for text in (pair.query, pair.passage)]
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(texts, add_special_tokens=False)]
        return [self._windows(query, passage) for query, passage in zip(ids[::2], ids[1::2], strict=True)]

    def _windows(self, query: list[int], passage: list[int]) -> tuple[PairPieces, ...]:
        return pair_windows(
            len(query),
            len(passage),
            room=self._facts.max_tokens - self._facts.special_tokens,
            overlap=_OVERLAP,
            pieces=lambda first, last: self._frame.around(query, passage[first:last]),
        )

    def forward(self, windows: Sequence[PairPieces]) -> Scores:
        """(n,) float32: the logits."""
        with torch.inference_mode():
            ids, mask = padded(
                [window.ids for window in windows], fill=self._pad_id, pads_left=self._pads_left, device=self._device
            )
            features = {"input_ids": ids, "attention_mask": mask}
            if self._reads_types:
                types = [window.types for window in windows]
                features["token_type_ids"], _ = padded(
                    types, fill=self._pad_type, pads_left=self._pads_left, device=self._device
                )
            scores = self._module(features)["scores"]
            return np.asarray(scores.float().cpu().numpy(), dtype=np.float32).reshape(len(windows))

    def forward_in_float32(self, windows: Sequence[PairPieces]) -> Scores:
        """As `forward`, with the weights in single precision for this once."""
        with single_precision(self._module):
            return self.forward(windows)


class _Frame:
    """The special tokens before, between and after the two texts of a pair, and the types of all tokens."""

    def __init__(self, blocks: Sequence[tuple[int | None, list[int], list[int]]]) -> None:
        self._blocks = blocks
        self.special_tokens = sum(len(ids) for text, ids, _ in blocks if text is None)

    @classmethod
    def of(cls, tokenizer: Any) -> "_Frame":
        """As the tokenizer makes it, read off a pair of one letter each."""
        encoding = tokenizer.encode("a", "a")
        blocks: list[tuple[int | None, list[int], list[int]]] = []
        for text, number, kind in zip(encoding.sequence_ids, encoding.ids, encoding.type_ids, strict=True):
            if not blocks or blocks[-1][0] != text:
                blocks.append((text, [], []))
            blocks[-1][1].append(number)
            blocks[-1][2].append(kind)
        return cls(blocks)

    def around(self, query: Sequence[int], passage: Sequence[int]) -> PairPieces:
        """What the model reads of the two texts."""
        texts = {0: query, 1: passage}
        ids: list[int] = []
        types: list[int] = []
        for text, special, kinds in self._blocks:
            own = special if text is None else texts[text]
            ids += own
            types += kinds if text is None else [kinds[0]] * len(own)
        return PairPieces(tuple(ids), tuple(types))


def load_cross_encoder(folder: ModelFolder, placement: Placement) -> CrossEncoderScorer:
    """Load the cross-encoder in `folder`, running none of its code and asking no network. Raises UnfitModel."""
    sha256 = folder.weights_sha256()
    module = load_safely(CrossEncoder, folder, placement)
    return CrossEncoderScorer(module, name=folder.name, weights_sha256=sha256, revision=folder.revision)
