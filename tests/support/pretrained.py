"""Tiny encoder-decoders with random weights and tokenizers trained on a few sentences, as folders of transformers."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from portable import draw_normal
from rows import changed

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
    """(token, score) pairs as of sentencepiece: the most frequent pieces of up to three letters.

    Counted, because tokenizers' own trainer makes another vocabulary each time, which sums of threads decide.
    """
    words = [f"▁{word}" for sentence in SENTENCES for word in sentence.split()]
    counts = Counter(word[a : a + n] for word in words for n in (1, 2, 3) for a in range(len(word) - n + 1))
    pieces = sorted(counts, key=lambda piece: (len(piece) > 1, -counts[piece], piece))[: SIZE - len(specials)]
    pieces.sort(key=lambda piece: (-counts[piece], piece))  # as sentencepiece, by their scores
    whole = sum(counts[piece] for piece in pieces)
    return [(token, 0.0) for token in specials] + [(piece, math.log(counts[piece] / whole)) for piece in pieces]


AS_BART = {
    "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
}  # fmt: skip


def network_of(kind, tokenizer, **sizes):
    """A network like BART, with the words of the tokenizer."""
    import transformers

    config = getattr(transformers, f"{kind}Config")(vocab_size=len(tokenizer), **{**AS_BART, **sizes})
    return getattr(transformers, f"{kind}ForConditionalGeneration")(config)


def bart():
    tokenizer = byte_pairs()
    return tokenizer, network_of("Bart", tokenizer, decoder_layers=2, max_position_embeddings=64)


def led():
    tokenizer = byte_pairs()
    positions = {"max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64}
    return tokenizer, network_of("LED", tokenizer, attention_window=8, **positions)


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
    from transformers import PegasusTokenizer

    vocab = unigrams(["<pad>", "</s>", "<mask_1>", "<mask_2>", "<unk>", "<n>"])
    tokenizer = PegasusTokenizer(vocab=vocab, offset=0)
    return tokenizer, network_of("Pegasus", tokenizer, max_position_embeddings=64)


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
    tables = [(name, p) for name, p in network.named_parameters() if p.dim() > 1 and p.requires_grad]  # no sinusoids
    draw_normal(((p, 0.02 if "embed_positions" in name else std / 2) for name, p in tables), seed=3)
    for name, value in RULES.get(architecture, {}).items():
        setattr(network.generation_config, name, value)
    tokenizer.save_pretrained(folder)
    network.save_pretrained(folder)
    return folder


def ruled(folder: Path, **options) -> Path:
    """The folder with other options of its generation config."""
    changed(folder / "generation_config.json", **options)
    return folder


def rows(pairs):
    """Articles and references as a corpus has them."""
    import datasets

    sources, references = zip(*pairs, strict=True)
    ids = [str(i) for i in range(len(pairs))]
    return datasets.Dataset.from_dict({"id": ids, "source": sources, "references": [[text] for text in references]})


def summarizer(folder, smoothed=False, **section):
    """The model of a folder, without dropout unless it is asked for."""
    from rlsum.data.subwords import Subwords
    from rlsum.models.pretrained import loading
    from rlsum.models.pretrained.options import Seq2SeqConfig
    from rlsum.models.pretrained.seq2seq import Seq2Seq

    config = Seq2SeqConfig(pretrained=str(folder), **{"dropout": False, **section})
    words = Subwords(loading.load_tokenizer(str(folder)), config.prefix, config.line_break)
    network = loading.load_network(str(folder), bool(config.dropout))
    made = Seq2Seq(config, network, loading.load_config(str(folder)), words)
    made.smoothed = smoothed
    return made.eval()


def batch(model, pairs=NEWS, max_target=20):
    """A batch of articles and references, as a model reads them."""
    from rlsum.data.corpus import Tokenization

    return model.collate(model.read(rows(pairs), Tokenization(max_source=64, max_target=max_target))[: len(pairs)])


def plain_texts(folder, pairs, prefix="", max_source=64, global_attention=False, **options):
    """What plain transformers writes with a folder; with ``global_attention`` of the first token of every article."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    network, about = AutoModelForSeq2SeqLM.from_pretrained(folder, output_loading_info=True)
    assert not any(about[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    tokenizer, articles = AutoTokenizer.from_pretrained(folder), [prefix + article for article, _ in pairs]
    inputs = tokenizer(articles, padding=True, truncation=True, max_length=max_source, return_tensors="pt")
    if global_attention:
        inputs["global_attention_mask"] = torch.zeros_like(inputs["input_ids"])
        inputs["global_attention_mask"][:, 0] = 1
    found = network.eval().generate(**inputs, **options)
    return [text.strip() for text in tokenizer.batch_decode(found, skip_special_tokens=True)]


def vowels(candidates, references=None, sources=None):
    """A reward under which random texts differ: a hundredth a vowel, and something for every character."""
    return np.array([sum(text.count(vowel) for vowel in "aeiou") / 100 + len(text) / 10_000 for text in candidates])
