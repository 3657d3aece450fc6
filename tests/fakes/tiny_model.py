"""A sentence-transformers folder of a few kilobytes with random weights: real code paths without a download."""

from pathlib import Path

# Single letters and their continuations spell any lower-case word; `query` and `:` are whole pieces.
_VOCABULARY = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "query", "passage", ":", "."),
    *"abcdefghijklmnopqrstuvwxyz",
    *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
)


def write_tiny_model(
    folder: Path, *, prompts: dict[str, str] | None = None, max_tokens: int = 16, pool_prompt: bool = True
) -> Path:
    """Write a BERT of one layer with mean pooling and normalisation that reads `max_tokens` at once."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    vocabulary = {piece: number for number, piece in enumerate(_VOCABULARY)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    )
    special = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    torch.manual_seed(0)
    transformer = folder / "transformer"
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special).save_pretrained(transformer)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(transformer)
    modules = [
        Transformer(str(transformer), max_seq_length=max_tokens),
        Pooling(32, include_prompt=pool_prompt),
        Normalize(),
    ]
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(
        str(folder / "tiny"), create_model_card=False
    )
    return folder / "tiny"
