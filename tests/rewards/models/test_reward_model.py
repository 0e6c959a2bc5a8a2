from __future__ import annotations

from pathlib import Path

import headed
import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import rewards
from rewards.explain import explain

ARTICLE = "the council will vote on the new bridge ."
TEXTS = ["the council will vote .", "a bus left the road near Elmham .", "mill"]


@pytest.fixture(scope="module")
def pair_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return headed.classifier(tmp_path_factory.mktemp("pair"), ("score",))


@pytest.fixture(scope="module")
def chat_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return headed.chat_reward_model(tmp_path_factory.mktemp("chat"))


def number(folder: Path, *texts: str, special: bool = True) -> float:
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        return float(model.eval()(**tokenizer(*texts, return_tensors="pt", add_special_tokens=special)).logits)


def test_a_pair_and_a_chat_are_what_transformers_gives(pair_model: Path, chat_model: Path) -> None:
    pairs, chats = (rewards.load("reward-model", model=str(folder)) for folder in (pair_model, chat_model))
    short = ["the cat runs .", "a red dog", ""]
    expected = [number(pair_model, "the mayor falls", text) for text in short[:2]]
    np.testing.assert_allclose(pairs(short, sources=["the mayor falls"] * 3), [*expected, np.nan], atol=1e-5)
    turns = [f"<s>user: {ARTICLE}</s><s>assistant: {text}</s>" for text in TEXTS]
    expected = [number(chat_model, text, special=False) for text in turns]
    np.testing.assert_allclose(chats(TEXTS, sources=[ARTICLE] * 3), expected, atol=1e-5)
    assert "form:pair" in pairs.signature
    assert "form:chat" in chats.signature


@pytest.mark.parametrize("pad", [None, "</s>", "<s>"])
def test_the_last_token_counts_where_none_is_for_padding(tmp_path: Path, pad: str | None) -> None:
    """Padded with the end of a turn, which ends every chat, a classifier would read the token before it."""
    folder = headed.chat_reward_model(tmp_path / "model", pad=pad)
    turns = [f"<s>user: {ARTICLE}</s><s>assistant: {text}</s>" for text in TEXTS]
    expected = [number(folder, text, special=False) for text in turns]
    found = rewards.load("reward-model", model=str(folder))(TEXTS, sources=[ARTICLE] * 3)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_text_that_spells_the_end_of_a_sequence_is_a_text(tmp_path: Path) -> None:
    """BART finds its answer at the last </s>, and refuses a batch whose rows have different numbers of them."""
    reward = rewards.load("reward-model", model=str(headed.bart_reward_model(tmp_path / "bart")))
    alone = [reward([text], sources=["a"])[0] for text in ("a bus left .</s>", "a bus left .")]
    np.testing.assert_allclose(reward(["a bus left .</s>", "a bus left ."], sources=["a", "a"]), alone, atol=1e-6)


def test_an_empty_candidate_has_no_score_unless_one_is_given(pair_model: Path) -> None:
    reward = rewards.load("reward-model", model=str(pair_model))
    assert reward.undefined("", source="a cat") == "it is empty, and the reward has no floor; give floor="
    floored = rewards.load("reward-model", model=str(pair_model), floor=-7)
    assert floored([""], sources=["a cat"])[0] == -7
    assert floored.undefined("", source="a cat") is None


def test_of_a_long_article_the_best_window_counts_and_a_long_candidate_has_a_reason(pair_model: Path) -> None:
    windows, cut = (
        rewards.load("reward-model", model=str(pair_model), long_texts=how) for how in ("windows", "truncate")
    )
    words = (
        "the cat runs in the garden . the mayor sleeps . a red storm falls . the dog runs to the river . " * 2
    ).split()
    sizes = [(0, 14), (11, 25), (22, 36), (33, 46)]  # 20 - 3 special - 3 of the candidate
    scores = [number(pair_model, " ".join(words[start:end]), "a red dog") for start, end in sizes]
    assert windows(["a red dog"], sources=[" ".join(words)])[0] == pytest.approx(max(scores), abs=1e-5)
    assert cut(["a red dog"], sources=[" ".join(words)])[0] == pytest.approx(scores[0], abs=1e-5)
    assert np.isnan(cut([" ".join(words)], sources=["a cat"])[0])
    told = "it has 46 tokens, more than 3/4 of the 17 that the model reads beside the prompt"
    assert cut.undefined(" ".join(words), source="a cat") == told


@pytest.mark.parametrize("form", ["pair", "chat"])
@pytest.mark.parametrize("prompt", ["{given}", "the cat {given} " + "runs " * 5, "a " * 200 + "{given}"])
def test_a_candidate_of_any_length_is_scored_beside_a_long_article_or_told_by_its_own_tokens(
    pair_model: Path, chat_model: Path, form: str, prompt: str
) -> None:
    reward = rewards.load("reward-model", model=str({"pair": pair_model, "chat": chat_model}[form]), prompt=prompt)
    for words in (1, 5, 8, 10, 12, 20, 60, 200):
        row = {"candidate": ("cat " * words).strip(), "source": ARTICLE * 40}
        score, told = reward([row["candidate"]], sources=[row["source"]])[0], reward.undefined(**row)
        assert np.isnan(score) == (told is not None)
        assert words > 1 or told is None or prompt.startswith("a a")
        assert told is None or f"it has {len(reward.model.load().ids([row['candidate']], False)[0])} tokens" in told


def test_the_explanation_is_what_each_sentence_adds(chat_model: Path) -> None:
    reward = rewards.load("reward-model", model=str(chat_model))
    explained = explain(reward, f"{TEXTS[0]}\n{TEXTS[1]}", ARTICLE)
    scores = reward([f"{TEXTS[0]}\n{TEXTS[1]}", TEXTS[1], TEXTS[0]], sources=[ARTICLE] * 3)
    np.testing.assert_allclose(explained.values[:, 0], scores[0] - scores[1:], atol=1e-5)


def test_what_cannot_be_is_an_error(pair_model: Path, tmp_path: Path) -> None:
    with pytest.raises(rewards.RewardError, match="gives 3 numbers, not one; entailment reads classes"):
        rewards.load("reward-model", model=str(headed.classifier(tmp_path)))(["a"], sources=["b"])
    with pytest.raises(rewards.RewardError, match="no chat template; use form=pair"):
        rewards.load("reward-model", model=str(pair_model), form="chat")(["a"], sources=["b"])
    with pytest.raises(rewards.RewardError, match=r"no \{given\}"):
        rewards.check_spec("reward-model(model=x, prompt=Rate)")
