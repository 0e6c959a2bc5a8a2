"""Tiny models with a head and random weights, as folders of transformers: causal, of classes, of one number."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from encoders import save_tiny
from portable import draw_normal
from pretrained import SENTENCES

CHAT = (
    "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)
LABELS = ("contradiction", "neutral", "entailment")
POSITIONS = 128


def words(chat: bool = True):
    """Byte-level BPE without special tokens around a text, and with a chat template."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(SENTENCES, vocab_size=340, show_progress=False, special_tokens=["<s>", "</s>", "<pad>"])
    made = PreTrainedTokenizerFast(tokenizer_object=trained._tokenizer, eos_token="</s>", pad_token="<pad>")
    made.chat_template = CHAT if chat else None
    return made


def causal(folder: Path, kind: str = "llama") -> Path:
    """A Llama, a GPT-2 or a Mamba of two layers."""
    import transformers

    tokenizer = words()
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": POSITIONS, "hidden_size": 16}
    if kind == "llama":
        config = transformers.LlamaConfig(
            **sizes, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, intermediate_size=24
        )
        return _saved(transformers.LlamaForCausalLM(config), tokenizer, folder)
    if kind == "mamba":
        config = transformers.MambaConfig(vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, state_size=4)
        return _saved(transformers.MambaForCausalLM(config), tokenizer, folder)
    config = transformers.GPT2Config(vocab_size=len(tokenizer), n_positions=POSITIONS, n_embd=16, n_layer=2, n_head=2)
    return _saved(transformers.GPT2LMHeadModel(config), tokenizer, folder)


def classifier(folder: Path, labels: tuple[str, ...] = LABELS) -> Path:
    """The tiny BERT of 20 positions with a head; one label: a reward model of pairs."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    base = save_tiny(folder)
    config = BertConfig.from_pretrained(base, id2label=dict(enumerate(labels)), initializer_range=0.5)
    config.label2id = {label: number for number, label in enumerate(labels)}
    return _saved(BertForSequenceClassification(config), AutoTokenizer.from_pretrained(base), folder)


def chat_reward_model(folder: Path, pad: str | None = "<pad>") -> Path:
    """A Llama with one number for a conversation; ``pad``: the configuration's token for padding, the tokenizer has
    none but ``<pad>``.
    """
    import transformers

    tokenizer = words()
    padding = None if pad is None else tokenizer.convert_tokens_to_ids(pad)
    if pad != "<pad>":
        tokenizer.pad_token = None
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=POSITIONS, hidden_size=16, num_hidden_layers=2,
        num_attention_heads=2, intermediate_size=24, num_labels=1, pad_token_id=padding,
    )  # fmt: skip
    return _saved(transformers.LlamaForSequenceClassification(config), tokenizer, folder)


def bart_reward_model(folder: Path) -> Path:
    """A BART with one number for a pair."""
    import transformers
    from tokenizers.processors import TemplateProcessing

    tokenizer = words(chat=False)
    ends = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("<s>", "</s>")]
    tokenizer._tokenizer.post_processor = TemplateProcessing("<s> $A </s>", "<s> $A </s> $B </s>", ends)
    config = transformers.BartConfig(
        vocab_size=len(tokenizer), d_model=16, max_position_embeddings=POSITIONS, num_labels=1,
        encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=16, decoder_ffn_dim=16, bos_token_id=0, eos_token_id=1, decoder_start_token_id=1,
        pad_token_id=2, forced_eos_token_id=1,
    )  # fmt: skip
    return _saved(transformers.BartForSequenceClassification(config), tokenizer, folder)


def relabelled(folder: Path, labels: tuple[str, ...]) -> None:
    """Other names for the classes of a saved model."""
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["id2label"] = {str(number): label for number, label in enumerate(labels)}
    config["label2id"] = {label: number for number, label in enumerate(labels)}
    path.write_text(json.dumps(config), encoding="utf-8")


def _saved(model: torch.nn.Module, tokenizer, folder: Path) -> Path:
    draw_normal(((table, 0.1) for table in model.parameters() if table.dim() > 1), seed=1)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
