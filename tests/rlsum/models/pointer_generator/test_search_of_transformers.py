"""A beam search ends and chooses as that of transformers."""

from typing import NamedTuple

import pytest
import tiny
import torch

from rlsum.data.vocabulary import BOS, EOS, PAD, UNK
from rlsum.models.decoding import Decoding
from rlsum.models.pointer_generator import search


class Steps:
    """A network of transformers as a decoder of ours: it reads all words so far again at each step."""

    def __init__(self, network):
        self.network = network

    def start(self, encoded):
        return Words(torch.empty((len(encoded.mask), 0), dtype=torch.int64))

    def word_columns(self):
        return None

    @torch.no_grad()
    def advance(self, encoded, state, previous, columns):
        ids = torch.cat([state.ids, previous.unsqueeze(1)], 1)
        inputs = {"input_ids": encoded.src, "attention_mask": encoded.mask.long()}
        p = self.network(**inputs, decoder_input_ids=ids, use_cache=False).logits[:, -1].softmax(-1)
        return p, None, Words(ids)


class Words(NamedTuple):
    ids: torch.Tensor

    def select(self, rows):
        return Words(self.ids[rows])


class Articles(NamedTuple):
    src: torch.Tensor
    mask: torch.Tensor

    def select(self, rows):
        return Articles(self.src[rows], self.mask[rows])


def network_of(kind, seed):
    """A tiny random network whose texts end now and then, with our ids of special words."""
    import transformers

    torch.manual_seed(seed)
    ids = {"vocab_size": 14, "pad_token_id": PAD, "bos_token_id": BOS, "eos_token_id": EOS,
           "decoder_start_token_id": BOS, "forced_eos_token_id": None}  # fmt: skip
    if kind == "t5":
        sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2, "initializer_factor": 2.0}
        built = transformers.T5ForConditionalGeneration(transformers.T5Config(**ids, **sizes))
    else:
        sides = {f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in
                 (("layers", 1), ("attention_heads", 2), ("ffn_dim", 16))}  # fmt: skip
        config, model = {
            "bart": (transformers.BartConfig, transformers.BartForConditionalGeneration),
            "marian": (transformers.MarianConfig, transformers.MarianMTModel),
        }[kind]
        built = model(config(**ids, **sides, d_model=16, init_std=0.6, max_position_embeddings=32))
        built.final_logits_bias[:, EOS] = 1.0
    return built.eval()


def articles_of():
    torch.manual_seed(7)
    src = torch.randint(EOS + 1, 14, (12, 6))
    return Articles(src, torch.ones_like(src, dtype=torch.bool))


@pytest.mark.parametrize("kind", ["bart", "t5", "marian"])
@pytest.mark.parametrize("stopping", [True, False, "never"])
@pytest.mark.parametrize("penalty", [1.0, 0.0, 2.0, -1.0])
def test_a_beam_search_ends_and_chooses_as_that_of_transformers(kind, stopping, penalty):
    decoding = Decoding("beam", beam=3, max_length=14, length_penalty=penalty, early_stopping=stopping)
    for seed in range(2):
        network, articles = network_of(kind, seed), articles_of()
        expected = network.generate(
            input_ids=articles.src, num_beams=3, max_new_tokens=14, length_penalty=penalty, early_stopping=stopping,
            suppress_tokens=[UNK], do_sample=False, min_length=0, num_return_sequences=1,
        )[:, 1:]  # fmt: skip
        found = search.beam(Steps(network), articles, decoding, tiny.constraints(decoding, 12, never=(UNK,))).ids
        assert [tiny.words_of(row) for row in found] == [tiny.words_of(row) for row in expected]
