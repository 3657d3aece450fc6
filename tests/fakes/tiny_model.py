"""Model folders of a few kilobytes with random weights: real code paths without a download."""

from pathlib import Path
from typing import Any

# Single letters and their continuations spell any lower-case word; `query` and `:` are whole pieces.
_VOCABULARY = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "query", "passage", ":", "."),
    *"abcdefghijklmnopqrstuvwxyz",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
)


def _tokenizer() -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    vocabulary = {piece: number for number, piece in enumerate(_VOCABULARY)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=inputs, **special)


def _config(**knobs: Any) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(_VOCABULARY),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        **knobs,
    )


def write_tiny_model(
    folder: Path,
    *,
    prompts: dict[str, str] | None = None,
    max_tokens: int = 16,
    pool_prompt: bool = True,
    seed: int = 0,
    name: str = "tiny",
    **config: Any,
) -> Path:
    """Write a BERT of one layer with mean pooling and normalisation that reads `max_tokens` at once."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import BertModel

    torch.manual_seed(seed)
    transformer = folder / "transformer"
    _tokenizer().save_pretrained(transformer)
    BertModel(_config(**config)).save_pretrained(transformer)
    modules = [
        Transformer(str(transformer), max_seq_length=max_tokens),
        Pooling(32, include_prompt=pool_prompt),
        Normalize(),
    ]
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(
        str(folder / name), create_model_card=False
    )
    return folder / name


def write_tiny_cross_encoder(folder: Path, *, labels: int = 1) -> Path:
    """Write a BERT of one layer that scores pairs of together at most 64 tokens."""
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(0)
    path = folder / "tiny-pairs"
    tokenizer = _tokenizer()
    tokenizer.model_max_length = 64
    tokenizer.save_pretrained(path)
    # Wide enough that scores differ in the third digit.
    BertForSequenceClassification(_config(num_labels=labels, initializer_range=0.5)).save_pretrained(path)
    return path
