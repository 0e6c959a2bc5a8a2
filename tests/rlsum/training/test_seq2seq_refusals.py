"""What runs of pretrained summarizers cannot be: refused before articles are read, or before rewards teach."""

import json
import logging
import shutil
from dataclasses import replace

import architectures
import language_models
import pytest
import yaml
from pretrained import ruled
from rows import changed
from seq2seq_runs import MIXED, rlsum, settings, trained

from rlsum import config as configs
from rlsum.config import ConfigError
from rlsum.errors import UserError
from rlsum.training import build, checkpoint

pytestmark = pytest.mark.usefixtures("own_module_cache")


def refused(values, **options):
    with pytest.raises(ConfigError) as caught:
        build.trainer(configs.check(values, "test"), **options)
    return str(caught.value)


def test_faults_come_together_before_articles_are_read(place, tmp_path):
    values = settings(place, "bart", tmp_path / "r", data={"train": str(place / "news.jsonl"), "tokenizer": "spacy",
                      "lowercase": True, "max_source": 1024}, vocabulary={"embeddings": "x.txt"})  # fmt: skip
    message = refused(values)
    assert "4 fault(s)" in message
    assert "data.lowercase=true: a pretrained model reads texts as they are written" in message
    assert "data.tokenizer=spacy: a pretrained model" in message
    assert "data.max_source=1024: this bart has 64 positions; set it to 64 or less" in message
    assert "vocabulary.embeddings=x.txt" in message
    values["model"]["global_attention"] = "first"
    assert "model.global_attention=first: bart attends to all tokens already; leave it out" in refused(values)
    (tmp_path / "empty").mkdir()
    values["model"]["pretrained"] = str(tmp_path / "empty")
    assert "has no tokenizer" in refused(values)
    assert not (tmp_path / "r").exists()


def test_a_layer_for_low_rank_updates_must_be_named_where_peft_knows_none(place, tmp_path):
    pytest.importorskip("peft")
    values = settings(place, "pegasus", tmp_path / "r", model={"lora": {}})
    assert "model.lora.targets: peft has no default for pegasus" in refused(values)


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("t5", "lm_head", "lm_head shares weights with another layer"),
        ("bart", "embed_tokens", "model.encoder.embed_tokens, model.decoder.embed_tokens shares weights with another"),
        ("bart", "query", "Target modules {'query'} not found"),
        ("bart", "final_layer_norm", "Target module LayerNorm("),
    ],
)
def test_layers_that_low_rank_updates_cannot_be_merged_into_are_refused(place, tmp_path, name, target, reason):
    """best/ would silently be without the updates of a layer whose weights are another's, too."""
    pytest.importorskip("peft")
    values = settings(place, name, tmp_path / "r", model={"lora": {"targets": ["q_proj", "q", target]}})
    if "not found" in reason:
        values["model"]["lora"]["targets"] = [target]
    assert f"model.lora.targets={values['model']['lora']['targets']}: {reason}" in refused(values)
    assert not (tmp_path / "r").exists()


def test_a_tokenizer_that_would_teach_never_to_end_is_refused(place, tmp_path):
    folder = shutil.copytree(place / "t5", tmp_path / "endless")
    changed(folder / "tokenizer.json", post_processor=None)
    changed(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast")
    values = settings(tmp_path, "endless", tmp_path / "r", data={"train": str(place / "news.jsonl"),
                      "valid": str(place / "news.jsonl")})  # fmt: skip
    assert "eos_token_id of generation_config.json (1)" in refused(values)


def test_settings_of_a_model_that_a_run_does_not_follow_are_said(place, tmp_path, caplog):
    folder = ruled(shutil.copytree(place / "llama", tmp_path / "penal"), repetition_penalty=1.1)
    values = settings(place, "llama", tmp_path / "r", model={"pretrained": str(folder)})
    with caplog.at_level(logging.INFO, "rlsum"):
        build.trainer(configs.check(values, "test"))
    assert "penal: generation_config.json has repetition_penalty=1.1; a run's own decoding and samp" in caplog.text


def test_articles_need_room_beside_the_special_tokens(place, tmp_path):
    values = settings(place, "bart", tmp_path / "r", data={"max_source": 2})
    assert "data.max_source=2: the tokenizer adds 2 special tokens" in refused(values)
    values = settings(place, "bart", tmp_path / "r", data={"max_target": 1})
    assert "data.max_target=1: the first token of a text is forced" in refused(values)


@pytest.mark.parametrize(
    ("name", "model", "message"),
    [
        ("llama", {"kind": "seq2seq"}, "llama is a language model without an encoder; set model.kind=causal"),
        ("bart", {"kind": "causal"}, "bart is an encoder-decoder; set model.kind=seq2seq"),
        ("gpt2", {"template": "chat"}, "the tokenizer has no chat template; set model.template=plain"),
        ("llama", {"lora": {"targets": ["query"]}}, "model.lora.targets=['query']: Target modules {'query'} not found"),
        ("llama", {"pretrained": "./nowhere"}, "no such folder"),
    ],
)
def test_what_does_not_fit_a_language_model_says_what_does(place, tmp_path, name, model, message):
    values = settings(place, name, tmp_path / "r", model=model)
    with pytest.raises(UserError) as caught:
        build.trainer(configs.check(values, "test"))
    assert message in str(caught.value)
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"prompt": "Summarize."}, "prompt='Summarize.': must hold {article} once"),
        ({"template": "plain", "system": "Be brief."}, "a plain template has no system turn"),
        ({"stop": [""]}, "stop: an empty text ends every summary"),
    ],
)
def test_a_prompt_that_cannot_be_is_refused_with_the_configuration(place, tmp_path, model, message):
    with pytest.raises(ConfigError, match=message):
        configs.check(settings(place, "llama", tmp_path / "r", model=model), "test")


