"""The embedding service as ingest needs it: facts of a model, and passages' vectors in calls of a bounded size."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import regex
from tokenizers import Tokenizer

from services.ingest import convert
from services.ingest.ports import CountTokens, Model
from services.shared.clients.embedding import EmbeddingClient
from services.shared.runtime.errors import Internal, InvalidInput

# A model reads about 8,000 tokens a second on a CPU, and some scripts have a token for each character: a call takes 5 s
# there, and stays within its timeout on a machine of a tenth of that speed. Only a text that is larger goes alone.
_MAX_CHARACTERS = 40_000
_WORD = regex.compile(r"\w+|[^\w\s]")


class EmbeddingService:
    """Implements `Embedder` over gRPC. Facts of a model are asked once and kept: a name stands for fixed weights."""

    def __init__(
        self, client: EmbeddingClient, *, batch_texts: int, embed_timeout_s: float, describe_timeout_s: float
    ) -> None:
        self._client = client
        self._batch_texts = batch_texts
        self._embed_timeout_s = embed_timeout_s
        self._describe_timeout_s = describe_timeout_s
        self._models: dict[str, Model] = {}

    async def model(self, name: str) -> Model:
        """See `Embedder.model`."""
        if name not in self._models:
            request = convert.describe_to_proto(name)
            reply = await self._client.describe_model(request, timeout_s=self._describe_timeout_s)
            facts = convert.model_from_proto(reply, _counter(reply.tokenizer_json))
            self._models[name] = self._models[facts.name] = facts
        return self._models[name]

    async def embed(self, texts: Sequence[str], *, model: str, dimensions: int) -> list[npt.NDArray[np.float32]]:
        """See `Embedder.embed`."""
        vectors: list[npt.NDArray[np.float32]] = []
        for batch in _batches(texts, self._batch_texts):
            request = convert.passages_to_proto(batch, model=model, dimensions=dimensions)
            reply = await self._client.embed(request, timeout_s=self._embed_timeout_s)
            try:
                vectors += convert.vectors_from_proto(reply)
            except InvalidInput as error:  # a fault of embedding, which may pass, and none of the document
                raise Internal(f"embedding gave no vectors: {error.field}: {error.message}") from None
        return vectors


def _batches(texts: Sequence[str], batch_texts: int) -> list[list[str]]:
    batches: list[list[str]] = []
    characters = 0
    for text in texts:
        if not batches or len(batches[-1]) == batch_texts or characters + len(text) > _MAX_CHARACTERS:
            batches.append([])
            characters = 0
        batches[-1].append(text)
        characters += len(text)
    return batches


def _counter(tokenizer_json: bytes) -> CountTokens:
    """Counts with the model's own tokenizer; for a model without one, words and punctuation marks are the estimate."""
    if not tokenizer_json:
        return lambda texts: [len(_WORD.findall(text)) for text in texts]
    tokenizer: Tokenizer = Tokenizer.from_buffer(tokenizer_json)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda texts: [
        len(encoding.ids) for encoding in tokenizer.encode_batch(list(texts), add_special_tokens=False)
    ]
