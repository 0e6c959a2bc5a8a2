import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from rlsum.evaluation.agreement import judge_ceiling, krippendorff_alpha
from rlsum.evaluation.statistics import Uncertainty

NONE = Uncertainty(resamples=0)
NAN = float("nan")
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", example C: 12 units, 4 observers, missing values.
EXAMPLE = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


@pytest.mark.parametrize(("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_published_example(scale, alpha):
    found = krippendorff_alpha(EXAMPLE, scale=scale, how=Uncertainty(resamples=200))
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert (found.n, found.judgments) == (11, 40)  # the unit with one judgment is left out
    assert found.low < found.value < found.high


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=3, max_size=3), min_size=2, max_size=12),
    st.sampled_from(["nominal", "ordinal", "interval"]),
)
def test_alpha_is_that_of_the_krippendorff_package(judgments, scale):
    matrix = np.array(judgments, dtype=float)
    found = krippendorff_alpha(matrix, scale=scale, how=NONE)
    if found.reason:
        assert np.isnan(found.value)
        return
    assert found.value == pytest.approx(krippendorff.alpha(matrix.T, level_of_measurement=scale), abs=1e-9)


def test_alpha_of_continuous_scores_needs_no_table_of_all_values():
    draw = np.random.default_rng(0)
    truth = draw.normal(size=(40_000, 1))  # items by distinct scores would be 24 GB
    found = krippendorff_alpha(truth + draw.normal(size=(40_000, 2)), how=NONE)
    assert found.value == pytest.approx(0.5, abs=0.02)


def test_drawing_an_input_twice_is_having_it_twice():
    # Two inputs: of the four draws two are the sample itself, one is each input alone, doubled.
    first, second = np.array([[1.0, 1], [2, 3]]), np.array([[5.0, 4], [1, 1]])
    judgments, inputs = np.concatenate([first, second]), ["a", "a", "b", "b"]
    for scale in ("nominal", "ordinal", "interval"):
        alone = [krippendorff_alpha(np.tile(part, (2, 1)), scale=scale, how=NONE).value for part in (first, second)]
        found = krippendorff_alpha(judgments, scale=scale, inputs=inputs, how=Uncertainty(resamples=400, level=0.999))
        values = sorted([*alone, found.value])
        assert (found.low, found.high) == pytest.approx((values[0], values[-1]))


def test_alpha_where_nothing_can_be_said():
    same = krippendorff_alpha([[2, 2], [2, 2]])
    assert np.isnan(same.value)
    assert "the same" in same.reason
    single = krippendorff_alpha([[1, NAN], [NAN, 2]])
    assert "no item has two judgments" in single.reason
    one = krippendorff_alpha([[1, 2], [3, 3]], inputs=["a", "a"])
    assert np.isnan(one.low)
    assert "one input" in one.reason


def test_ceiling_of_named_judges_is_the_mean_of_their_correlations():
    generator = np.random.default_rng(0)
    truth = generator.normal(size=(50, 1))
    judgments = truth + generator.normal(size=(50, 3))
    judgments[generator.random((50, 3)) < 0.2] = NAN
    expected = []
    for judge in range(3):
        others = np.delete(judgments, judge, axis=1)
        kept = ~np.isnan(judgments[:, judge]) & (~np.isnan(others)).any(1)
        expected.append(pearsonr(judgments[kept, judge], np.nanmean(others[kept], axis=1)).statistic)
    found = judge_ceiling(judgments, judges="named", statistic="pearson", how=Uncertainty(resamples=200))
    assert found.value == pytest.approx(np.mean(expected))
    assert found.low < found.value < found.high


def test_ceiling_of_anonymous_judges_does_not_depend_on_their_order():
    generator = np.random.default_rng(1)
    judgments = generator.integers(0, 5, (40, 1)) + generator.integers(-1, 2, (40, 4)).astype(float)
    judgments[::3, 2:] = NAN  # some items have two judgments, others four
    found = judge_ceiling(judgments, judges="anonymous", how=Uncertainty(resamples=50))
    shuffled = judge_ceiling(generator.permuted(judgments, axis=1), judges="anonymous", how=Uncertainty(resamples=50))
    assert shuffled.value == pytest.approx(found.value)
    assert (shuffled.low, shuffled.high) == pytest.approx((found.low, found.high))
    pairs = [
        (judgments[i, j], np.nanmean(np.delete(judgments[i], j)))
        for i in range(40)
        for j in range(4)
        if not np.isnan(judgments[i, j])
    ]
    assert found.value == pytest.approx(spearmanr(*zip(*pairs, strict=True)).statistic)


def test_ceiling_on_another_scale_is_the_same():
    """Tenths have rounding errors, which break no ties of the others' means: whole numbers have none."""
    whole = np.random.default_rng(2).integers(1, 6, (40, 4)).astype(float)
    found, tenths = (judge_ceiling(scores, judges="named", how=NONE).value for scores in (whole, whole / 10))
    assert tenths == pytest.approx(found, abs=1e-12)


def test_ceiling_where_nothing_can_be_said():
    assert "two judgments" in judge_ceiling([[1, NAN], [2, NAN]], judges="named").reason
    found = judge_ceiling([[1, 1], [1, 1], [1, 1]], judges="anonymous")
    assert np.isnan(found.value)
    assert "vary" in found.reason
    lazy = judge_ceiling([[1, 1, 2], [1, 2, 2], [1, 3, 4], [1, 4, 3]], judges="named", how=NONE)
    assert lazy.value > 0.5  # the judge who always says 1 is left out


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: krippendorff_alpha([[1, 2]], scale="ratio"), "nominal, ordinal, interval"),
        (lambda: krippendorff_alpha([1, 2]), "items by judges"),
        (lambda: krippendorff_alpha([[1, float("inf")]]), "infinite"),
        (lambda: judge_ceiling([[1, 2]], judges="people"), "named, anonymous"),
        (lambda: judge_ceiling([[1, 2]], judges="named", statistic="acc-t"), "acc-t. is an accuracy"),
        (lambda: judge_ceiling([[1, 2]], judges="named", inputs=["a", "b"]), "inputs has 2 entries for 1 scores"),
    ],
)
def test_wrong_arguments_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
