"""Tiny language models with random weights, as folders of transformers, with or without a chat template."""

from __future__ import annotations

from pathlib import Path

import pretrained as tiny
import torch
from portable import draw_normal

TEMPLATE = (
    "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nYou are tiny.<|im_end|>\n{% endif %}"
    "{% for turn in messages %}<|im_start|>{{ turn['role'] }}\n{{ turn['content'] | trim }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SIZES = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
    "intermediate_size": 24, "max_position_embeddings": 512,
}  # fmt: skip
OWN = {
    "llama": SIZES,
    "qwen2": SIZES,
    "qwen3": SIZES,
    "mistral": {**SIZES, "sliding_window": 16},
    "gemma3_text": {**SIZES, "sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"],
                    "query_pre_attn_scalar": 8, "final_logit_softcapping": 5.0},
    "gpt2": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 512},
    "gpt_neox": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24},
    "opt": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "ffn_dim": 24,
            "word_embed_proj_dim": 16, "max_position_embeddings": 512},
    "bloom": {"hidden_size": 16, "n_layer": 2, "n_head": 2},
    "diffllama": {**SIZES, "num_key_value_heads": 2},  # two attentions a layer
}  # fmt: skip
NAMES = list(OWN)
REFUSED = {  # at more than one article a batch; at any
    "git": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24,
            "vision_config": {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1,
                              "num_attention_heads": 2, "image_size": 32, "patch_size": 16}},
    "xlnet": {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 24},
}  # fmt: skip


def tokenizer(chat: bool = True):
    """Byte-level BPE; its padding is the end of a turn, as in many models for chats."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    trained = ByteLevelBPETokenizer()
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trained.train_from_iterator(tiny.SENTENCES, vocab_size=256 + tiny.SIZE, show_progress=False,
                                special_tokens=specials)  # fmt: skip
    end = "<|im_end|>" if chat else "<|endoftext|>"
    made = PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, eos_token=end, bos_token="<|im_start|>" if chat else "<|endoftext|>",
        pad_token=end if chat else None,
    )  # fmt: skip
    made.chat_template = TEMPLATE if chat else None
    return made


def save(folder: Path, name: str, chat: bool = True, many_ends: bool = False) -> Path:
    """A folder that ``save_pretrained`` wrote, far from uniform; with ``many_ends`` some texts do end."""
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM

    words = tokenizer(chat)
    ids = {"bos_token_id": words.bos_token_id, "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id}
    config = CONFIG_MAPPING[name](vocab_size=len(words), **{**OWN, **REFUSED}[name], **ids)
    torch.manual_seed(3)
    network = AutoModelForCausalLM.from_config(config)
    draw_normal(((p, 0.3) for p in network.parameters() if p.dim() > 1), seed=3)
    if many_ends:
        network.generation_config.eos_token_id = [words.eos_token_id, *range(20, 60)]
    words.save_pretrained(folder)
    network.save_pretrained(folder)
    return folder


def prompts(tokenizer, articles, asked=None):
    """The ids that transformers makes of a prompt, by default ours."""
    from rlsum.models.pretrained.options import PROMPTS

    kind = "chat" if tokenizer.chat_template else "plain"
    asked = [(asked or PROMPTS[kind]).replace("{article}", article) for article in articles]
    if kind == "plain":
        return [tokenizer(text)["input_ids"] for text in asked]
    turns = [[{"role": "user", "content": text}] for text in asked]
    return [tokenizer.apply_chat_template(turn, add_generation_prompt=True)["input_ids"] for turn in turns]


def summarizer(folder, **section):
    """The model of a folder, without dropout unless it is asked for."""
    from rlsum import config as configs
    from rlsum.training.start.causal import START

    values = {"kind": "causal", "pretrained": str(folder), "dropout": False, **section}
    data = {"train": "a", "valid": "b"}
    config = configs.check({"run": "r", "data": data, "training": {"steps": 1}, "model": values}, "test")
    return START.built(config, config.model, str(folder)).eval()
