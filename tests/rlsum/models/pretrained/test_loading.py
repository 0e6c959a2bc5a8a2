"""What a folder of a pretrained summarizer must hold beside its files: weights, all of them, and places for tokens."""

import shutil

import architectures
import language_models
import pretrained as tiny
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSeq2SeqLM

from rlsum.data.corpus import Tokenization
from rlsum.errors import UserError, disk_full
from rlsum.generation import plain
from rlsum.generation.options import Generating
from rlsum.models.decoding import Sampling
from rlsum.models.pretrained import loading
from rlsum.training.start import seq2seq


@pytest.fixture(scope="module")
def bart(tmp_path_factory):
    return tiny.save(tmp_path_factory.mktemp("pretrained") / "bart", "bart")


@pytest.fixture
def copied(bart, tmp_path):
    return shutil.copytree(bart, tmp_path / "bart")


def refused(folder):
    with pytest.raises(loading.PretrainedError) as caught:
        loading.load_network(str(folder), dropout=False)
    return str(caught.value)


def rewrite(folder, change):
    """Weights as ``change`` leaves them, a mapping by name."""
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def test_weights_that_are_missing_are_not_drawn_at_random(copied):
    rewrite(copied, lambda weights: [weights.pop(name) for name in list(weights) if "decoder.layers.1.fc" in name])
    assert "4 of its weights are missing (model.decoder.layers.1.fc1.bias, ...)" in refused(copied)


@pytest.mark.parametrize("name", list(tiny.ARCHITECTURES))
def test_weights_that_are_tied_or_computed_are_not_missing(tmp_path, name):
    loading.load_network(str(tiny.save(tmp_path / name, name)), dropout=False)


BROKEN = ("moe_token_dropout", "encoder_layerdrop")


def noisy(sizes):
    """Every rate of dropout, and of the noise of routers, at .5; but those that transformers' networks cannot have."""
    for key, value in vars(sizes).items():
        if hasattr(value, "to_dict"):
            noisy(value)
        elif isinstance(value, float) and ("drop" in key or "jitter" in key) and key not in BROKEN:
            setattr(sizes, key, 0.5)


@pytest.mark.parametrize(
    "name", sorted({*architectures.NAMES, *language_models.NAMES} - {"diffllama"})
)  # which has none
def test_without_dropout_training_is_evaluation(tmp_path, name):
    made, family = (
        (architectures, loading.SEQ2SEQ) if name in architectures.NAMES else (language_models, loading.CAUSAL)
    )
    folder = made.save(tmp_path / name, name)
    sizes = loading.load_config(str(folder), family)
    noisy(sizes)
    sizes.save_pretrained(folder)
    ids = torch.arange(20, 32).view(2, 6)
    asked = {"input_ids": ids} if family is loading.CAUSAL else {"input_ids": ids, "decoder_input_ids": ids[:, :3]}
    torch.manual_seed(1)
    logits = [
        loading.load_network(str(folder), dropout, family).train(training)(**asked).logits
        for dropout, training in ((False, False), (False, True), (True, True))
    ]
    assert torch.equal(logits[0], logits[1])
    assert not torch.allclose(logits[0], logits[2], atol=1e-3)  # the test could fail


def test_positions_that_are_computed_may_be_missing(tmp_path):
    folder = tiny.save(tmp_path / "pegasus", "pegasus")
    whole = loading.load_network(str(folder), dropout=False).state_dict()
    rewrite(folder, lambda weights: [weights.pop(name) for name in list(weights) if "embed_positions" in name])
    assert len(load_file(folder / "model.safetensors")) < len(whole)
    for name, tensor in loading.load_network(str(folder), dropout=False).state_dict().items():
        assert torch.equal(tensor, whole[name]), name


def test_weights_that_are_not_finite_are_refused(copied):
    rewrite(copied, lambda weights: weights["model.decoder.layers.1.fc2.weight"][0].fill_(torch.inf))
    assert "model.decoder.layers.1.fc2.weight is not finite" in refused(copied)


