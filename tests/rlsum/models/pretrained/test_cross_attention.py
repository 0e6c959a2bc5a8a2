import architectures
import peft
import pytest
import torch
from portable import draw_normal
from transformers import AutoModelForSeq2SeqLM

from rlsum.models.pretrained.cross_attention import keys_once

WORDS = 40
ROWS = torch.tensor([0, 0, 0, 1, 1, 1])


def scored(network, once, states_read):
    """Logits (6, 5, V) of summaries of two articles, and gradients; the rows of states that layers read."""
    network.zero_grad()
    draw = torch.Generator().manual_seed(1)
    src, before = torch.randint(3, WORDS, (2, 16), generator=draw), torch.randint(3, WORDS, (6, 5), generator=draw)
    mask = torch.arange(16) < torch.tensor([[16], [11]])
    encoded = network.get_encoder()(input_ids=src, attention_mask=mask.long(), return_dict=True)
    rows = ROWS if once else torch.arange(6)
    states = encoded.last_hidden_state if once else encoded.last_hidden_state[ROWS]
    read = set()

    def count(_, given, outputs):
        if given[0].shape[1:] == (16, 16):
            read.add(len(given[0]))

    hooks = [m.register_forward_hook(count) for m in network.modules() if isinstance(m, torch.nn.Linear)]
    with keys_once(network, states, rows) as states:
        outputs = type(encoded)(last_hidden_state=states)
        logits = network(
            encoder_outputs=outputs, attention_mask=mask[ROWS].long(), decoder_input_ids=before, use_cache=False
        ).logits
    for hook in hooks:
        hook.remove()
    (logits.log_softmax(-1) * torch.linspace(-1, 2, logits.numel()).view_as(logits)).mean().backward()
    states_read.append(read)
    return logits.detach(), {n: p.grad.clone() for n, p in network.named_parameters() if p.grad is not None}


def network_of(name):
    torch.manual_seed(5)
    network = AutoModelForSeq2SeqLM.from_config(architectures.sizes(name, WORDS)).eval()
    tables = ((table, 0.15) for key, table in network.named_parameters() if table.dim() > 1 and "position" not in key)
    draw_normal(tables, seed=5)
    return network


def assert_the_same(network):
    """The rows of states that layers read, in the usual way and once an article."""
    read = []
    (expected, gradients), (logits, found) = scored(network, False, read), scored(network, True, read)
    torch.testing.assert_close(logits, expected, atol=4e-6, rtol=0)
    torch.testing.assert_close(found, gradients, atol=4e-6, rtol=1e-5)
    return read


@pytest.mark.parametrize("name", architectures.NAMES)
def test_keys_of_an_article_are_computed_once_and_scores_and_gradients_do_not_change(name):
    read = assert_the_same(network_of(name))
    # fsmt turns states first, so that they are repeated
    assert read == ([set(), set()] if name == "fsmt" else [{6}, {2}])


@pytest.mark.parametrize(("dropout", "rows"), [(0.0, {2}), (0.1, {2, 6})])
def test_low_rank_updates_of_keys_are_computed_once_unless_they_drop_out_numbers(dropout, rows):
    network = network_of("mbart")
    peft.inject_adapter_in_model(peft.LoraConfig(r=2, target_modules=["v_proj"], lora_dropout=dropout), network)
    draw_normal(((table, 0.15) for key, table in network.named_parameters() if "lora_" in key), seed=4)
    assert assert_the_same(network.eval()) == [{6}, rows]
