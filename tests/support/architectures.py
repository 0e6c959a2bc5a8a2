"""Tiny networks of the encoder-decoders of texts that transformers has beside those of ``pretrained``."""

import pretrained as tiny
import torch
from portable import draw_normal

IDS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
AS_BART = {**tiny.AS_BART, "max_position_embeddings": 64, "decoder_start_token_id": 2, **IDS}
AS_T5 = {
    "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2,
    "decoder_start_token_id": 1, **IDS,
}  # fmt: skip
AS_GEMMA = {
    "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "head_dim": 8,
    "num_key_value_heads": 2, "max_position_embeddings": 64, "sliding_window": 16, **IDS,
}  # fmt: skip
EXPERTS = {"num_experts": 2, "expert_capacity": 1000}  # a full expert leaves out tokens
SIZES = {
    "bigbird_pegasus": {**AS_BART, "attention_type": "original_full"},
    "blenderbot": AS_BART,
    "blenderbot-small": AS_BART,
    "fsmt": {**AS_BART, "langs": ["en", "de"]},
    "longt5": {**AS_T5, "local_radius": 8},
    "m2m_100": AS_BART,
    "marian": AS_BART,
    "mbart": AS_BART,
    "mvp": AS_BART,
    "nllb-moe": {**AS_BART, **EXPERTS, "encoder_sparse_step": 1, "decoder_sparse_step": 1,
                 "moe_token_dropout": 0.0},
    "pegasus_x": {**AS_BART, "block_size": 8, "num_global_tokens": 4},
    "plbart": AS_BART,
    "prophetnet": {
        "hidden_size": 16, "num_encoder_layers": 1, "num_decoder_layers": 1, "num_encoder_attention_heads": 2,
        "num_decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": 64,
        "decoder_start_token_id": 2, **IDS, "pad_token_id": 0, "bos_token_id": 1,  # it counts positions from padding
    },
    "switch_transformers": {**AS_T5, **EXPERTS, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1},
    "t5gemma": {"encoder": AS_GEMMA, "decoder": AS_GEMMA, "decoder_start_token_id": 0, **IDS},
    "umt5": AS_T5,
}  # fmt: skip

NAMES = [*SIZES, "encoder-decoder"]
INCONSISTENT = ["fsmt", "prophetnet"]  # transformers gives one text other logits step by step than in one pass


def sizes(name, words):
    """The configuration of a tiny network."""
    from transformers import CONFIG_MAPPING, BertConfig, EncoderDecoderConfig

    if name == "encoder-decoder":  # two BERTs
        bert = BertConfig(vocab_size=words, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                          intermediate_size=24, max_position_embeddings=64)  # fmt: skip
        config = EncoderDecoderConfig.from_encoder_decoder_configs(bert, bert)
        config.vocab_size, config.decoder_start_token_id = words, 0
        config.pad_token_id, config.eos_token_id = IDS["pad_token_id"], IDS["eos_token_id"]
        return config
    vocabulary = {"src_vocab_size": words, "tgt_vocab_size": words} if name == "fsmt" else {"vocab_size": words}
    return CONFIG_MAPPING[name](**SIZES[name], **vocabulary)


def save(folder, name, **sizes_of):
    """A folder that ``save_pretrained`` wrote, with weights that are far from uniform."""
    from transformers import AutoModelForSeq2SeqLM

    tokenizer = tiny.byte_pairs()
    config = sizes(name, len(tokenizer))
    config.update(sizes_of)
    torch.manual_seed(5)  # for positions
    network = AutoModelForSeq2SeqLM.from_config(config)
    tables = ((table, 0.25) for key, table in network.named_parameters() if table.dim() > 1 and "position" not in key)
    draw_normal(tables, seed=5)
    for key in IDS:
        setattr(network.generation_config, key, SIZES.get(name, IDS)[key])
    network.generation_config.decoder_start_token_id = getattr(config, "decoder_start_token_id", 0)
    tokenizer.pad_token = tokenizer.convert_ids_to_tokens(network.generation_config.pad_token_id)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
