"""What a validation measures."""

from dataclasses import replace

import numpy as np
import pytest
import tiny

from rewards.text.cleaning import NAME
from rlsum.models.pretrained.options import CausalConfig
from rlsum.records import Output
from rlsum.training.start.scorers import rewards_of
from rlsum.training.validation import means, score


def test_the_share_of_articles_that_a_mean_leaves_out_is_logged():
    def defined_for_one(candidates, references=None, sources=None, columns=None):
        return np.array([1.0 if text == "ash" else np.nan for text in candidates])

    outputs = [Output(text, "ash fir", ["ash"], text, "s") for text in ("ash", "fir", "elm", "oak")]
    columns = score(outputs, {"one": defined_for_one, "overlap": tiny.Overlap()})
    assert columns["overlap"].tolist() == [1.0, 0.0, 0.0, 0.0]
    values = means(columns, ["one", "overlap"])
    assert (values["one"], values["undefined/one"]) == (1.0, 0.75)
    assert (values["overlap"], values.get("undefined/overlap")) == (0.25, None)


@pytest.mark.parametrize("clean", [False, True])
def test_answers_are_scored_without_what_announces_them_where_the_model_answers_a_prompt(tmp_path, clean):
    objective = {"reward": "weighted(rouge-1=1, length(high=3)=0.5)"}
    config = tiny.config(tmp_path, "mixed", objective=objective)
    metrics, reward, _ = rewards_of(config, CausalConfig(pretrained="llm", clean=clean))
    answer = "<think>Hm.</think>Sure! Here is a summary:\n\n**ash** fir"
    assert (reward([answer], [["ash fir"]])[0] == reward(["ash fir"], [["ash fir"]])[0]) == clean
    assert metrics["reward"] is reward
    assert all((NAME in metric.signature) == clean for metric in metrics.values())
    assert list(metrics) == ["rouge-1", "rouge-2", "rouge-l", "reward"]


@pytest.mark.parametrize(
    ("by", "name"),
    [
        ("length(high=3)", "length (reward)"),
        ("length", "length (reward)"),  # not the number of tokens, which is logged under this name
        ("repetition", "repetition (reward)"),
        ("rouge-1", "rouge-1"),
    ],
)
def test_a_reward_that_is_called_as_a_property_has_a_name_of_its_own_and_may_choose_the_checkpoint(tmp_path, by, name):
    metrics = ["rouge-1", "length(high=3)", "repetition"]
    config = tiny.config(tmp_path, "mixed", choose_by=by, objective={"reward": "rouge-l"})
    config = replace(config, metrics=tuple(metrics))
    made, _, choice = rewards_of(config)
    assert choice.name == name
    columns = score([Output("1", "ash", ["ash"], "ash fir elm oak birch cedar", "s")], made)
    assert columns["length"].tolist() == [6.0]
    assert 0 <= columns["length (reward)"][0] < 1
