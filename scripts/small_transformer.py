"""Write a small T5 with random weights and a tokenizer trained on given articles, as a start for `rlsum train`.

    python scripts/small_transformer.py runs/demo/data/train.jsonl -o runs/transformer/start

The folder has the format of transformers: `model: {kind: seq2seq, pretrained: runs/transformer/start}` loads it. The
same seed gives the same bytes. Rare words, such as names, are split into pieces, which the model can learn to copy:
early if its attention starts in the shape of trained models (`--attention mimetic`), late if it starts as noise (`t5`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration
from transformers.models.t5.modeling_t5 import T5Attention

HEADS = 4
SPECIALS = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", type=Path, help="JSONL with article and highlights")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vocabulary", type=int, default=2500, help="size of the vocabulary")
    parser.add_argument("--width", type=int, default=128, help="a multiple of 4, the number of heads")
    parser.add_argument("--layers", type=int, default=2, help="layers of the encoder, and of the decoder")
    parser.add_argument("--attention", choices=("mimetic", "t5"), default="mimetic", help="initial attention weights")
    options = parser.parse_args()
    if options.out.exists():
        parser.error(f"{options.out} exists; give another folder")
    if not options.articles.is_file():
        parser.error(f"{options.articles}: no such file; `rlsum data simulate FOLDER` writes a train.jsonl")
    if options.width < HEADS or options.width % HEADS:
        parser.error(f"--width {options.width}: not a multiple of {HEADS}, the number of heads")
    if options.layers < 1:
        parser.error(f"--layers {options.layers}: at least 1")
    tokenizer = trained_tokenizer(options.articles, options.vocabulary)
    torch.manual_seed(options.seed)
    model = T5ForConditionalGeneration(sizes(tokenizer, options.width, options.layers))
    if options.attention == "mimetic":
        shape_attention(model)
    tokenizer.save_pretrained(options.out)
    model.save_pretrained(options.out)
    print(f"{options.out}: T5 with {model.num_parameters():,} random weights, {len(tokenizer):,} pieces of words")


def trained_tokenizer(articles: Path, size: int) -> PreTrainedTokenizerFast:
    """Byte pairs of the words of articles and summaries; a space stands in front of a word."""
    tokenizer = Tokenizer(models.BPE(unk_token=SPECIALS["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(SPECIALS.values()), show_progress=False)
    tokenizer.train_from_iterator(texts(articles), trainer)
    end = SPECIALS["eos_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {end}", special_tokens=[(end, tokenizer.token_to_id(end))]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIALS)


def texts(articles: Path) -> Iterator[str]:
    with articles.open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield f"{row['article']}\n{row['highlights']}".replace("\n", " ")


def sizes(tokenizer: PreTrainedTokenizerFast, width: int, layers: int) -> T5Config:
    return T5Config(
        vocab_size=len(tokenizer),
        d_model=width,
        d_kv=width // HEADS,
        num_heads=HEADS,
        d_ff=2 * width,
        num_layers=layers,
        num_decoder_layers=layers,
        dropout_rate=0.0,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
    )


@torch.no_grad()
def shape_attention(model: T5ForConditionalGeneration) -> None:
    """Random rotations in place of noise, such that copying needs little to be learnt.

    After Trockman & Kolter 2023, "Mimetic Initialization of Self-Attention Layers": values and output together begin as
    a multiple of the identity, so that attending to a token says that token; where the decoder looks at the article,
    queries and keys begin alike, so that it looks for what it holds. Half of the heads of the encoder begin with a
    liking for the token just before: what was said tells where to go on.
    """
    for block in model.encoder.block:
        pass_on(block.layer[0].SelfAttention)
    for block in model.decoder.block:
        pass_on(block.layer[0].SelfAttention)
        pass_on(block.layer[1].EncDecAttention)
        look_alike(block.layer[1].EncDecAttention)
    offsets = (
        model.encoder.block[0].layer[0].SelfAttention.relative_attention_bias.weight
    )  # (offset, head), all layers'
    offsets[1, : HEADS // 2] += 4


def pass_on(attention: T5Attention) -> None:
    """Output x values = identity / 2."""
    turned = rotation(attention.v)
    attention.v.weight.copy_(turned)
    attention.o.weight.copy_(turned.T / 2)


def look_alike(attention: T5Attention) -> None:
    """Queries = keys, the score of a vector with itself about 4 (T5 does not divide by the root of the width)."""
    turned = rotation(attention.q) * (4 / attention.key_value_proj_dim) ** 0.5
    attention.q.weight.copy_(turned)
    attention.k.weight.copy_(turned)


def rotation(layer: torch.nn.Linear) -> torch.Tensor:
    """A random orthogonal matrix (width, width)."""
    return torch.linalg.qr(torch.randn_like(layer.weight))[0]


if __name__ == "__main__":
    main()
