from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import rewards
from rewards.scoring import VERSION, Inputs, score_components
from rewards.text.cleaning import NAME
from rewards.wrappers.cleaned import Cleaned, all_cleaned

TEXTS = ["The cat sat.", "A dog runs home.", ""]
DEBRIS = ["<think>Hm, a dog?</think>Here is a summary: **The cat** sat.", "<t> A dog ru@@ ns home. </t>", "</s>"]


@pytest.mark.parametrize(
    "spec", ["rouge-l", "bleu", "weighted(rouge-1=0.5, repetition=0.5)", "limited(reward=rouge-1, seconds=60)"]
)
def test_scores_are_those_of_the_clean_texts(spec: str) -> None:
    reward, cleaned = rewards.load(spec), rewards.load("cleaned", reward=spec)
    references = [["The cat slept."], ["A dog runs.", "Dogs run home."], ["a"]]
    with_debris = [[f"<p>{text}</p>" for text in texts] for texts in references]
    expected = reward(TEXTS, references)
    assert not np.allclose(reward(DEBRIS, references), expected)
    assert cleaned(DEBRIS, with_debris).tolist() == cleaned(TEXTS, references).tolist() == expected.tolist()
    assert cleaned.signature == f"cleaned|rules:{NAME}|reward:[{reward.signature}]|version:{VERSION}"


def test_components_and_the_score_of_the_corpus_are_kept() -> None:
    inputs, clean = Inputs(DEBRIS, [["The cat slept."]] * 3), Inputs(TEXTS, [["The cat slept."]] * 3)
    total, components = score_components(rewards.load("cleaned(reward=weighted(rouge-1=0.5, rouge-2=0.25))"), inputs)
    assert [(name, weight) for name, weight, _ in components] == [("rouge-1", 0.5), ("rouge-2", 0.25)]
    assert total.tolist() == sum(weight * scores for _, weight, scores in components).tolist()
    rows, value = Cleaned("bleu").corpus_counts(inputs)  # type: ignore[misc]
    expected, _ = rewards.load("bleu").corpus_counts(clean)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(rows, expected)
    assert 0 < value(rows.sum(axis=0)) < 1
    assert Cleaned("rouge-1").corpus_counts is None


def test_prefixes_are_options_and_in_the_signature() -> None:
    reward = rewards.load("cleaned(reward=rouge-1, prefix='Short ->|News:')")
    assert reward(["News: the cat"], [["Short -> the cat"]]).tolist() == [1.0]
    assert "|prefix:'Short ->','News:'|" in reward.signature
    assert reward.signature == Cleaned("rouge-1", ["News:", "Short ->"]).signature


def test_a_reference_of_which_nothing_remains_is_undefined_with_its_reason() -> None:
    reward = rewards.load("cleaned(reward=rouge-1)")
    assert np.isnan(reward(["a"], [["<pad> </s>"]])).all()
    assert reward.undefined("a", ["<pad> </s>"]) == "its reference is empty"


def test_rewards_are_wrapped_by_label_and_once() -> None:
    given = rewards.from_specs("rouge-1, cleaned(reward=rouge-l), rouge-2(stemmer=false)")
    made = all_cleaned(given, ["A:", "B:"])
    assert list(made) == list(given)
    assert made["rouge-1"].signature == Cleaned("rouge-1", ["A:", "B:"]).signature
    assert made["cleaned"] is given["cleaned"]
    assert "stemmer:no" in made["rouge-2"].signature
    assert pickle.loads(pickle.dumps(made["rouge-1"])).signature == made["rouge-1"].signature


def test_a_judge_that_reads_other_texts_from_a_file_is_refused(tmp_path: Path) -> None:
    """They would stay as they are, beside clean candidates."""
    (tmp_path / "o.jsonl").write_text('{"source": "a", "candidate": "**b**"}\n')
    judge = f"judge-pairs(endpoint=http://127.0.0.1:9/v1, model=m, against={tmp_path / 'o.jsonl'})"
    for spec in (judge, f"cached(reward={judge})", f"weighted({judge}=1, rouge-l=1)"):
        with pytest.raises(rewards.RewardError, match="judge-pairs compares with texts of a file"):
            rewards.load("cleaned", reward=spec)
    rewards.load("cleaned", reward="judge-pairs(endpoint=http://127.0.0.1:9/v1, model=m)")
