from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from encoders import WORDS
from reproductions.together import BATCH, PART, score_together

import rewards
from rewards.embedding.reward import EmbeddingReward
from rewards.errors import RewardError

FAMILY = (
    ("sbert", {}),
    ("sbert", {"normalize": "none"}),
    ("cka", {}),
    ("moverscore", {}),
    ("bertscore", {}),
    ("bertscore", {"direction": "recall"}),
    ("bertscore", {"special_tokens": "first", "direction": "precision"}),
    ("trwmd", {}),
    ("trwmd", {"direction": "recall", "entropy": True}),
    ("trwmd", {"temperature": 0}),
    ("twmd", {}),
    ("twmd", {"direction": "precision", "iterations": 4, "temperature": 0.1}),
    ("twmd", {"entropy": True, "normalize": "none"}),
    ("twmd", {"temperature": 0}),
)
CENTERINGS = ("none", "dimension", "sentence", "batch", "corpus")


def family(encoder: Path, centering: str) -> list[EmbeddingReward]:
    made = []
    for name, options in FAMILY:
        if (name, centering) != ("sbert", "sentence"):
            reward = rewards.load(name, encoder=str(encoder), centering=centering, **options)
            made.append(reward.fit(["the cat runs", "a dog sleeps ."]) if centering == "corpus" else reward)
    return made


def texts(count: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, 12))) for _ in range(count)]


@pytest.mark.parametrize("centering", CENTERINGS)
def test_the_scores_are_those_of_each_metric_by_itself(tiny_encoder: Path, centering: str) -> None:
    count = BATCH + 6
    candidates, references = texts(count, 0), texts(count, 1)
    candidates[3] = references[3]
    candidates[5], references[6], candidates[7], references[7] = "", " ", "", ""
    references[5] = "the cat runs"  # one token is nothing to sentence centering
    candidates[9] = candidates[10]
    metrics = family(tiny_encoder, centering)
    found = score_together(metrics, candidates, references)
    assert found.shape == (len(metrics), count)
    for metric, scores in zip(metrics, found, strict=True):
        alone = metric(candidates, [[text] for text in references])
        np.testing.assert_allclose(scores, alone, rtol=1e-10, atol=1e-11)
        assert np.isnan(scores[6])
        assert scores[5] == metric.measure.floor
        if centering != "batch" and metric.measure.normalize == "self":
            assert scores[3] == 1.0


def test_batches_of_batch_centering_do_not_straddle_parts() -> None:
    assert PART % 32 == 0


def test_metrics_of_different_spaces_keep_their_order(tiny_encoder: Path) -> None:
    made = [
        rewards.load("cka", encoder=str(tiny_encoder), centering=centering, layer=layer)
        for centering, layer in (("batch", 1), ("none", 2), ("batch", 2), ("none", 1))
    ]
    candidates, references = texts(5, 2), texts(5, 3)
    found = score_together(made, candidates, references)
    for reward, scores in zip(made, found, strict=True):
        np.testing.assert_allclose(scores, reward(candidates, [[text] for text in references]), rtol=1e-10)


def test_nothing_to_score(tiny_encoder: Path) -> None:
    metrics = family(tiny_encoder, "none")
    assert score_together(metrics, [], []).shape == (len(metrics), 0)
    assert np.isnan(score_together(metrics, ["", "cat"], ["", ""])).all()
    assert score_together([], ["cat"], ["dog"]).shape == (0, 1)


def test_what_cannot_be_scored_together_is_refused(tiny_encoder: Path) -> None:
    place = str(tiny_encoder)
    for reward, part in (
        (rewards.load("rouge-l"), "rouge-l is not of the family"),
        (rewards.load("moverscore", variant="v2", encoder=place), "moverscore is not of the family"),
        (rewards.load("bertscore", idf="references", encoder=place), "idf=references"),
    ):
        with pytest.raises(RewardError, match=part):
            score_together([reward], ["cat"], ["dog"])
    with pytest.raises(RewardError, match="1 candidates and 2 references"):
        score_together([rewards.load("cka", encoder=place)], ["cat"], ["dog", "cat"])
