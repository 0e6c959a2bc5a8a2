"""A small table of word vectors and the texts that the reward tests share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

WORDS = ("cat", "dog", "house", "garden", "river", "mayor", "storm", "bridge", "runs", "sleeps", "falls", "red")
WIDTH = 6


@pytest.fixture(scope="session")
def vectors_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = np.random.default_rng(0).normal(size=(len(WORDS), WIDTH))
    lines = [f"{word} " + " ".join(f"{number:.5f}" for number in row) for word, row in zip(WORDS, table, strict=True)]
    path = tmp_path_factory.mktemp("vectors") / "small.txt"
    path.write_text(f"{len(WORDS)} {WIDTH}\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of 3 layers and 20 positions over a few words, saved as transformers saves one."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "a", ".", *WORDS]
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=20,
        initializer_range=0.3,
    )
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("encoder")
    BertModel(config).save_pretrained(folder)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=20, **names).save_pretrained(folder)
    return folder
