"""Tiny encoder-decoders with random weights and tokenizers trained on a few sentences, as folders of transformers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch

SENTENCES = (
    "the old mill burned down in Ashford on Monday night .",
    "three people were hurt when a bus left the road near Elmham .",
    "the council of Birchwood will vote on the new bridge .",
    "fire crews reached the mill after ten minutes , the mayor said .",
)
NEWS = (
    ("the old mill burned down in Ashford . fire crews came after ten minutes .", "mill burned down in Ashford ."),
    ("three people were hurt near Elmham on Monday night when a bus left the road .", "bus left the road ."),
    ("the council will vote .", "council of Birchwood will vote on the bridge"),
    ("", "the mayor said"),
)
SIZE = 120  # ids of the trained part of a vocabulary


def byte_pairs():
    """As BART: byte-level BPE with <s> and </s> around a text."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import BartTokenizer

    trained = ByteLevelBPETokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(SENTENCES, vocab_size=256 + SIZE, show_progress=False, special_tokens=specials)
    model = json.loads(trained.to_str())["model"]
    return BartTokenizer(vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]])


def unigrams(specials):
    """(token, score) pairs as sentencepiece trains them."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=SIZE, special_tokens=specials, unk_token="<unk>", show_progress=False)
    trained.train_from_iterator(SENTENCES, trainer)
    return [tuple(pair) for pair in json.loads(trained.to_str())["model"]["vocab"]]


def bart():
    from transformers import BartConfig, BartForConditionalGeneration

    tokenizer = byte_pairs()
    return tokenizer, BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=64,
        )
    )  # fmt: skip


def led():
    from transformers import LEDConfig, LEDForConditionalGeneration

    tokenizer = byte_pairs()
    return tokenizer, LEDForConditionalGeneration(
        LEDConfig(
            vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_encoder_position_embeddings=64,
            max_decoder_position_embeddings=64, attention_window=8,
        )
    )  # fmt: skip


def t5(kind="T5", tied=True):
    import transformers

    tokenizer = transformers.T5Tokenizer(vocab=unigrams(["<pad>", "</s>", "<unk>"]), extra_ids=0)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer), d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2,
        decoder_start_token_id=0, tie_word_embeddings=tied,
    )  # fmt: skip
    return tokenizer, getattr(transformers, f"{kind}ForConditionalGeneration")(config)


def mt5():
    return t5("MT5", tied=False)


def pegasus():
    from transformers import PegasusConfig, PegasusForConditionalGeneration, PegasusTokenizer

    vocab = unigrams(["<pad>", "</s>", "<mask_1>", "<mask_2>", "<unk>", "<n>"])
    tokenizer = PegasusTokenizer(vocab=vocab, offset=0)
    return tokenizer, PegasusForConditionalGeneration(
        PegasusConfig(
            vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=64,
        )
    )  # fmt: skip


RULES = {  # as their published generation configs, and what tests of single tokens need
    "bart": {"forced_bos_token_id": 0, "forced_eos_token_id": 2, "min_length": 5, "no_repeat_ngram_size": 2},
    "pegasus": {"forced_eos_token_id": 1, "num_beams": 8, "length_penalty": 0.8},
    "mt5": {"suppress_tokens": [7, 8], "begin_suppress_tokens": [1, 9]},
}
ARCHITECTURES = {"bart": bart, "t5": t5, "mt5": mt5, "pegasus": pegasus, "led": led}


def save(folder: Path, architecture: str, std: float = 0.5) -> Path:
    """A folder that ``save_pretrained`` wrote, its weights large enough that distributions are far from uniform."""
    torch.manual_seed(3)
    tokenizer, network = ARCHITECTURES[architecture]()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.dim() > 1 and "embed_positions" not in name:
                parameter.normal_(std=std / 2)
    for name, value in RULES.get(architecture, {}).items():
        setattr(network.generation_config, name, value)
    tokenizer.save_pretrained(folder)
    network.save_pretrained(folder)
    return folder


def rows(pairs):
    """Articles and references as a corpus has them."""
    import datasets

    sources, references = zip(*pairs, strict=True)
    ids = [str(i) for i in range(len(pairs))]
    return datasets.Dataset.from_dict({"id": ids, "source": sources, "references": [[text] for text in references]})


def vowels(candidates, references=None, sources=None):
    """A reward under which random texts differ: vowels a hundred characters."""
    return np.array([sum(text.count(vowel) for vowel in "aeiou") / 100 for text in candidates])
