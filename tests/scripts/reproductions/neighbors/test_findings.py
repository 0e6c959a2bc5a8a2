import numpy as np
import pytest
from reproductions.neighbors import data
from reproductions.neighbors.findings import (
    annotator_claims,
    coverage_claims,
    cross_claims,
    number,
    size_claims,
    topic_claims,
)
from reproductions.neighbors.predictions import quality
from reproductions.neighbors.studies import Crossing, ModelScores, SizeResult
from reproductions.neighbors.tasks import NeighborTask


def scored(texts, predictions, name=data.SUMMARIES):
    task = NeighborTask(name, texts, texts)
    return ModelScores(task, predictions, {key: quality(value, task, 200) for key, value in predictions.items()})


def noisy(texts, spread, seed=0):
    return texts.scores + np.random.default_rng(seed).normal(0, spread, len(texts))


def verdicts(claims):
    return [claim.verdict for claim in claims]


@pytest.mark.parametrize(("share", "verdict"), [(0.99, "holds"), (0.5, "does not hold")])
def test_coverage_against_the_published_share(judged_texts, share, verdict):
    texts = judged_texts("t", 200)
    predicted = np.where(np.arange(200) < 200 * share, texts.scores, np.nan)
    found = scored(texts, {"BLEU*": predicted, "BLEU* as printed": np.full(200, np.nan)})
    (claim,) = coverage_claims([found])
    assert claim.verdict == verdict
    assert ".000 with the formula as printed" in claim.numbers


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


def test_against_annotators(judged_texts):
    texts = judged_texts("t", 100)
    claims = annotator_claims([scored(texts, {"BLEU*": noisy(texts, 0.5)})])
    assert dict(zip((claim.text for claim in claims), verdicts(claims), strict=True)) == {
        "summaries: the average annotator has a higher rho": "holds",
        "summaries: a lower MSE than the average annotator": "does not hold",
        "summaries: a lower MSE than predicting the mean (not in the paper)": "does not hold",
    }
    better = annotator_claims([scored(texts, {"BLEU*": noisy(texts, 0.001)})])
    assert verdicts(better) == ["does not hold", "holds", "holds"]


def test_topics(judged_texts):
    texts = judged_texts("essays", 150)
    (claim,) = topic_claims([scored(texts, {"topic 8": noisy(texts, 0.02)}, data.ESSAYS)])
    assert (claim.text, claim.verdict) == ("essays: rho .500 by examples of topic 8", "does not hold")  # far above


def test_examples_of_another_task(judged_texts):
    texts = judged_texts("t", 150)
    noise = np.random.default_rng(3).normal(size=150)
    good, none = (scored(texts, {"BLEU*": each}).qualities["BLEU*"] for each in (noisy(texts, 0.03), noise))
    tested = {(data.SUMMARIES, data.SUMMARIES): good, (data.SUMMARIES, "essays"): none, (data.SUMMARIES, "x"): good}
    crossings = [Crossing(*names, found) for names, found in tested.items()]
    assert verdicts(cross_claims([*crossings, Crossing("essays", data.SUMMARIES, good)])) == ["holds", "does not hold"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0.1234, ".123"), (-0.5, "-.500"), (0.0123, ".0123"), (0.0999, ".100")),
        *((0.0, ".000"), (-0.00004, ".000"), (0.99996, "1.000"), (-12.3456, "-12.346")),
    ],
)
def test_numbers_have_three_places_and_no_zero_before_the_point(value, shown):
    assert number(value) == shown
