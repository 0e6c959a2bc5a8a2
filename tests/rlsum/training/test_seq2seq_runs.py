"""Whole runs of pretrained summarizers: likelihood, reward, resume, generate; and plain transformers on the result."""

import json

import language_models
import pretrained as tiny
import pytest
import torch
import yaml
from left import assert_same_run, log_of
from safetensors.torch import load_file
from seq2seq_runs import LANGUAGE_MODELS, MIXED, NEWS, rlsum, settings, trained
from tiny import calm, stop
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from rlsum import config as configs
from rlsum.data.corpus import Tokenization
from rlsum.records import read_outputs
from rlsum.training import build, checkpoint
from rlsum.training.start.origin import load_model

pytestmark = pytest.mark.usefixtures("own_module_cache")
ARCHITECTURES = ["bart", "t5", "pegasus", "mt5", *LANGUAGE_MODELS]


def plain_texts(folder):
    """What plain transformers writes with a checkpoint folder, without any option."""
    if AutoConfig.from_pretrained(folder).model_type not in LANGUAGE_MODELS:
        return tiny.plain_texts(folder, NEWS)
    network, about = AutoModelForCausalLM.from_pretrained(folder, output_loading_info=True)
    assert not any(about[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompts = language_models.prompts(tokenizer, [article for article, _ in NEWS])  # one by one: nothing is padded
    rows = [network.eval().generate(torch.tensor([ids]))[0, len(ids) :] for ids in prompts]
    return [tokenizer.decode(row, skip_special_tokens=True).strip() for row in rows]


def assert_generates_what_plain_transformers_does(run, place, folder):
    rlsum("generate", run, place / "news.jsonl", "-o", folder / "out.jsonl", "--batch-size", 2)
    candidates = [output.candidate for output in read_outputs(folder / "out.jsonl")]
    assert candidates == plain_texts(run / "best")
    assert any(candidates)


def moved(before, after):
    a, b = (load_file(folder / "model.safetensors") for folder in (before, after))
    assert a.keys() == b.keys()
    return any(not torch.equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_likelihood_then_reward_then_plain_transformers_generates_the_same(place, tmp_path, name):
    mle = trained(settings(place, name, tmp_path / "mle"))
    nll = [row["nll"] for row in log_of(mle, "valid")]
    assert nll[-1] < nll[0]
    assert moved(place / name, mle / "best")
    assert json.loads((mle / "best" / "config.json").read_text())["model_type"] == name
    mixed = settings(place, name, tmp_path / "mixed", objective=MIXED, model={}) | {"model": None}
    run = trained(mixed, init=mle)
    rows = log_of(run, "train")
    assert any(row["advantage_std"] > 0 for row in rows)
    assert all({"loss_rl", "loss_mle", "reward", "baseline_reward", "sample_length"} <= row.keys() for row in rows)
    state, start = load_file(run / checkpoint.STATE), load_file(mle / "best" / "model.safetensors")
    assert any(not torch.equal(state[f"model.network.{key}"], tensor) for key, tensor in start.items())
    assert_generates_what_plain_transformers_does(run, place, tmp_path)


GROUPS = {"reward": "pretrained:vowels", "gamma": 0.5, "samples": 3}
OBJECTIVES = {
    "rloo": {"kind": "mixed", "estimator": "rloo", "length": "sum", **GROUPS},
    "grpo": {"kind": "mixed", "estimator": "grpo", "kl": 0.1, **GROUPS},
    "dr-grpo": {"kind": "mixed", "estimator": "dr-grpo", "updates_per_sample": 2, "clip": 0.2, **GROUPS},
    "ranking": {"kind": "ranking", **GROUPS},
    "reinforce++": {"kind": "mixed", "estimator": "reinforce++", "normalisation": "token", **GROUPS},
    "dapo-gspo": {
        "kind": "mixed", "estimator": "reinforce++-baseline", "skip_zero_groups": True, "updates_per_sample": 2,
        "clip": 0.2, "clip_high": 0.3, "ratio": "sequence", **GROUPS,
    },
    "minimum-risk": {"kind": "minimum-risk", **GROUPS},
    "best-of-n": {"kind": "best-of-n", **GROUPS},
}  # fmt: skip


@pytest.fixture(scope="module")
def starts(place, tmp_path_factory):
    """A run of likelihood of each architecture."""
    folder = tmp_path_factory.mktemp("starts")
    training = {"steps": 2}
    return {name: trained(settings(place, name, folder / name, training=training)) for name in ARCHITECTURES}


@pytest.mark.parametrize(("objective", "name"), zip(2 * [*OBJECTIVES], 2 * ARCHITECTURES, strict=False))
def test_every_objective_trains_and_plain_transformers_goes_on(place, starts, tmp_path, name, objective):
    """Each architecture with two of the objectives, which see no architecture: tokens and their scores alone."""
    mixed = settings(place, name, tmp_path / "r", objective=OBJECTIVES[objective]) | {"model": None}
    run = trained(mixed, init=starts[name])
    rows = log_of(run, "train")
    assert all(row["entropy"] > 0 and "baseline_reward" not in row and row["zero_groups"] < 1 for row in rows)
    if objective == "grpo":
        assert rows[0]["kl"] == pytest.approx(0, abs=1e-6)
        assert rows[-1]["kl"] > 0
    state = load_file(run / checkpoint.STATE)
    start = load_file(starts[name] / "best" / "model.safetensors")
    assert any(not torch.equal(state[f"model.network.{key}"], tensor) for key, tensor in start.items())
    # the weights of the last update, wherever the best is from
    plain = load_model(checkpoint.find(run / "best"))
    checkpoint.put_weights(plain, {k[6:]: v for k, v in state.items() if k.startswith("model.")}, run,
                           optional=checkpoint._aliases(plain))  # fmt: skip
    checkpoint.save_weights(run / "best", plain, {})
    assert_generates_what_plain_transformers_does(run, place, tmp_path)


@pytest.mark.parametrize(
    ("name", "objective", "optimizer"),
    [
        ("t5", {"kind": "mle"}, {}),
        ("t5", {"kind": "mle", "label_smoothing": 0.1}, {"optimizer": "adafactor", "learning_rate": 0.05}),
        ("bart", MIXED, {"optimizer": "adamw", "weight_decay": 0.1}),
        ("t5", OBJECTIVES["dapo-gspo"], {"batch_size": 1, "accumulate": 2}),
        ("llama", OBJECTIVES["dapo-gspo"], {"batch_size": 1, "accumulate": 2}),
        ("gpt2", {"kind": "mle"}, {}),
    ],
    ids=["t5", "adafactor", "adamw", "dapo-gspo", "llama", "gpt2"],
)
def test_a_resumed_run_equals_an_uninterrupted_one(place, tmp_path, name, objective, optimizer):
    """Stopped in the update after a validation, with dropout on where no samples are drawn."""
    model = {"dropout": objective["kind"] == "mle"}
    values = settings(place, name, tmp_path / "whole", objective=objective, model=model, training=optimizer)
    whole, cut = trained(values), tmp_path / "cut"
    stopped({**values, "run": str(cut)}, 3)
    assert not (cut / checkpoint.RESULT).exists()
    build.trainer(checkpoint.read_config(cut), resume=True).fit()
    assert_same_run(cut, whole)


def test_the_commands_from_end_to_end(place, tmp_path):
    path, out = tmp_path / "t5.yaml", tmp_path / "out.jsonl"
    values = settings(place, "t5", tmp_path / "run", model={"prefix": "the mayor said "}, data={"max_source": 100})
    path.write_text(yaml.safe_dump(values))
    rlsum("train", path)
    rlsum("train", "--resume", tmp_path / "run")
    rlsum("train", path, "--init", tmp_path / "run", f"run={tmp_path / 'more'}", "model=null", "training.steps=2",
          "objective={kind: mixed, reward: 'pretrained:vowels'}")  # fmt: skip
    stored = checkpoint.read_config(tmp_path / "more" / "best")
    assert stored.model.prefix == "the mayor said "
    rlsum("generate", tmp_path / "more" / "best", place / "news.jsonl", "-o", out)
    expected = tiny.plain_texts(tmp_path / "more/best", NEWS, "the mayor said ")
    assert [output.candidate for output in read_outputs(out)] == expected
    assert "rouge-l" in rlsum("evaluate", out, "--metrics", "rouge-l").output


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_accumulated_batches_equal_a_large_one(place, tmp_path, smoothing):
    weights = []
    for size, accumulate in ((6, 1), (3, 2)):
        training = {"batch_size": size, "accumulate": accumulate, "steps": 2, "validate_every": 2}
        objective = {"label_smoothing": smoothing}
        run = tmp_path / str(size)
        values = settings(place, "t5", run, training=training, model={"dropout": False}, objective=objective)
        trainer = build.trainer(configs.check(values, "test"))
        calm(trainer)
        trainer.fit()
        state = load_file(run / checkpoint.STATE)
        weights.append({key: tensor for key, tensor in state.items() if key.startswith("model.")})
    torch.testing.assert_close(*weights, atol=3e-6, rtol=0)


def plain_loss(folder, smoothing):
    """The mean over articles of torch's smoothed cross entropy a token, by transformers alone."""
    network, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    total = 0.0
    for article, text in NEWS:
        labels = tokenizer(text_target=text, return_tensors="pt").input_ids
        with torch.no_grad():
            logits = network(**tokenizer(article, return_tensors="pt"), labels=labels).logits
        total += torch.nn.functional.cross_entropy(logits[0], labels[0], label_smoothing=smoothing).item()
    return total / len(NEWS)


@pytest.mark.parametrize("objective", [{"kind": "mle"}, MIXED], ids=["mle", "mixed"])
def test_smoothed_labels_are_in_the_loss_and_not_in_the_likelihood_that_is_logged(place, tmp_path, objective):
    rows = []
    for smoothing in (0.0, 0.2):
        values = settings(place, "t5", tmp_path / str(smoothing), objective={**objective, "label_smoothing": smoothing},
                          model={"dropout": False}, training={"batch_size": 6, "steps": 1},
                          data={"max_target": 40})  # fmt: skip
        rows.append(log_of(trained(values)))
    (start, first, end), (_, smoothed, smoothed_end) = rows
    assert smoothed["nll"] == pytest.approx(first["nll"], rel=1e-5)
    key = "loss" if objective["kind"] == "mle" else "loss_mle"
    assert first[key] == pytest.approx(plain_loss(place / "t5", 0.0), abs=1e-5)
    assert smoothed[key] == pytest.approx(plain_loss(place / "t5", 0.2), abs=1e-5)
    assert smoothed_end["nll"] != end["nll"]
    assert start["kind"] == "valid"


def test_led_trains_decodes_and_goes_on_with_its_first_token_attending_everywhere(place, tmp_path):
    options = {"model": {"global_attention": "first"}, "training": {"steps": 2}}
    run = trained(settings(place, "led", tmp_path / "mle", **options))
    mixed = settings(place, "led", tmp_path / "mixed", objective=MIXED, training={"steps": 2}) | {"model": None}
    mixed = trained(mixed, init=run)
    assert checkpoint.read_config(mixed).model.global_attention == "first"
    out = tmp_path / "out.jsonl"
    rlsum("generate", mixed, place / "news.jsonl", "-o", out)
    expected = tiny.plain_texts(mixed / "best", NEWS, global_attention=True)
    assert [output.candidate for output in read_outputs(out)] == expected


@pytest.mark.parametrize("precision", ["no", "bf16"])
@pytest.mark.parametrize("name", ["bart", "t5", "llama"])
def test_the_first_update_of_samples_has_ratios_of_exactly_one(place, tmp_path, fresh_precision, name, precision):
    objective = {**MIXED, "clip": 1e-9, "updates_per_sample": 2, "gamma": 0.9, "kl": 0.1}
    training = {"mixed_precision": precision, "accumulate": 2, "batch_size": 1}
    sampling = {"temperature": 1.2, "top_k": 20}
    run = trained(settings(place, name, tmp_path / "run", objective=objective, training=training, sampling=sampling))
    outside = [row["ratio_outside"] for row in log_of(run, "train")]
    assert outside[::2] == [0, 0]
    assert min(outside[1::2]) > 0.5


# ---- low-rank updates ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bart", "t5", "llama", "gpt2"])
def test_low_rank_updates_train_alone_and_load_merged_and_in_peft(place, tmp_path, name):
    peft = pytest.importorskip("peft")
    prompted = name in LANGUAGE_MODELS
    loader = AutoModelForCausalLM if prompted else AutoModelForSeq2SeqLM
    lora = {"lora": {"rank": 2, "alpha": 64}, "gradient_checkpointing": True}
    values = settings(place, name, tmp_path / "run", model=lora, training={"learning_rate": 1e-2})
    run = trained(values)
    state, start = load_file(run / checkpoint.STATE), load_file(place / name / "model.safetensors")
    for key, tensor in start.items():  # the base stays
        layer, _, kind = f"model.network.{key}".rpartition(".")
        kept = state[f"{layer}.{kind}" if f"{layer}.{kind}" in state else f"{layer}.base_layer.{kind}"]
        assert torch.equal(kept, tensor), key
    assert moved(place / name, run / "best")
    assert not any("lora" in key for key in load_file(run / "best" / "model.safetensors"))
    base = loader.from_pretrained(place / name)
    adapted = peft.PeftModel.from_pretrained(base, run / "best" / "adapter").eval()
    merged = loader.from_pretrained(run / "best").eval()
    tokenizer = AutoTokenizer.from_pretrained(run / "best")
    texts = {"text": NEWS[0][0]} if prompted else {"text": NEWS[0][0], "text_target": NEWS[0][1]}
    inputs = tokenizer(**texts, return_tensors="pt")
    with torch.no_grad():
        torch.testing.assert_close(adapted(**inputs).logits, merged(**inputs).logits, atol=1e-4, rtol=1e-4)
    assert_generates_what_plain_transformers_does(run, place, tmp_path)
    mixed = settings(place, name, tmp_path / "mixed", objective=MIXED) | {"model": None}
    trained(mixed, init=run)
    assert checkpoint.read_config(tmp_path / "mixed").model.lora is None


# ---- the start that a penalty measures from -----------------------------------------------------------------------


def stopped(values, step):
    """A run that was stopped before update ``step``."""
    stop(build.trainer(configs.check(values, "test")), step)


@pytest.mark.parametrize("lora", [None, {"rank": 2}], ids=["all weights", "low-rank"])
def test_a_resumed_run_measures_from_the_same_start(place, tmp_path, lora):
    if lora:
        pytest.importorskip("peft")
    options = {"objective": {**MIXED, "kl": 0.2}, "model": {"lora": lora}, "training": {"learning_rate": 1e-2}}
    whole = trained(settings(place, "t5", tmp_path / "whole", **options))
    stopped(settings(place, "t5", tmp_path / "cut", **options), 3)
    assert (tmp_path / "cut" / checkpoint.START).exists() == (lora is None)  # else the start is beneath the updates
    build.trainer(checkpoint.read_config(tmp_path / "cut"), resume=True).fit()
    assert_same_run(tmp_path / "cut", whole)
    distances = [row["kl"] for row in log_of(whole, "train")]
    assert distances[0] < 1e-6  # the first update still is the start
    assert all(distance > 1e-6 for distance in distances[1:])


def test_a_start_that_is_gone_or_changed_is_refused(place, tmp_path):
    run = trained(settings(place, "t5", tmp_path / "r", objective={**MIXED, "kl": 0.2}, training={"steps": 2}))
    start, other = run / checkpoint.START, place / "t5" / "model.safetensors"
    content = start.read_bytes()
    for change, message in (
        (lambda: start.write_bytes(other.read_bytes()), "the start, which the KL penalty measures from: "),
        (start.unlink, "cannot be read"),
    ):
        change()
        with pytest.raises(checkpoint.CheckpointError, match=message):
            build.trainer(checkpoint.read_config(run), resume=True)
    start.write_bytes(content)
    build.trainer(checkpoint.read_config(run), resume=True)


def test_updates_are_switched_off_to_score_as_the_start_and_on_again(place):
    pytest.importorskip("peft")
    from rlsum.models.pretrained.lora import switched_off
    from rlsum.models.pretrained.options import Seq2SeqConfig
    from rlsum.training.start.seq2seq import START

    values = settings(place, "bart", "none", model={"lora": {"rank": 2}})
    config = configs.check(values, "test")
    assert isinstance(config.model, Seq2SeqConfig)
    model = START.built(config, config.model, str(place / "bart"))
    batch = model.collate(model.read(tiny.rows(tiny.NEWS), Tokenization(max_source=64, max_target=20))[:2])
    start = model(batch, batch.target).log_prob
    trained_names = [name for name, p in model.named_parameters() if p.requires_grad]
    with torch.no_grad():
        for name in trained_names:
            model.get_parameter(name).normal_()
    moved_on = model(batch, batch.target).log_prob
    assert (moved_on - start).abs().max() > 0.1
    torch.testing.assert_close(model.without_updates(batch, batch.target).log_prob, start)
    assert not model.without_updates(batch, batch.target).log_prob.requires_grad
    torch.testing.assert_close(model(batch, batch.target).log_prob, moved_on)
    with pytest.raises(ZeroDivisionError), switched_off(model.network):
        raise ZeroDivisionError
    assert [name for name, p in model.named_parameters() if p.requires_grad] == trained_names
