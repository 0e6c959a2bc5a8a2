import json
from dataclasses import asdict, replace

import pytest
from judged import judged

import rewards
from rewards.specs import as_spec
from rlsum.errors import UserError
from rlsum.judgments.records import Judgment
from rlsum.metric_fitting import fitting
from rlsum.metric_fitting.examples import examples
from rlsum.metric_fitting.fitting import fit, scored
from rlsum.metric_fitting.options import FitOptions
from rlsum.metric_fitting.updates import Trainee

TRAIN = examples(judged(32, seed=1, groups=("a", "b")), "overall")
VALID = examples(judged(16, seed=2, groups=("a", "b")), "overall")
OPTIONS = FitOptions(epochs=3, batch_size=8, learning_rate=1e-3)


def spec(encoder):
    return as_spec(f"twmd(encoder={encoder}, centering=batch)")


def test_the_folder_holds_the_best_epoch_as_an_ordinary_reward(tiny_encoder, tmp_path):
    told = []
    fitted = fit(
        spec(tiny_encoder), TRAIN, VALID, tmp_path / "m", OPTIONS, lambda v, best: told.append((v.epoch, best))
    )
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    found = json.loads((tmp_path / "m" / "metric.json").read_text())
    assert found == json.loads(json.dumps(fitted.about))
    assert found["finished"]
    assert found["metric"] == {"name": "twmd", "centering": "batch", "layer": "2"}
    assert found["options"] == asdict(OPTIONS)
    assert found["scale"] == {"origin": 0.0, "unit": 1.0}
    assert (found["data"]["train_judgments"], found["data"]["valid_judgments"]) == (32, 16)
    assert [row["epoch"] for row in found["history"]] == [epoch for epoch, _ in told] == [0, 1, 2, 3]
    best = max(found["history"][1:], key=lambda row: row["pearson"])
    assert (found["epoch"], found["validation"]["pearson"]) == (best["epoch"], best["pearson"])
    assert found["history"][3]["loss"] < found["history"][1]["loss"]

    reward = rewards.load("learned", path=str(tmp_path / "m"))
    assert reward.signature == found["signature"]
    again = scored(reward, VALID)
    assert {name: each.pearson for name, each in again.items()} == {
        name: each["pearson"] for name, each in found["validation"]["groups"].items()
    }
    assert found["start"] == rewards.from_spec(spec(tiny_encoder)).signature  # training changed nobody else's weights
    assert again != scored(rewards.from_spec(spec(tiny_encoder)), VALID)


def test_the_same_seed_gives_the_same_metric(tiny_encoder, tmp_path):
    made = [
        fit(spec(tiny_encoder), TRAIN, VALID, tmp_path / str(run), FitOptions(1, 8, 1e-3, seed=seed)).about
        for run, seed in enumerate((1, 1, 2))
    ]
    assert made[0] == made[1]
    assert made[0]["signature"] != made[2]["signature"]


def test_the_same_path_again_is_another_metric(tiny_encoder, tmp_path):
    """Encoders are remembered by their place, so what is remembered must go when a place is written anew."""
    path = tmp_path / "m"
    first = fit(spec(tiny_encoder), TRAIN, VALID, path, FitOptions(1, 8, 1e-3)).about["signature"]
    assert rewards.load("learned", path=str(path)).signature == first
    path.rename(tmp_path / "other")
    second = fit(spec(tiny_encoder), TRAIN, VALID, path, FitOptions(1, 8, 1e-3, seed=5)).about["signature"]
    assert rewards.load("learned", path=str(path)).signature == second != first
    assert rewards.load("learned", path=str(tmp_path / "other")).signature == first


@pytest.mark.parametrize(
    ("options", "epochs", "best"), [({}, 4, 2), ({"patience": 1}, 3, 2), ({"patience": 3}, 8, 5), ({"epochs": 1}, 1, 1)]
)
def test_it_ends_early_and_keeps_the_better_epoch(tiny_encoder, tmp_path, monkeypatch, options, epochs, best):
    from rlsum.metric_fitting.correlations import Correlations

    values = (0.9, 0.2, 0.5, 0.4, 0.5, 0.8, 0.8, 0.7, 0.8, 0.9)
    told = iter(values)
    monkeypatch.setattr(fitting, "scored", lambda reward, found: {"": Correlations(next(told), 0.0, 16)})
    fitted = fit(
        spec(tiny_encoder), TRAIN, VALID, tmp_path / "m", FitOptions(batch_size=32, **{"epochs": 9, **options})
    )
    assert [each.mean.pearson for each in fitted.history] == [*values[: epochs + 1]]
    assert fitted.about["epoch"] == best
    assert rewards.load("learned", path=str(tmp_path / "m")).signature == fitted.about["signature"]


