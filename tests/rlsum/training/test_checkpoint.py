import json
from dataclasses import replace

import pytest
import tiny
import torch
from claimed import claimed

from rlsum.config import ConfigError
from rlsum.data.vocabulary import VOCABULARY
from rlsum.training import checkpoint
from rlsum.training.checkpoint import CheckpointError, Progress
from rlsum.training.start.origin import load_model


def saved(folder, **sizes):
    """A checkpoint folder of a tiny model, and the model."""
    model = tiny.model(**sizes)
    config = replace(tiny.config("r"), model=model.config)
    checkpoint.create(folder, config, model, {"rouge-l": "rouge-l|v:1"})
    checkpoint.save_weights(folder, model, {"step": 7, "nll": 1.5})
    return model


# ---- a checkpoint -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [{}, {"coverage": True, "encoder_layers": 2, "decoder_layers": 2}])
def test_a_checkpoint_comes_back_as_the_same_model(tmp_path, sizes):
    model = saved(tmp_path, **sizes)
    again = load_model(checkpoint.find(tmp_path)).eval()
    assert again.config == model.config
    assert again.vocabulary == model.vocabulary
    batch = tiny.batch()
    assert torch.equal(again(batch, batch.target).log_prob, model(batch, batch.target).log_prob)
    assert checkpoint.digest(again) == checkpoint.digest(model) != checkpoint.digest(tiny.model(seed=2, **sizes))
    assert checkpoint.read_weights(tmp_path)[1] == {"step": 7, "nll": 1.5}
    assert json.loads((tmp_path / checkpoint.REWARDS).read_text()) == {"rouge-l": "rouge-l|v:1"}


def test_a_run_folder_stands_for_its_best_checkpoint(tmp_path):
    saved(tmp_path / "run" / "best")
    assert checkpoint.find(tmp_path / "run").folder == tmp_path / "run" / "best"
    assert checkpoint.find(tmp_path / "run" / "best").folder == tmp_path / "run" / "best"
    with pytest.raises(CheckpointError, match="give a run folder or a checkpoint folder"):
        checkpoint.find(tmp_path)


def test_coverage_may_be_switched_on_late_but_not_off_and_dropout_changed(tmp_path):
    model, batch = saved(tmp_path), tiny.batch()
    late = load_model(checkpoint.find(tmp_path), replace(model.config, coverage=True, dropout=0.3)).eval()
    torch.testing.assert_close(late(batch, batch.target).log_prob, model(batch, batch.target).log_prob)
    assert late(batch, batch.target).coverage.sum() > 0
    saved(tmp_path / "on", coverage=True)
    with pytest.raises(ConfigError, match="does not fit"):
        load_model(checkpoint.find(tmp_path / "on"), model.config)


@pytest.mark.parametrize("change", [{"hidden": 9}, {"encoder_layers": 2}, {"embedding": 7}])
def test_other_sizes_than_the_stored_are_refused(tmp_path, change):
    model = saved(tmp_path)
    with pytest.raises(ConfigError, match="does not fit the weights"):
        load_model(checkpoint.find(tmp_path), replace(model.config, **change))


@pytest.mark.parametrize("content", [b"", b"not safetensors", None])
def test_a_broken_weights_file_is_a_clear_error(tmp_path, content):
    saved(tmp_path)
    path = tmp_path / checkpoint.WEIGHTS
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(CheckpointError, match=r"model\.safetensors: not written by this version"):
        load_model(checkpoint.find(tmp_path))


def test_weights_that_lack_a_parameter_are_refused(tmp_path):
    from safetensors.torch import save

    saved(tmp_path)
    weights, _ = checkpoint.read_weights(tmp_path)
    del weights["gate.weight"]
    (tmp_path / checkpoint.WEIGHTS).write_bytes(save(weights, {"about": "{}"}))
    with pytest.raises(CheckpointError, match=r"gate\.weight"):
        load_model(checkpoint.find(tmp_path))


def test_a_word_list_of_another_length_than_the_weights_is_refused(tmp_path):
    saved(tmp_path)
    with (tmp_path / VOCABULARY).open("a") as file:
        file.write("extra\t1\n")
    with pytest.raises(CheckpointError, match=r"weights do not fit config\.yaml and its words"):
        load_model(checkpoint.find(tmp_path))


def test_a_crash_while_the_word_list_is_written_leaves_the_old_one(tmp_path, monkeypatch):
    model = saved(tmp_path)
    before = (tmp_path / VOCABULARY).read_bytes()

    def half(self, path):
        path.write_text("<pad>\t0\n<un")
        raise RuntimeError("crash")

    monkeypatch.setattr(type(model.vocabulary), "save", half)
    with pytest.raises(RuntimeError, match="crash"):
        checkpoint.create(tmp_path, tiny.config("r"), model, {})
    assert (tmp_path / VOCABULARY).read_bytes() == before


def test_what_is_not_finite_is_stored_as_null(tmp_path):
    checkpoint.save_weights(tmp_path, tiny.model(), {"step": 1, "novelty": float("nan"), "nll": float("inf")})
    assert checkpoint.read_weights(tmp_path)[1] == {"step": 1, "novelty": None, "nll": None}


# ---- a run's state ------------------------------------------------------------------------------------------------


def stepped(model, optimizer, times):
    batch = tiny.batch()
    for _ in range(times):
        optimizer.zero_grad()
        (-model(batch, batch.target).log_prob.mean()).backward()
        optimizer.step()


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=0.01, fused=True)


def test_a_state_comes_back_with_moments_and_progress(tmp_path):
    model = tiny.model()
    optimizer = adam(model)
    stepped(model, optimizer, 3)
    progress = Progress(step=3, best=-1.25, best_step=2, without_gain=1, finished=True)
    checkpoint.save_state(tmp_path, model, checkpoint.moments_of(optimizer), progress)
    other = tiny.model(seed=9)
    other_optimizer = adam(other)
    assert checkpoint.load_state(tmp_path, other, other_optimizer) == progress
    stepped(model, optimizer, 2)
    stepped(other, other_optimizer, 2)
    for name, parameter in model.named_parameters():
        assert torch.equal(parameter, other.get_parameter(name)), name


def test_a_state_before_any_update_comes_back(tmp_path):
    model = tiny.model()
    checkpoint.save_state(tmp_path, model, checkpoint.moments_of(adam(model)), Progress())
    assert checkpoint.load_state(tmp_path, model, adam(model)) == Progress()


def test_a_state_of_other_sizes_is_a_clear_error(tmp_path):
    model = tiny.model()
    checkpoint.save_state(tmp_path, model, checkpoint.moments_of(adam(model)), Progress())
    other = tiny.model(words=("ash",))
    with pytest.raises(CheckpointError, match=r"state\.safetensors: weights do not fit"):
        checkpoint.load_state(tmp_path, other, adam(other))


def test_a_folder_is_claimed_by_one_process_until_it_lets_go_or_is_killed(tmp_path):
    with claimed(tmp_path / "run"), pytest.raises(CheckpointError, match="another process is writing there"):
        checkpoint.claim(tmp_path / "run")
    checkpoint.claim(tmp_path / "run").close()
