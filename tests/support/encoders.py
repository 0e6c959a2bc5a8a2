"""An encoder small enough that loading and training it takes milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

WORDS = ("cat", "dog", "house", "garden", "river", "mayor", "storm", "bridge", "runs", "sleeps", "falls", "red")


@contextmanager
def weights_of(folder: Path) -> Iterator[dict[str, torch.Tensor]]:
    """The weights of a saved model by name, which are saved as the block leaves them."""
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    yield weights
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def save_tiny(folder: Path, positions: int = 20, layers: int = 3) -> Path:
    """A BERT of 3 layers and 20 positions, or as given, over a few words, saved as transformers saves one."""
    import torch
    from portable import draw_normal
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "a", ".", *WORDS]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    sizes = {"hidden_size": 16, "num_hidden_layers": layers, "num_attention_heads": 2, "intermediate_size": 32}
    config = BertConfig(vocab_size=len(words), max_position_embeddings=positions, initializer_range=0.3, **sizes)
    model = BertModel(config)
    draw_normal(((table, config.initializer_range) for table in model.parameters() if table.dim() > 1), seed=0)
    with torch.no_grad():
        model.embeddings.word_embeddings.weight[0].zero_()  # the padding's
    model.save_pretrained(folder)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=positions, **names).save_pretrained(folder)
    return folder
