"""What a validation measures."""

import numpy as np
import pytest
import tiny

from rewards.text.cleaning import NAME
from rlsum.models.pretrained.options import CausalConfig
from rlsum.records import Output
from rlsum.training.build import rewards_of
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
