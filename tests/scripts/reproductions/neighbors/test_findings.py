from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from reproductions.neighbors import data
from reproductions.neighbors.annotators import Difficulty
from reproductions.neighbors.findings import (
    annotator_claims,
    coverage_claims,
    cross_claims,
    difficulty_claims,
    kernel_claims,
    missing_claims,
    size_claims,
    sweep_claims,
    topic_claims,
)
from reproductions.neighbors.predictions import quality
from reproductions.neighbors.studies import Budget, Crossing, ModelScores, Point, SizeResult
from reproductions.neighbors.tasks import NeighborTask

QUICK = Budget(resamples=200)


def scored(texts, predictions, name=data.SUMMARIES):
    task = NeighborTask(name, texts, texts)
    return ModelScores(task, predictions, {key: quality(value, task, 200) for key, value in predictions.items()})


def noisy(texts, spread, seed=0):
    return texts.scores + np.random.default_rng(seed).normal(0, spread, len(texts))


def verdicts(claims):
    return [claim.verdict for claim in claims]


def test_a_better_kernel_holds_and_a_worse_one_does_not(judged_texts):
    texts = judged_texts("t", 80)
    good, bad = noisy(texts, 0.03), noisy(texts, 2.0, seed=1)
    assert verdicts(kernel_claims([scored(texts, {"BLEU*": good, "ROUGE": bad})], ["ROUGE"], QUICK)) == ["holds"]
    (claim,) = kernel_claims([scored(texts, {"BLEU*": bad, "ROUGE": good})], ["ROUGE", "METEOR"], QUICK)
    assert claim.verdict == "does not hold"
    assert claim.text == "summaries: a higher rho than with ROUGE as the kernel"
    (claim,) = kernel_claims([scored(texts, {"BLEU*": good, "ROUGE": good + 1e-6})], ["ROUGE"], QUICK)
    assert claim.verdict == "cannot be said"
    nothing = np.full(80, np.nan)
    (claim,) = kernel_claims([scored(texts, {"BLEU*": good, "ROUGE": nothing})], ["ROUGE"], QUICK)
    assert claim.verdict == "cannot be said"
    assert claim.numbers == "ROUGE: no judged row has both metrics defined"


@pytest.mark.parametrize(("share", "verdict"), [(0.99, "holds"), (0.5, "does not hold")])
def test_coverage_against_the_published_share(judged_texts, share, verdict):
    texts = judged_texts("t", 200)
    predicted = np.where(np.arange(200) < 200 * share, texts.scores, np.nan)
    found = scored(texts, {"BLEU*": predicted, "BLEU* as printed": np.full(200, np.nan)})
    (claim,) = coverage_claims([found])
    assert claim.verdict == verdict
    assert ".000 (.000 to .000) with the formula as printed" in claim.numbers


def test_against_annotators(judged_texts):
    texts = judged_texts("t", 100)
    claims = annotator_claims([scored(texts, {"BLEU*": noisy(texts, 0.5)})])
    assert "the best of 4" in claims[2].numbers
    assert dict(zip((claim.text for claim in claims), verdicts(claims), strict=True)) == {
        "summaries: the average annotator has a higher rho": "holds",
        "summaries: a lower MSE than the average annotator": "does not hold",
        "summaries: well behind the best annotator": "holds",
        "summaries: the best annotator's MSE is 4 times and rho 2 times as good as the average's": "does not hold",
        "summaries: predicting the mean is only slightly worse than the best annotator, by MSE": "does not hold",
        "summaries: a lower MSE than predicting the mean (not in the paper)": "does not hold",
    }
    better = annotator_claims([scored(texts, {"BLEU*": noisy(texts, 0.001)}, data.DIALOGUE)])
    assert verdicts(better) == ["holds", "holds", "does not hold", "does not hold", "holds"]


@pytest.mark.parametrize(
    ("p", "summaries", "dialogue"),
    [(0.5, "holds", "cannot be said"), (0.01, "does not hold", "holds"), (np.nan, "cannot be said", "cannot be said")],
)
def test_difficulty(p, summaries, dialogue):
    found = Difficulty(covered=0.1, all=0.2, p=p, share=0.8)
    assert verdicts(difficulty_claims({(data.SUMMARIES, "BLEU*"): found})) == [summaries]
    assert verdicts(difficulty_claims({(data.DIALOGUE, "BLEU*"): found})) == [dialogue]


