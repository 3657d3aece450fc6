"""Real weights: any folder that sentence-transformers can load, if its first part is a transformer.

Everything from word pieces to vectors is the library's; what comes before, the cut into windows and the padding, is
ours, and a text within the limit gets the vector that `SentenceTransformer.encode` gives it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

from services.embedding.adapters.model_folder import ModelFolder
from services.embedding.adapters.placement import Placement, padded, single_precision
from services.embedding.adapters.safe_loading import load_safely
from services.embedding.domain.embedding import ModelFacts, Purpose
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.domain.windows import Piece, Span, TokenizedText, cut_into_windows
from services.embedding.ports import UnfitModel

KIND = "sentence-transformers"
# Word pieces that a window repeats of the one before: some three sentences; at most a quarter of what it has room for.
_OVERLAP = 64
# A tokenizer without a limit of its own says 10^30.
_MOST_TOKENS = 1_000_000
# The names under which models keep their prompts, as `encode_query` and `encode_document` look them up.
_PROMPT_NAMES = {Purpose.QUERY: ("query",), Purpose.PASSAGE: ("document", "passage", "corpus")}


class SentenceTransformerEncoder:
    """A loaded model. Raises UnfitModel when `encode` would do more than is done here."""

    def __init__(
        self,
        module: SentenceTransformer,
        *,
        name: str,
        weights_sha256: str,
        revision: str = "",
        prompts: Mapping[Purpose, str] | None = None,
        shorter_dimensions: Sequence[int] = (),
    ) -> None:
        first: Any = module[0]
        if not isinstance(first, Transformer) or not getattr(first.tokenizer, "is_fast", False):
            raise UnfitModel("it does not begin with a transformer that has a fast tokenizer")
        limit = module.max_seq_length
        if not limit or limit > _MOST_TOKENS:
            raise UnfitModel("it does not tell how many tokens it reads at once (max_seq_length)")
        self._prompts = {**_prompts(module), **(prompts or {})}
        if any(self._prompts.values()) and any(
            isinstance(part, Pooling) and not part.include_prompt for part in module
        ):
            raise UnfitModel("it leaves its prompt out of pooling, which is not offered here")
        self._module = module.eval()
        self._tokenizer = first.tokenizer.backend_tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._before, self._after = _special_tokens(self._tokenizer)
        self._pad_id = first.tokenizer.pad_token_id or 0
        self._pads_left = first.tokenizer.padding_side == "left"
        dimensions = module.get_embedding_dimension() or 0
        offered = shorter_dimensions or getattr(first.model.config, "matryoshka_dimensions", None) or ()
        self._facts = ModelFacts(
            name=name,
            kind=KIND,
            weights_sha256=weights_sha256,
            dimensions=dimensions,
            max_tokens=limit,
            special_tokens=len(self._before) + len(self._after),
            device=str(module.device),
            dtype=str(module.dtype).removeprefix("torch."),
            revision=revision,
            shorter_dimensions=tuple(sorted(size for size in offered if 0 < size < dimensions)),
        )

    @property
    def facts(self) -> ModelFacts:
        """Name, hash, limits."""
        return self._facts

    def tokenize(self, texts: Sequence[str], purpose: Purpose, *, truncate: bool) -> list[TokenizedText]:
        """The windows of each text. A batch is tokenised outside Python's lock, on all cores."""
        prompt = self._prompts[purpose]
        encodings = self._tokenizer.encode_batch([prompt + text for text in texts], add_special_tokens=False)
        return [
            self._cut(len(text), encoding.ids, encoding.offsets, len(prompt), truncate=truncate)
            for text, encoding in zip(texts, encodings, strict=True)
        ]

    def _cut(
        self, text_length: int, ids: list[int], offsets: list[tuple[int, int]], prompt: int, *, truncate: bool
    ) -> TokenizedText:
        """The windows of a text behind `prompt` code points of prompt; each begins with the pieces of the prompt."""
        # A piece that begins in the prompt and ends in the text (a sentencepiece `▁word`) is the text's.
        head = next((index for index, (_, end) in enumerate(offsets) if end > prompt), len(ids)) if prompt else 0
        before, body = (*self._before, *ids[:head]), ids[head:]
        spans = [Span(max(0, start - prompt), end - prompt) for start, end in offsets[head:]]
        room = self._facts.max_tokens - self._facts.special_tokens - head
        return cut_into_windows(
            text_length,
            spans,
            pieces=lambda first, last: (*before, *body[first:last], *self._after),
            room=room,
            overlap=min(_OVERLAP, room // 4),
            truncate=truncate,
        )

    def forward(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """(n, d) float32; padded to the longest window, on the side on which the model was trained."""
        ids = [[int(piece) for piece in pieces] for pieces in windows]
        with torch.inference_mode():
            numbers, mask = padded(ids, fill=self._pad_id, pads_left=self._pads_left, device=self._module.device)
            rows = self._module({"input_ids": numbers, "attention_mask": mask})["sentence_embedding"]
            return np.asarray(rows.float().cpu().numpy(), dtype=np.float32)

    def forward_in_float32(self, windows: Sequence[Sequence[Piece]]) -> Matrix:
        """As `forward`, with the weights in single precision for this once."""
        with single_precision(self._module):
            return self.forward(windows)

    def tokenizer_json(self) -> bytes:
        """The tokenizer as it is used here."""
        return bytes(self._tokenizer.to_str().encode())


def load_sentence_transformer(
    folder: ModelFolder,
    placement: Placement,
    *,
    prompts: Mapping[Purpose, str] | None = None,
    shorter_dimensions: Sequence[int] = (),
) -> SentenceTransformerEncoder:
    """Load the model in `folder` from its safetensors, running none of its code and asking no network.

    `prompts` and `shorter_dimensions` stand before what the model's own configuration says. Raises UnfitModel.
    """
    sha256 = folder.weights_sha256()
    module = load_safely(SentenceTransformer, folder, placement)
    # The library gives `dtype` to the transformer alone; a dense layer behind it has to follow.
    for part in list(module)[1:]:
        part.to(placement.dtype)
    return SentenceTransformerEncoder(
        module,
        name=folder.name,
        weights_sha256=sha256,
        revision=folder.revision,
        prompts=prompts,
        shorter_dimensions=shorter_dimensions,
    )


def _prompts(module: SentenceTransformer) -> Mapping[Purpose, str]:
    """What stands before a text of each purpose; empty where the model's configuration names nothing."""
    known: Mapping[str, str | None] = module.prompts
    return {
        purpose: next((known[name] or "" for name in names if name in known), "")
        for purpose, names in _PROMPT_NAMES.items()
    }


def _special_tokens(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids that the tokenizer puts before and after a single text."""
    encoding = tokenizer.encode("a")
    ids, special = encoding.ids, encoding.special_tokens_mask
    first = special.index(0)
    last = len(special) - special[::-1].index(0)
    return tuple(ids[:first]), tuple(ids[last:])