def test_the_prompt_the_article_and_the_summary_share_the_positions_of_a_language_model(place, tmp_path):
    values = settings(place, "llama", tmp_path / "r", data={"max_source": 450})
    message = refused(values)
    assert "data.max_source=450: with 85 tokens of the prompt and 20 of a summary, this llama has 512" in message
    assert "positions; set it to 407 or less" in message


def test_a_run_does_not_go_on_with_another_prompt(place, tmp_path):
    run = trained(settings(place, "llama", tmp_path / "run", training={"steps": 2}))
    assert json.loads((run / "environment.json").read_text())["prompt"]
    config = checkpoint.read_config(run)
    build.trainer(config, resume=True).held.close()
    for change in ({"prompt": "Shorten: {article}"}, {"system": "Be brief."}, {"stop": ("x",)}):
        other = replace(config, model=replace(config.model, **change))
        with pytest.raises(checkpoint.CheckpointError, match=r"(?s)has changed.*the prompt of model.prompt"):
            build.trainer(other, resume=True)
    values = settings(place, "llama", tmp_path / "more", model={"prompt": "Shorten: {article}"})
    assert "does not fit the weights" in refused(values, init=run)


def test_another_kind_or_model_than_the_checkpoints_is_refused(place, tmp_path):
    run = trained(settings(place, "t5", tmp_path / "run", training={"steps": 1, "validate_every": 1}))
    other = settings(place, "bart", tmp_path / "other")
    assert "does not fit the weights" in refused(other, init=run)
    pointer = {**other, "model": {"embedding": 4, "hidden": 4}}
    assert "does not fit the weights" in refused(pointer, init=run)


def test_a_start_that_no_run_wrote_is_named_in_the_configuration(place, tmp_path):
    folder = place / "bart"
    values = settings(place, "bart", tmp_path / "r", objective=MIXED) | {"model": None}
    with pytest.raises(checkpoint.CheckpointError) as caught:
        build.trainer(configs.check(values, "test"), init=folder)
    advice = f"in the configuration instead: model='{{kind: seq2seq, pretrained: {folder}}}'"
    assert advice in str(caught.value)
    path = tmp_path / "r.yaml"
    path.write_text(yaml.safe_dump(values))
    rlsum("train", path, advice.split(": ", 1)[1].replace("'", ""), "training.steps=1", "training.validate_every=1")
    assert checkpoint.read_config(tmp_path / "r").model.pretrained == str(folder)


@pytest.mark.parametrize("name", architectures.INCONSISTENT)
def test_rewards_do_not_teach_a_network_whose_scores_are_not_those_of_its_samples(place, tmp_path, name):
    architectures.save(place / name, name)
    assert trained(settings(place, name, tmp_path / "mle")).is_dir()
    for start, init in (("anew", None), ("initialised", tmp_path / "mle")):
        with pytest.raises(ConfigError, match=rf"model.pretrained=.*{name}: log-probabilities .* off-policy"):
            trained(settings(place, name, tmp_path / start, objective=MIXED), init=init)
        assert not (tmp_path / start / "config.yaml").exists()


def test_a_network_that_padding_changes_is_trained_with_one_article_at_a_time(place, tmp_path):
    language_models.save(place / "git", "git")
    values = settings(place, "git", tmp_path / "many", objective=MIXED, model={"kind": "causal"})
    with pytest.raises(UserError, match="git cannot read articles with padding; set batch_size to 1"):
        trained(values)
    one = settings(place, "git", tmp_path / "one", objective=MIXED, model={"kind": "causal"},
                   training={"batch_size": 1, "steps": 2})  # fmt: skip
    assert (trained(one) / "best").is_dir()  # validation, too
