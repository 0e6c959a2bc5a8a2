"""What every registered reward must hold, also one that is added later: without a case of its own it fails here."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import rewards
from rewards.base import TABLE, resolve

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from hard_texts import HARD
from reward_cases import CASES, Case, Files, case, files

PLAIN = "the cat runs to the river . the mayor sleeps ."
CANDIDATES = [PLAIN, "the dog sleeps", "", "🐈", "the cat", "x"]
LONG = 1000  # characters
DEAR = ("sbert", "cka", "moverscore", "bertscore", "trwmd", "twmd", "learned")  # by the square of a text's length
REFERENCES = [[PLAIN, "x"], ["the dog falls"], ["cat"], ["🐈"], ["the storm", "", "the cat runs"], []]


@pytest.fixture(scope="module")
def made(vectors_file: Path, tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files(vectors_file, tiny_encoder, tmp_path_factory.mktemp("cases"))


@pytest.fixture(params=TABLE)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def known(name: str, made: Files) -> Case:
    return case(name, made)


@pytest.fixture
def reward(name: str, known: Case) -> rewards.Reward:
    return rewards.load(name, **known.needed)


def test_cases_are_those_of_the_table() -> None:
    assert set(CASES) == set(TABLE)


def check(reward: rewards.Reward, known: Case, candidates: list[str], references: list[list[str]]) -> None:
    """Numbers in range, and a reason for each that is not there."""
    scores = reward(candidates, references)
    defined = scores[~np.isnan(scores)]
    assert ((defined >= known.low) & (defined <= known.high)).all(), candidates[0][:30]
    for candidate, listed, score in zip(candidates, references, scores, strict=True):
        reason = reward.undefined(candidate, listed)
        assert (reason is not None) == np.isnan(score), (candidate[:30], reason)
        assert reason is None or (reason and "\n" not in reason)


def test_any_text_gets_a_number_in_range_or_a_reason(reward: rewards.Reward, known: Case) -> None:
    for text in HARD.values():
        if len(text) < LONG:
            check(reward, known, [text, PLAIN, text], [[PLAIN], [text], [text]])


def test_equal_texts_of_any_length_are_in_range(reward: rewards.Reward, known: Case) -> None:
    texts = [" ".join(PLAIN.split() * 3)[:length] for length in range(5, 60, 4)]
    check(reward, known, texts, [[text] for text in texts])


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in DEAR)) for name in TABLE])
def test_so_does_one_of_ten_thousand_words(name: str, made: Files) -> None:
    known = case(name, made)
    reward = rewards.load(name, **known.needed)
    for text in HARD.values():
        if len(text) >= LONG:
            check(reward, known, [text, PLAIN], [[PLAIN], [text]])


def test_an_empty_candidate_gets_the_lowest_score(reward: rewards.Reward, known: Case) -> None:
    scores = reward(["", " \n "], [[PLAIN]] * 2)
    assert scores.dtype == np.float64
    np.testing.assert_array_equal(scores, [known.low] * 2)


def test_inputs_stay_and_neither_order_nor_mates_matter(reward: rewards.Reward, known: Case) -> None:
    candidates, references = copy.deepcopy((CANDIDATES, REFERENCES))
    scores = reward(candidates, references)
    assert (candidates, references) == (CANDIDATES, REFERENCES)
    order = [3, 0, 5, 4, 2, 1]
    moved = reward([candidates[place] for place in order], [references[place] for place in order])
    np.testing.assert_allclose(moved, scores[order], atol=1e-5)
    alone = [reward([text], [listed])[0] for text, listed in zip(candidates, references, strict=True)]
    np.testing.assert_allclose(alone, scores, atol=1e-5)


def test_it_travels_to_another_process_before_and_after_use(name: str, reward: rewards.Reward, known: Case) -> None:
    fresh = pickle.loads(pickle.dumps(rewards.load(name, **known.needed)))
    expected = reward(CANDIDATES, REFERENCES)
    for travelled in (fresh, pickle.loads(pickle.dumps(reward))):
        np.testing.assert_array_equal(travelled(CANDIDATES, REFERENCES), expected)
        assert travelled.signature == reward.signature


def test_wrong_calls_are_errors(reward: rewards.Reward, known: Case) -> None:
    calls: list = [(PLAIN, [[PLAIN]]), ([None], [[PLAIN]])]
    if known.compares:
        calls += [([PLAIN], [[PLAIN], [PLAIN]]), ([PLAIN], [PLAIN]), ([PLAIN], [[None]])]
    for candidates, references in calls:
        with pytest.raises(rewards.RewardError):
            reward(candidates, references)


def test_the_signature_follows_every_option_that_changes_a_score(name: str, known: Case) -> None:
    options = set(inspect.signature(resolve(name)).parameters)
    assert options == {*known.others, *known.same}, "an option without a case"
    for option, value in {**known.others, **known.same}.items():
        before = {**known.needed, **known.beside.get(option, {})}
        first, again, second = (rewards.load(name, **made) for made in (before, before, {**before, option: value}))
        assert first.signature == again.signature
        assert (first.signature == second.signature) == (option in known.same), option
        assert "\n" not in first.signature
