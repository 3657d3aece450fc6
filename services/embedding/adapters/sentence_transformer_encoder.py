"""Real weights: any folder that sentence-transformers can load, if its first part is a transformer.

Everything from word pieces to vectors is the library's; what comes before, the cut into windows and the padding, is
ours, and a text within the limit gets the vector that `SentenceTransformer.encode` gives it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from transformers.utils import logging as transformers_logging

from services.embedding.adapters.model_folder import UnfitModel
from services.embedding.domain.embedding import ModelFacts, Purpose
from services.embedding.domain.unit_vectors import Matrix
from services.embedding.domain.windows import Span, TokenizedText, cut_into_windows

KIND = "sentence-transformers"
# Word pieces that a window repeats of the one before: some three sentences; at most a quarter of what it has room for.
_OVERLAP = 64
# A tokenizer without a limit of its own says 10^30.
_MOST_TOKENS = 1_000_000
# The names under which models keep their prompts, as `encode_query` and `encode_document` look them up.
_PROMPT_NAMES = {Purpose.QUERY: ("query",), Purpose.PASSAGE: ("document", "passage", "corpus")}


class SentenceTransformerEncoder:
    """A loaded model. Raises UnfitModel when `encode` would do more than is done here."""

    def __init__(self, module: SentenceTransformer, *, name: str, weights_sha256: str) -> None:
        first: Any = module[0]
        if not isinstance(first, Transformer) or not getattr(first.tokenizer, "is_fast", False):
            raise UnfitModel("it does not begin with a transformer that has a fast tokenizer")
        limit = module.max_seq_length
        if not limit or limit > _MOST_TOKENS:
            raise UnfitModel("it does not tell how many tokens it reads at once (max_seq_length)")
        self._prompts = _prompts(module)
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
        self._facts = ModelFacts(
            name=name,
            kind=KIND,
            weights_sha256=weights_sha256,
            dimensions=module.get_embedding_dimension() or 0,
            max_tokens=limit,
            special_tokens=len(self._before) + len(self._after),
            device=str(module.device),
            dtype=str(module.dtype).removeprefix("torch."),
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

    def forward(self, windows: Sequence[Sequence[int]]) -> Matrix:
        """(n, d) float32; padded to the longest window, on the side on which the model was trained."""
        longest = max(map(len, windows))
        ids = np.full((len(windows), longest), self._pad_id, dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, pieces in enumerate(windows):
            place = slice(longest - len(pieces), longest) if self._pads_left else slice(len(pieces))
            ids[row, place] = pieces
            mask[row, place] = 1
        with torch.inference_mode():
            features = {
                "input_ids": torch.from_numpy(ids).to(self._module.device),
                "attention_mask": torch.from_numpy(mask).to(self._module.device),
            }
            rows = self._module(features)["sentence_embedding"].float().cpu().numpy()
        return np.asarray(rows, dtype=np.float32)

    def tokenizer_json(self) -> bytes:
        """The tokenizer as it is used here."""
        return bytes(self._tokenizer.to_str().encode())


def load_sentence_transformer(
    folder: Path, *, name: str, weights_sha256: str, device: str, dtype: str, threads: int | None
) -> SentenceTransformerEncoder:
    """Load the model in `folder` from its safetensors, running none of its code and asking no network.

    `device` is `auto`, `cpu` or `cuda[:n]`; `dtype` is `auto`, `float32`, `float16` or `bfloat16`; `threads` are
    torch's on a CPU, None for as many as it takes by itself. Raises UnfitModel.
    """
    if threads:
        torch.set_num_threads(threads)
    placed = _device(device)
    number = _dtype(dtype, placed)
    has_mkl = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    if has_mkl and number is torch.float32 and placed.type == "cpu":
        # oneDNN keeps compiled kernels for each shape of a batch: 180 MiB after 900 shapes. MKL needs the same time and
        # keeps none (all-MiniLM-L6-v2, 8 x 64 tokens on one core: 137 ms against 140 ms; memory flat at 525 MiB).
        torch.backends.mkldnn.enabled = False  # type: ignore[assignment]
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        module = SentenceTransformer(
            str(folder),
            device=str(placed),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"dtype": number, "use_safetensors": True},
        )
    except Exception as error:  # what the library raises for a broken folder has no common class
        reason = " ".join(str(error).split())
        raise UnfitModel(f"it could not be loaded: {type(error).__name__}: {reason}") from error
    # The library gives `dtype` to the transformer alone; a dense layer behind it has to follow.
    return SentenceTransformerEncoder(module.to(number), name=name, weights_sha256=weights_sha256)


def _device(wanted: str) -> torch.device:
    device = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if wanted == "auto" else wanted)
    if device.type != "cuda":
        return device
    index = device.index or 0
    if index >= torch.cuda.device_count():
        raise UnfitModel(f"device {wanted} was asked for and there are {torch.cuda.device_count()} CUDA devices")
    return torch.device("cuda", index)


def _dtype(wanted: str, device: torch.device) -> torch.dtype:
    """Half precision by default on CUDA, single on a CPU: few CPUs multiply in bfloat16, on others it is far slower."""
    if wanted == "auto":
        return torch.float16 if device.type == "cuda" else torch.float32
    if device.type == "cpu" and wanted == "float16":
        raise UnfitModel("float16 needs a CUDA device; a CPU computes in float32 or, with its units, in bfloat16")
    if device.type == "cpu" and wanted == "bfloat16":
        units = torch.cpu.get_capabilities()
        if not (units.get("amx_bf16") or units.get("avx512_bf16")):
            raise UnfitModel("bfloat16 needs a CPU with AMX or AVX512-BF16; this one is many times slower with it")
    return {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}[wanted]


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