def test_topics(judged_texts):
    texts = judged_texts("essays", 150)
    generator = np.random.default_rng(0)
    predictions = {f"topic {topic}": noisy(texts, 1.5, topic) for topic in range(1, 11)}
    predictions |= {"topic 8": noisy(texts, 0.02), "topic 4": generator.normal(size=150)}
    predictions |= {"all but 3": noisy(texts, 0.3)}
    predictions |= {"ROUGE-L": generator.normal(size=150), "length alone": texts.scores}
    claims = topic_claims(scored(texts, predictions, data.ESSAYS), QUICK)
    assert verdicts(claims) == ["does not hold", "holds", "holds", "holds", "does not hold", "holds"]
    assert claims[0].text == "essays: rho .500 by examples of topic 8"  # it is far above
    predictions["topic 8"], predictions["topic 4"] = predictions["topic 4"], predictions["topic 8"]
    turned = topic_claims(scored(texts, predictions, data.ESSAYS), QUICK)
    assert verdicts(turned)[1:3] == ["does not hold", "does not hold"]
    assert "topic 4" in turned[1].numbers.split("worse than")[1]


def test_examples_of_another_task(judged_texts):
    texts = judged_texts("t", 150)
    noise = np.random.default_rng(3).normal(size=150)
    good, none = (scored(texts, {"BLEU*": each}).qualities["BLEU*"] for each in (noisy(texts, 0.03), noise))
    found = [
        Crossing(data.SUMMARIES, data.SUMMARIES, good),
        Crossing(data.SUMMARIES, "essays", none),
        Crossing(data.SUMMARIES, "others", good),
        Crossing(data.DIALOGUE, "essays", good),
    ]
    assert verdicts(cross_claims(found)) == ["holds", "does not hold", "holds"]


def size(number, rho, coverage, task=data.SUMMARIES):
    return SizeResult(task, number, 20, rho, 0.1, coverage, 0.05, 0.02)


@pytest.mark.parametrize(
    ("last", "verdict"), [(0.4, "holds"), (0.11, "cannot be said"), (0.01, "does not hold"), (np.nan, "cannot be said")]
)
def test_more_examples(last, verdict):
    assert verdicts(size_claims([size(25, 0.1, 0.5), size(50, 0.2, 0.6), size(75, last, 0.7)])) == [verdict]


def test_more_examples_without_more_coverage():
    assert verdicts(size_claims([size(25, 0.1, 0.5), size(50, 0.2, 0.6), size(75, 0.4, 0.4)])) == ["does not hold"]
    assert size_claims([size(25, 0.1, 0.5)]) == []


def test_75_examples_are_enough_but_for_summaries():
    found = [size(number, 0.4, coverage, data.DIALOGUE) for number, coverage in ((25, 0.5), (75, 0.6), (150, 0.7))]
    assert verdicts(size_claims(found)) == ["cannot be said", "holds"]


def point(texts, value, parameter, predicted, task=data.SUMMARIES):
    return Point(task, "BLEU*", parameter, value, scored(texts, {"BLEU*": predicted}).qualities["BLEU*"])


def test_sweeps(judged_texts):
    texts = judged_texts("t", 150)
    good, weak = noisy(texts, 0.03), noisy(texts, 0.5)
    rising = [point(texts, 5, "a", weak), point(texts, 30, "a", good)]
    level = [point(texts, 0.5, "b", weak), point(texts, 1.0, "b", weak)]
    falling = [point(texts, 0.5, "b", good), point(texts, 1.0, "b", weak)]
    assert verdicts(sweep_claims([*rising, *level])) == ["holds", "holds"]
    assert verdicts(sweep_claims([*rising[:1], *falling])) == ["cannot be said", "does not hold"]
    assert (
        verdicts(sweep_claims([replace(each, task=data.OPEN_ENDED) for each in (*rising, *falling)])) == ["holds"] * 2
    )
    nothing = np.full(150, np.nan)
    assert sweep_claims([point(texts, 5, "a", nothing), *level]) == []
    assert sweep_claims([replace(each, task=data.ESSAYS) for each in (*rising, *level)]) == []


def test_what_is_not_there_cannot_be_said():
    assert len(missing_claims([data.SUMMARIES])) == 2
    assert [claim.verdict for claim in missing_claims([data.DIALOGUE])] == ["cannot be said"]
