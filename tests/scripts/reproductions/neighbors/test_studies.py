from dataclasses import replace

import numpy as np
import pytest
from reproductions.neighbors.kernels import BLEU, LEXICAL, Matrices
from reproductions.neighbors.predictions import Thresholds, predict
from reproductions.neighbors.studies import Budget, compare_kernels, cross, sizes, topics
from reproductions.neighbors.tasks import NeighborTask

QUICK = Budget(resamples=20)


@pytest.fixture
def matrices(tmp_path):
    return Matrices(tmp_path)


@pytest.fixture
def own(judged_texts):
    texts = judged_texts("own", 40)
    return NeighborTask("own", texts, texts)


def test_every_kernel_sees_the_same_texts(own, matrices):
    found = compare_kernels(own, LEXICAL, matrices, QUICK)
    assert len(found.task.tested) == 40
    assert set(found.qualities) == {"BLEU*", "BLEU* as printed", "ROUGE", "METEOR"}
    assert all(len(predicted) == 40 for predicted in found.predictions.values())
    assert found.qualities["BLEU*"].correlation.value > 0.5  # who does it is said in the first words
    assert found.qualities["BLEU*"].gain.value > 0


def test_examples_of_another_task(own, judged_texts, matrices):
    other = NeighborTask("other", judged_texts("tested", 20, seed=1), judged_texts("examples", 30, seed=2), b=1.0)
    found = {(each.tested, each.examples): each.quality for each in cross([own, other], BLEU, matrices, QUICK)}
    assert list(found) == [("own", "own"), ("own", "other"), ("other", "own"), ("other", "other")]
    crossed = replace(other, examples=own.examples)
    similar = matrices(BLEU, crossed.tested.texts, crossed.examples.texts)
    expected = predict(similar, crossed, Thresholds(BLEU.tau, b=1.0))
    assert found["other", "own"].n == int((~np.isnan(expected)).sum())


def test_all_examples_are_the_last_size(own, judged_texts, matrices):
    for task in (own, NeighborTask("apart", judged_texts("tested", 20, seed=1), own.examples, b=1.0)):
        found = list(sizes(task, BLEU, matrices, QUICK))
        assert [each.size for each in found] == [25, 40]
        whole = compare_kernels(task, [BLEU], matrices, QUICK).qualities["BLEU*"]
        assert found[-1].correlation == pytest.approx(whole.correlation.value)
        assert found[-1].coverage == whole.coverage.value
        assert found[-1].error == pytest.approx(whole.error.value)
        assert found[-1].correlation_sd == 0 < found[0].correlation_sd


def test_a_size_without_a_correlation_is_left_out(own, matrices):
    assert list(sizes(own, replace(BLEU, tau=2.0), matrices, QUICK)) == []


def test_topics_beside_other_scores(judged_texts, matrices):
    tested = judged_texts("essays", 20)
    sources = [judged_texts("topic 1", 30, seed=1), judged_texts("topic 2", 30, seed=2)]
    found = topics(tested, sources, BLEU, matrices, QUICK)
    assert list(found.qualities) == ["topic 1", "topic 2", "length alone"]
    assert found.qualities["length alone"].coverage.value == 1
    assert found.predictions["topic 1"].shape == (20,)