def test_weights_that_were_cut_off_or_have_other_sizes_are_a_clear_error(copied):
    whole = (copied / "model.safetensors").read_bytes()
    (copied / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    assert "cannot be loaded (" in refused(copied)
    (copied / "model.safetensors").write_bytes(whole)
    name = "model.decoder.layers.1.fc2.weight"
    rewrite(copied, lambda weights: weights.update({name: weights[name][:4].clone()}))
    assert "cannot be loaded (" in refused(copied)


def test_sparse_attention_that_depends_on_the_batch_is_refused(tmp_path):
    folder = str(architectures.save(tmp_path / "sparse", "bigbird_pegasus", attention_type="block_sparse"))
    with pytest.raises(loading.PretrainedError, match=r"attention_type=block_sparse.* save it with full attention"):
        loading.load_config(folder)
    whole = AutoModelForSeq2SeqLM.from_pretrained(folder, attention_type="original_full")
    whole.save_pretrained(folder)
    assert loading.load_config(folder).attention_type == "original_full"


def test_an_adapter_is_not_taken_for_a_model(tmp_path):
    import peft
    from transformers import AutoModelForCausalLM

    folder = language_models.save(tmp_path / "whole", "llama")
    whole = AutoModelForCausalLM.from_pretrained(folder)
    peft.get_peft_model(whole, peft.LoraConfig(r=2, task_type="CAUSAL_LM")).save_pretrained(folder)
    (fault,) = loading.folder_faults(str(folder))
    assert "holds low-rank updates of another model (adapter_config.json); merge them" in fault
    with pytest.raises(loading.PretrainedError, match="merge them"):  # as from the hub
        loading.load_network(str(folder), True, loading.CAUSAL)


def test_experts_that_are_drawn_in_training_cannot_be_switched_off(tmp_path):
    from transformers import PhimoeConfig

    sizes = PhimoeConfig(vocab_size=50, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_local_experts=2,
                         num_attention_heads=2, num_key_value_heads=2)  # fmt: skip
    loading.CAUSAL.loader.from_config(sizes).save_pretrained(tmp_path)
    with pytest.raises(loading.PretrainedError, match=r"router_jitter_noise=0.01 .* model.dropout=true"):
        loading.load_network(str(tmp_path), False, loading.CAUSAL)
    loading.load_network(str(tmp_path), True, loading.CAUSAL)


def test_rates_that_are_whole_numbers_stay_so(tmp_path):
    from transformers import MptConfig

    loading.CAUSAL.loader.from_config(MptConfig(d_model=16, n_heads=2, n_layers=1, vocab_size=50)).save_pretrained(
        tmp_path
    )
    loading.load_network(str(tmp_path), False, loading.CAUSAL)


def test_layers_are_computed_again_where_transformers_can():
    assert loading.checkpointing_faults(architectures.sizes("t5gemma", 100)) == []
    (fault,) = loading.checkpointing_faults(architectures.sizes("fsmt", 100))
    assert fault.startswith("model.gradient_checkpointing=true: transformers has none for fsmt")


def test_two_networks_in_one_have_the_positions_of_each(tmp_path):
    folder = architectures.save(tmp_path / "berts", "encoder-decoder")
    sizes = loading.load_config(str(folder))
    sizes.decoder.max_position_embeddings = 32
    assert [loading.positions(sizes, side) for side in ("source", "target")] == [64, 32]
    assert plain.configuration(str(folder), Generating())[0].data.max_source == 64


def test_positions_that_begin_behind_padding_are_fewer(tmp_path):
    from transformers import EncoderDecoderConfig, RobertaConfig

    part = RobertaConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                         intermediate_size=24, max_position_embeddings=20, pad_token_id=1)  # fmt: skip
    sizes = EncoderDecoderConfig.from_encoder_decoder_configs(part, part)
    network = AutoModelForSeq2SeqLM.from_config(sizes)
    longest = loading.positions(sizes, "source")
    network(input_ids=torch.full((1, longest), 5), decoder_input_ids=torch.full((1, longest), 5))
    for source, target in ((longest + 1, longest), (longest, longest + 1)):
        with pytest.raises((RuntimeError, IndexError)):
            network(input_ids=torch.full((1, source), 5), decoder_input_ids=torch.full((1, target), 5))
    assert loading.positions(sizes, "target") == longest


def test_a_token_that_the_network_has_no_place_for_is_named_where_a_text_has_it(copied):
    """A tokenizer may know more: that of bart-large-cnn has a mask, of which the network knows nothing."""
    tokenizer = loading.load_tokenizer(str(copied))
    known = len(tokenizer)
    tokenizer.add_tokens(["Quercus"])
    tokenizer.save_pretrained(copied)
    config = plain.configuration(str(copied), Generating())[0]
    model = seq2seq.START.built(config, config.model, str(copied))
    model.read(tiny.rows(tiny.NEWS), Tokenization(max_source=64))
    for pair in (("the Quercus", "the mill"), ("the mill", "the Quercus")):
        with pytest.raises(UserError, match=rf"a token 'Quercus', id {known}, but the network has {known} tokens"):
            model.read(tiny.rows([*tiny.NEWS, pair]), Tokenization(max_source=64))


def test_a_disk_that_is_full_where_the_tokenizer_is_written_is_told_as_such(bart, tmp_path):
    (tmp_path / "tokenizer.json").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        tiny.summarizer(bart).vocabulary.save_to(tmp_path)
    assert disk_full(caught.value)


def test_tokens_of_umt5_see_no_later_ones_where_transformers_forgets_it(tmp_path, monkeypatch):
    """As transformers 5.17, whose scores of umT5 in one pass are others than those that samples are drawn with."""
    from transformers.models.umt5 import modeling_umt5

    def forgetful(self, *arguments, original=modeling_umt5.UMT5Attention.__init__, **options):
        original(self, *arguments, **options)
        self.is_causal = False

    monkeypatch.setattr(modeling_umt5.UMT5Attention, "__init__", forgetful)
    model = tiny.summarizer(architectures.save(tmp_path / "umt5", "umt5"))
    news = tiny.batch(model, tiny.NEWS[:3])
    tokens = model.sample(news, 2, Sampling(max_length=9))
    torch.testing.assert_close(model(news, tokens.ids).log_prob, tokens.log_prob, atol=1e-4, rtol=0)