def test_what_was_written_survives_whatever_stops_it(tiny_encoder, tmp_path, monkeypatch):
    """Stopped in the second epoch: the first is there, whole, and says that it is not the end."""
    update = Trainee._update

    def stopped(self, number, chosen):
        if number == 5:
            raise KeyboardInterrupt
        return update(self, number, chosen)

    monkeypatch.setattr(Trainee, "_update", stopped)
    with pytest.raises(KeyboardInterrupt):
        fit(spec(tiny_encoder), TRAIN, VALID, tmp_path / "m", OPTIONS)
    found = json.loads((tmp_path / "m" / "metric.json").read_text())
    assert (found["finished"], found["epoch"]) == (False, 1)
    assert rewards.load("learned", path=str(tmp_path / "m")).signature == found["signature"]
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_a_write_that_fails_leaves_the_folder_as_it_was(tiny_encoder, tmp_path, monkeypatch):
    save, calls = fitting.encoders.save, []

    def full(encoder, source, folder):
        calls.append(folder)
        save(encoder, source, folder)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(fitting.encoders, "save", full)
    with pytest.raises(OSError, match="No space"):
        fit(spec(tiny_encoder), TRAIN, VALID, tmp_path / "m", OPTIONS)
    found = json.loads((tmp_path / "m" / "metric.json").read_text())
    assert rewards.load("learned", path=str(tmp_path / "m")).signature == found["signature"]


def test_groups_are_scored_apart(tiny_encoder):
    """So that batch centering never mixes language pairs: each group alone gives the same."""
    reward = rewards.from_spec(spec(tiny_encoder))
    together = scored(reward, VALID)
    for name in ("a", "b"):
        assert scored(reward, [each for each in VALID if each.group == name]) == {name: together[name]}


def test_what_cannot_be_trained_on_is_told_before_anything_starts(tiny_encoder, tmp_path):
    empty = examples([Judgment("x1", "ours", "cat", ("", " "), scores={"overall": 0.5})], "overall")
    with pytest.raises(
        UserError, match="judgment 'x1' of system 'ours' cannot be scored: its references have no token"
    ):
        fit(spec(tiny_encoder), [*TRAIN, *empty], VALID, tmp_path / "m", OPTIONS)
    none = examples([Judgment("x2", "ours", "cat", (), scores={"overall": 0.5})], "overall")
    with pytest.raises(UserError, match="it has no reference"):
        fit(spec(tiny_encoder), TRAIN, [*VALID, *none], tmp_path / "m", OPTIONS)
    with pytest.raises(UserError, match=r"validation .*all 1 human scores are equal"):
        fit(spec(tiny_encoder), TRAIN, VALID[:1], tmp_path / "m", OPTIONS)
    with pytest.raises(rewards.RewardError, match="no gradient"):
        fit(as_spec("rouge-l"), TRAIN, VALID, tmp_path / "m", OPTIONS)
    (tmp_path / "m").mkdir()
    with pytest.raises(UserError, match="exists; give another name"):
        fit(spec(tiny_encoder), TRAIN, VALID, tmp_path / "m", OPTIONS)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot be written"):
        fit(spec(tiny_encoder), TRAIN, VALID, tmp_path / "file" / "m", OPTIONS)


def test_empty_candidates_have_no_gradient_and_are_told_at_the_end(tiny_encoder, tmp_path):
    empty = [replace(example, candidate="") for example in TRAIN]
    assert fit(spec(tiny_encoder), [*empty, *TRAIN], VALID, tmp_path / "m", replace(OPTIONS, batch_size=2)).best
    with pytest.raises(UserError, match="give candidates that differ, or a lower"):
        fit(spec(tiny_encoder), empty, empty, tmp_path / "n", OPTIONS)
