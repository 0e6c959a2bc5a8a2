"""What holds for every reward, whatever the texts."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rewards

LEXICAL = ("rouge-1", "rouge-2", "rouge-3", "rouge-l", "rouge-lsum", "bleu", "bleu-star", "meteor", "bleu-neighbors")
CONTEXTUAL = ("sbert", "cka", "moverscore", "bertscore", "trwmd", "twmd")
NAMES = (*LEXICAL, "wms", "sms", "s+wms", *CONTEXTUAL, "learned", "weighted", "plain")
RANGE = {
    **dict.fromkeys(CONTEXTUAL, (-1.0, 1.0)),
    "cka": (0.0, 1.0),
    "trwmd": (-1.0, 1.5),
    "twmd": (-1.0, 1.5),
    "weighted": (0.0, 1.0),
    "learned": (-1.0, 1.0),
    "bleu-neighbors": (0.2, 0.9),
}
NOT_ONE = ("plain", "meteor", "bleu-neighbors", "repetition")  # for a text with itself

COMBINED = {
    "length": {"low": 0.5, "high": 1, "unit": "reference"},
    "repetition": {},
    "cached": {"reward": "rouge-l"},
    "cleaned": {"reward": "rouge-l"},
    "limited": {"reward": "rouge-2", "seconds": 60},
}
ON_ENCODER = {"wms on an encoder": "wms", "sms on an encoder": "sms", "s+wms on an encoder": "s+wms"}
NAMES = (*NAMES, *COMBINED, *ON_ENCODER)


LOADED = {"plain": f"{__name__}:word_count", **ON_ENCODER}


def word_count(candidates: list[str], references: object = None, sources: object = None) -> list[float]:
    return [1 / (1 + len(text.split())) for text in candidates]


@pytest.fixture(scope="module")
def every(
    vectors_file: Path, tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, rewards.Reward]:
    options: dict[str, dict] = {name: {"vectors": str(vectors_file)} for name in ("wms", "sms", "s+wms")}
    judged = [("the cat", 0.2), ("Mayor dog", 0.4), ("river unseen storm", 0.9)]
    options["bleu-neighbors"] = {"examples": judged, "a": 1}
    options |= {name: {"encoder": str(tiny_encoder)} for name in (*CONTEXTUAL, *ON_ENCODER)}
    learned = shutil.copytree(tiny_encoder, tmp_path_factory.mktemp("learned") / "metric")
    (learned / "metric.json").write_text('{"metric": {"name": "bertscore", "layer": "2"}}')
    options["learned"] = {"path": str(learned)}
    options |= COMBINED
    options["weighted"] = {"rouge-l": 0.5, f"sms(vectors={vectors_file})": 0.5}
    return {name: rewards.load(LOADED.get(name, name), **options.get(name, {})) for name in NAMES}


plain = st.lists(
    st.sampled_from(["the", "cat", "dog", "Mayor", "river", "storm", ".", "!", "3", "\n", "unseen"]), max_size=12
).map(" ".join)
wild = st.text(max_size=25)
texts = st.one_of(plain, plain, wild)
items = st.lists(st.tuples(texts, st.lists(texts, max_size=2)), min_size=1, max_size=5)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=25)
@given(items, st.randoms())
def test_a_score_is_its_own(every: dict[str, rewards.Reward], name: str, rows: list, random: object) -> None:
    """Never raises, stays in range, gives reasons for NaN, and neither order nor neighbours matter."""
    reward = every[name]
    candidates, references = [row[0] for row in rows], [row[1] for row in rows]
    scores = reward(candidates, references)
    assert scores.dtype == np.float64
    assert scores.shape == (len(rows),)
    low, high = RANGE.get(name, (0.0, 1.0))
    assert ((scores[~np.isnan(scores)] >= low) & (scores[~np.isnan(scores)] <= high + 1e-9)).all()
    reasons = [reward.undefined(*row) for row in rows]
    assert [reason is not None for reason in reasons] == np.isnan(scores).tolist()
    order = list(range(len(rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = reward([candidates[place] for place in order], [references[place] for place in order])
    np.testing.assert_allclose(moved, scores[order], atol=1e-5)
    alone = np.concatenate([reward([text], [refs]) for text, refs in rows])
    np.testing.assert_allclose(alone, scores, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=25)
@given(texts)
def test_a_text_with_itself_scores_one(every: dict[str, rewards.Reward], name: str, text: str) -> None:
    reward = every[name]
    if name not in NOT_ONE and reward.undefined(text, [text]) is None:
        assert reward([text], [[text]])[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "plain"])
def test_an_empty_candidate_gets_the_floor(every: dict[str, rewards.Reward], name: str) -> None:
    floor = RANGE.get(name, (0.0, 1.0))[0]
    assert every[name](["", " \n "], [["the cat runs home"]] * 2).tolist() == [floor, floor]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_score_at_all(every: dict[str, rewards.Reward], name: str) -> None:
    assert every[name]([], []).shape == (0,)


@pytest.mark.parametrize("name", NAMES)
def test_signatures_name_reward_and_version(every: dict[str, rewards.Reward], name: str) -> None:
    signature = every[name].signature
    assert signature.startswith("rouge-l" if name == "cached" else every[name].name)  # keeping changes no score
    assert signature.endswith("|version:2")
    assert "\n" not in signature
