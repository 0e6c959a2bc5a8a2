from __future__ import annotations

from pathlib import Path

import headed
import numpy as np
import pytest

import rewards
from rewards.explain import explain
from rewards.models.entailment import summac

ARTICLE = "the cat runs . the mayor sleeps in the garden . a red storm falls ."
SUMMARY = "a cat runs . the storm falls ."
SCORES = ("entailment", "difference")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return headed.classifier(tmp_path_factory.mktemp("entailment"))


def probabilities(folder: Path, premise: str, hypothesis: str) -> np.ndarray:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model, tokenizer = (kind.from_pretrained(folder) for kind in (AutoModelForSequenceClassification, AutoTokenizer))
    logits = model.eval()(**tokenizer(premise, hypothesis, return_tensors="pt")).logits
    return logits.detach().softmax(-1)[0].numpy()


def sentences(text: str) -> list[str]:
    return [f"{part.strip()} ." for part in text.split(".") if part.strip()]


def test_the_formula_by_hand() -> None:
    matrix = np.array([[0.1, 0.9, 0.2], [0.3, 0.2, 0.4]])
    assert summac(matrix) == pytest.approx((0.9 + 0.4) / 2)
    assert summac(matrix, "min") == 0.4


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("aggregate", ["mean", "min"])
def test_it_is_the_formula_of_the_paper(score: str, aggregate: str, folder: Path) -> None:
    """Each sentence of the summary: the best of the article; contradiction is class 0, entailment class 2."""
    table = np.array([[probabilities(folder, p, h) for p in sentences(ARTICLE)] for h in sentences(SUMMARY)])
    values = table[..., 2] - (table[..., 0] if score == "difference" else 0)
    reward = rewards.load("entailment", model=str(folder), score=score, aggregate=aggregate)
    scores = reward([SUMMARY, "", SUMMARY], sources=[ARTICLE, ARTICLE, ""])
    expected = getattr(values.max(axis=1), aggregate)()
    np.testing.assert_allclose(scores, [expected, reward.floor, np.nan], atol=1e-6)
    explained = explain(reward, SUMMARY, ARTICLE)
    np.testing.assert_allclose(explained.values, values, atol=1e-6)
    assert [item.text for item in explained.reference] == sentences(ARTICLE)
    assert explain(reward, SUMMARY, "the dog .", ARTICLE).score == explained.score


def test_windows_of_the_article_are_as_long_as_the_model_reads(folder: Path) -> None:
    reward = rewards.load("entailment", model=str(folder), premise="windows")
    explained = explain(reward, SUMMARY, ARTICLE)
    windows = [item.text for item in explained.reference]
    assert windows[0] == "the cat runs . the mayor sleeps in the garden . a"  # 20 - 5 - 3 special
    assert windows[-1].endswith("storm falls .")
    expected = [max(probabilities(folder, window, h)[2] for window in windows) for h in sentences(SUMMARY)]
    assert explained.score == pytest.approx(np.mean(expected), abs=1e-6)


def test_a_long_sentence_is_cut(folder: Path) -> None:
    kept, cut = (rewards.load("entailment", model=str(folder), long_texts=how) for how in ("windows", "truncate"))
    long = "the cat runs in the garden in the storm and the mayor sleeps"
    rows, first = (explain(reward, long, ARTICLE) for reward in (kept, cut))
    assert [item.text for item in rows.candidate][:2] == ["the cat runs in the", "the garden in the storm"]
    assert [item.text for item in first.candidate] == ["the cat runs in the"]


def test_no_sentence_is_compared_twice(folder: Path) -> None:
    reward = rewards.load("entailment", model=str(folder), given="reference")
    alone = [reward([text], [[ARTICLE]])[0] for text in (SUMMARY, "a cat runs .")]
    sizes: list[int] = []
    model = reward.model.load().model
    hook = model.register_forward_pre_hook(lambda *given: sizes.append(len(given[2]["input_ids"])), with_kwargs=True)
    np.testing.assert_allclose(
        reward([SUMMARY, "a cat runs .", SUMMARY], [[ARTICLE]] * 3), [*alone, alone[0]], atol=1e-6
    )
    hook.remove()
    assert sum(sizes) == 2 * 3


def test_a_model_whose_classes_are_named_otherwise_has_another_signature(tmp_path: Path) -> None:
    signatures = []
    for name, labels in (
        ("one", ("entailment", "contradiction", "x")),
        ("other", ("x", "contradiction", "Entailment")),
    ):
        headed.relabelled(folder := headed.classifier(tmp_path / name), labels)
        signatures += [rewards.load("entailment", model=str(folder), score=score).signature for score in SCORES]
    assert [one.split("classes:")[1].split("|")[0] for one in signatures] == ["0", "0-1", "2", "2-1"]
    assert signatures[0].replace("classes:0", "classes:2") == signatures[2]


@pytest.mark.parametrize(
    ("labels", "score", "part"),
    [
        (("LABEL_0", "LABEL_1", "LABEL_2"), "entailment", "LABEL_0, LABEL_1, LABEL_2; exactly one"),
        (("entailment", "entails_fully", "neutral"), "entailment", "exactly one"),
        (("not_entailment", "non-entailment", "other"), "entailment", "exactly one"),
        (("entailment or neutral", "contradiction", "other"), "entailment", "exactly one"),
        (("lack of entailment", "contradiction", "other"), "entailment", "exactly one"),
        (("entailment", "not_entailment", "other"), "difference", "contradiction"),
        (("entailment", "not_entailment", "other"), "entailment", ""),
        (("ENTAILMENT", "NEUTRAL", "CONTRADICTION"), "difference", ""),
    ],
)
def test_unclear_labels_are_refused_with_the_fix(labels: tuple, score: str, part: str, tmp_path: Path) -> None:
    folder = headed.classifier(tmp_path)
    headed.relabelled(folder, labels)
    reward = rewards.load("entailment", model=str(folder), score=score)
    if not part:
        assert np.isfinite(reward([SUMMARY], sources=[ARTICLE])).all()
        return
    with pytest.raises(rewards.RewardError, match=f"{part}.*id2label"):
        reward([SUMMARY], sources=[ARTICLE])
