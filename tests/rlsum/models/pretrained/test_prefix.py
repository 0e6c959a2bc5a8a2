import peft
import pytest
import torch
from portable import draw_normal
from torch.nn.functional import pad
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

from rlsum.data.subwords import IGNORED
from rlsum.models import execution
from rlsum.models.pretrained import prefix, prefix_attention

WORDS, END = 40, 5
ENDS = [END, *range(30, 37)]
LLAMA = {"vocab_size": WORDS, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64, "pad_token_id": END,
         "bos_token_id": 0, "eos_token_id": END}  # fmt: skip
EXACT = {
    "llama": LLAMA,
    "qwen2": LLAMA,
    "qwen3": {**LLAMA, "head_dim": 8},
    "smollm3": {**LLAMA, "no_rope_layer_interval": 2},
    "olmo2": LLAMA,
    "phi3": LLAMA,
    "granite": {**LLAMA, "logits_scaling": 2.0, "attention_multiplier": 0.3},
    "gpt2": {"vocab_size": WORDS, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64,
             "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0, "scale_attn_by_inverse_layer_idx": True},
    "gpt_neox": {**LLAMA, "num_key_value_heads": 4},
    "opt": {**LLAMA, "ffn_dim": 24, "word_embed_proj_dim": 16, "dropout": 0.0},
    "deepseek_v3": {**LLAMA, "num_key_value_heads": 4, "q_lora_rank": None, "kv_lora_rank": 8, "qk_nope_head_dim": 4,
                    "qk_rope_head_dim": 4, "v_head_dim": 6, "n_routed_experts": 4, "num_experts_per_tok": 2,
                    "n_group": 1, "topk_group": 1, "moe_intermediate_size": 8, "first_k_dense_replace": 1},
    "mistral": {**LLAMA, "sliding_window": 16},
    "gemma3_text": {**LLAMA, "head_dim": 8, "sliding_window": 16},
    "gemma3": {"text_config": {**LLAMA, "head_dim": 8, "sliding_window": 16},  # its own sizes have no padding
               "vision_config": {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
                                 "intermediate_size": 16, "image_size": 28, "patch_size": 14},
               "mm_tokens_per_image": 1},
    "modernbert-decoder": {**LLAMA, "local_attention": 64, "cls_token_id": 0, "sep_token_id": END},  # never without one
    "afmoe": {**LLAMA, "head_dim": 8, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8,
              "num_dense_layers": 1},  # names the mask of attention
}  # fmt: skip
REFUSED = {
    "llama4_text": ({**LLAMA, "head_dim": 8}, "chunked_attention"),
    "mistral": ({**LLAMA, "sliding_window": 8}, "attends to 8 tokens"),
    "gemma3_text": ({**LLAMA, "head_dim": 8, "sliding_window": 15}, "attends to 15 tokens"),
    "gemma2": (LLAMA, "softcapping"),
    "gpt_oss": (LLAMA, "sinks"),
    "falcon_h1": (LLAMA, "state"),
    "qwen3_next": (LLAMA, "state"),
    "lfm2": ({**LLAMA, "full_attn_idxs": [1]}, "conv"),
    "recurrent_gemma": (LLAMA, "state"),
    "minimax": (LLAMA, "linear_attention"),
    "mamba": ({}, "state"),
    "bloom": ({}, "cannot be replaced"),
    "t5": ({}, "no decoder-only"),
}
CHECKPOINTS = {"use_reentrant": False}


def network_of(name, sizes, std=0.15):
    torch.manual_seed(3)
    network = AutoModelForCausalLM.from_config(CONFIG_MAPPING[name](**sizes)).train()
    draw_normal(((table, std) for table in network.parameters() if table.dim() > 1), seed=3)
    return network


def texts(articles=(9, 4, 7), samples=(7, 2, 7, 1, 0, 5), seed=1):
    """Ids of articles and samples of these lengths; the end of a turn, which also pads, stands in articles."""
    draw = torch.Generator().manual_seed(seed)
    src = torch.randint(WORDS, (len(articles), max(articles)), generator=draw)
    src[:, 1] = END
    lengths, target = torch.tensor(articles), torch.randint(WORDS, (len(samples), max(samples)), generator=draw)
    src[torch.arange(max(articles)) >= lengths.unsqueeze(1)] = END
    return src, lengths, target.masked_fill(torch.arange(max(samples)) >= torch.tensor(samples).unsqueeze(1), IGNORED)


def plain_rows(network, src, lengths, target):
    """Scores of each sample in a row of its own, without padding."""
    rows = []
    for number, sample in enumerate(target):
        article = number // (len(target) // len(src))
        ids, sample = src[article, : lengths[article]], sample[sample != IGNORED]
        scores = network(torch.cat([ids, sample]).unsqueeze(0), use_cache=False).logits[0, len(ids) - 1 : -1]
        rows.append(pad(scores, (0, 0, 0, target.shape[1] - len(sample))))
    return torch.stack(rows)


def gradients(network, score, batch):
    """Scores, and gradients of a loss that weighs every log-probability differently."""
    network.zero_grad()
    scores, target = score(network, *batch), batch[-1]
    kept = target != IGNORED
    log_prob = scores[kept].log_softmax(-1).gather(-1, target[kept].unsqueeze(-1)).squeeze(-1)
    (log_prob * torch.linspace(-1, 2, len(log_prob), device=log_prob.device)).sum().backward()
    return log_prob.detach(), {n: p.grad.clone() for n, p in network.named_parameters() if p.grad is not None}


def assert_as_plain_rows(network, batch, plain=None, close=4e-6):
    expected, expected_gradients = plain or gradients(network, plain_rows, batch)
    log_prob, found = gradients(network, prefix.logits, batch)
    torch.testing.assert_close(log_prob, expected, atol=close, rtol=0)
    assert found.keys() == expected_gradients.keys()
    for name, gradient in found.items():
        scale = max(1.0, expected_gradients[name].abs().max().item())
        torch.testing.assert_close(gradient / scale, expected_gradients[name] / scale, atol=close, rtol=0, msg=name)


@pytest.mark.parametrize("name", EXACT)
def test_log_probabilities_gradients_and_choices_are_those_of_plain_rows(name):
    network, batch = network_of(name, EXACT[name]), texts()
    usual = network.config._attn_implementation
    assert prefix.refusal(network.config, longest=16) is None
    plain = gradients(network, plain_rows, batch)
    assert_as_plain_rows(network, batch, plain)
    network.gradient_checkpointing_enable(CHECKPOINTS)
    assert_as_plain_rows(network, batch, plain)
    assert_decodes_as_plain_rows(network.eval(), batch, rows=[2, 0, 0, 1, 2, 2])
    assert network.config._attn_implementation == usual


def assert_decodes_as_plain_rows(network, batch, rows, longest=6, close=4e-6):
    src, lengths, _ = batch
    seen = []

    def choose(ids, scores):
        assert scores.dtype == network.dtype
        seen.append(scores.clone())  # the next step of a graph overwrites them
        return (scores + 0.1 * torch.arange(len(scores)).unsqueeze(1) * torch.arange(WORDS)).argmax(-1)

    network.requires_grad_(False)
    ids = prefix.decode(network, src, lengths, torch.tensor(rows), choose, longest, ENDS, pad=1)
    stops = torch.isin(ids, torch.tensor(ENDS))
    ended = stops.cumsum(1) - stops.long() > 0
    assert (ids[ended] == 1).all()
    for number, article in enumerate(rows):
        target = ids[number : number + 1].masked_fill(ended[number], IGNORED)
        expected = plain_rows(network, src[article : article + 1], lengths[article : article + 1], target)[0]
        for place in range(int((~ended[number]).sum())):
            torch.testing.assert_close(seen[place][number], expected[place], atol=close, rtol=0)


EAGER_GPU = execution.ON_GPU._replace(graphs=False)


@pytest.mark.parametrize(("how", "steps"), [(execution.ON_CPU, [3, 1, 1]), (EAGER_GPU, [4] * 7)])
def test_articles_are_read_once_and_texts_that_have_ended_are_left(monkeypatch, how, steps):
    monkeypatch.setattr(execution, "ON_CPU", how)
    network, (src, lengths, target) = network_of("llama", LLAMA).eval(), texts()
    read = []
    network.register_forward_pre_hook(lambda _, __, named: read.append(named["input_ids"].shape[1]), with_kwargs=True)
    ended_at = torch.tensor([0, 3, 1, 1])

    def choose(ids, scores):
        return torch.where(ended_at == ids.shape[1], END, 2)

    ids = prefix.decode(network, src, lengths, torch.tensor([2, 0, 0, 1]), choose, 9, [END], pad=7)
    assert ids.tolist() == [[5, 7, 7, 7], [2, 2, 2, 5], [2, 5, 7, 7], [2, 5, 7, 7]]
    prefix.logits(network, src, lengths, target)
    assert read == [9 + 4 + 7, *steps, 9 + 4 + 7 + 6 + 1 + 6 + 0 + 0 + 4]


@pytest.mark.parametrize("name", REFUSED)
def test_what_attends_otherwise_is_refused(name):
    sizes, reason = REFUSED[name]
    assert reason in prefix.refusal(CONFIG_MAPPING[name](**sizes), longest=16)


@pytest.mark.parametrize(
    ("kind", "usual"), [("dynamic", {"max_position_embeddings": 16}), ("longrope", {"max_position_embeddings": 64})]
)
def test_positions_that_change_with_the_length_are_refused_beyond_the_usual_length(kind, usual):
    factors = {"short_factor": [1.0, 1.0], "long_factor": [2.0, 2.0], "original_max_position_embeddings": 16}
    rope = {"rope_type": kind, "rope_theta": 1e4, "factor": 2.0, **(factors if kind == "longrope" else {})}
    config = CONFIG_MAPPING["llama"](**{**LLAMA, **usual, "rope_parameters": rope})
    assert prefix.refusal(config, longest=16) is None
    assert "more than 16 tokens" in prefix.refusal(config, longest=17)


def test_a_window_that_is_shorter_than_the_text_would_be_wrong_without_a_word():
    network, batch = network_of("mistral", {**LLAMA, "sliding_window": 8}), texts()
    assert (prefix.logits(network, *batch) - plain_rows(network, *batch)).abs().max() > 100 * prefix.TOLERANCE


@pytest.mark.parametrize(
    ("articles", "samples"), [((9,), (4, 7, 1)), ((4, 9, 6), (7, 2, 5)), ((3,), (1,)), ((5, 5), (3, 3, 3, 3))]
)
def test_any_number_of_articles_and_samples(articles, samples):
    network, batch = network_of("llama", LLAMA), texts(articles, samples)
    assert_as_plain_rows(network, batch)
    assert_decodes_as_plain_rows(network, batch, rows=list(range(len(articles))))


@pytest.mark.parametrize("checkpoints", [False, True])
@pytest.mark.parametrize(("name", "targets"), [("llama", ["q_proj", "v_proj"]), ("gpt2", ["c_attn"])])
def test_low_rank_updates_have_the_gradients_of_plain_rows(name, targets, checkpoints):
    network, batch = network_of(name, EXACT[name]), texts()
    peft.inject_adapter_in_model(peft.LoraConfig(r=2, target_modules=targets), network)
    draw_normal(((table, 0.15) for key, table in network.named_parameters() if "lora_" in key), seed=4)
    plain = gradients(network, plain_rows, batch)
    assert {key.split(".")[-3] for key in plain[1]} == {"lora_A", "lora_B"}
    if checkpoints:
        network.gradient_checkpointing_enable(CHECKPOINTS)
        network.enable_input_require_grads()
    assert_as_plain_rows(network, batch, plain)
    assert_decodes_as_plain_rows(network, batch, rows=[0, 1, 2, 0])


def test_attention_without_a_fused_kernel_is_the_same(monkeypatch):
    monkeypatch.setattr(prefix_attention, "_kernel", lambda query, value: False)
    network, batch = network_of("llama", LLAMA), texts()
    assert_as_plain_rows(network, batch)
    assert_decodes_as_plain_rows(network, batch, rows=[0, 2, 0])


def test_float64_is_exact(monkeypatch):
    network, batch = network_of("gpt2", EXACT["gpt2"]).double(), texts()
    for _ in range(2):
        assert_as_plain_rows(network, batch, close=1e-12)
        assert_decodes_as_plain_rows(network.requires_grad_(False), batch, rows=[0, 2, 0], close=1e-12)
        network.requires_grad_(True)
        monkeypatch.setattr(prefix_attention, "_kernel", lambda query, value: False)


def test_half_precision_is_as_near_to_float32_as_plain_rows_of_half_precision():
    network, batch = network_of("llama", LLAMA).requires_grad_(False), texts()
    exact = plain_rows(network, *batch)
    half = network.bfloat16()
    here, plain = (score(half, *batch).float() - exact for score in (prefix.logits, plain_rows))
    assert here.abs().mean() < 1.2 * plain.abs().mean()


@pytest.mark.parametrize(
    ("name", "sizes", "key"),
    [
        ("llama", {"attention_dropout": 0.1}, "attention_dropout=0.1"),
        ("gpt2", {"resid_pdrop": 0.1}, "resid_pdrop=0.1"),
        ("opt", {"dropout": 0.2}, "dropout=0.2"),
    ],
)
def test_dropout_is_refused_in_training_alone(name, sizes, key):
    network = network_of(name, {**EXACT[name], **sizes})
    with pytest.raises(ValueError, match=key):
        prefix.logits(network, *texts())
    prefix.logits(network.eval(), *texts())


def test_a_network_whose_layers_attend_by_other_means_is_not_read_wrong():
    network = network_of("bloom", {"vocab_size": WORDS, "hidden_size": 16, "n_layer": 2, "n_head": 2})
    with pytest.raises(RuntimeError, match="0 of 2 layers"):
        prefix.logits(network, *texts())


@pytest.mark.gpu
def test_on_a_gpu_an_article_is_read_as_on_plain_rows_and_no_step_waits():
    network, batch = network_of("llama", LLAMA), texts()
    expected, expected_gradients = gradients(network, plain_rows, batch)
    on_gpu = tuple(tensor.cuda() for tensor in batch)
    log_prob, found = gradients(network.cuda(), prefix.logits, on_gpu)
    torch.testing.assert_close(log_prob.cpu(), expected, atol=1e-3, rtol=0)
    for name, gradient in found.items():
        close = 1e-2 * expected_gradients[name].abs().max().item()
        torch.testing.assert_close(gradient.cpu(), expected_gradients[name], atol=close, rtol=0, msg=name)
    steps = []

    def choose(ids, scores):
        torch.cuda.set_sync_debug_mode("error" if 4 < ids.shape[1] < 7 else "default")  # a graph is there, no look
        steps.append(ids.shape[1])
        return torch.full_like(scores[:, 0], 2, dtype=torch.long)

    try:
        prefix.decode(network.eval(), *on_gpu[:2], torch.tensor([2, 0, 0, 1]).cuda(), choose, 8, [END], pad=7)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert steps == list(range(8))
