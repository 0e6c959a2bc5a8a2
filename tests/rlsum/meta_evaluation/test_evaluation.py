from dataclasses import replace

import numpy as np
import pytest
from rated import Share, rated

from rlsum.errors import UserError
from rlsum.evaluation.agreement import judge_ceiling
from rlsum.evaluation.correlation import correlate
from rlsum.evaluation.statistics import holm
from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.evaluation import meta_evaluate, swaps
from rlsum.meta_evaluation.findings import findings, material, warnings
from rlsum.meta_evaluation.scores import Column, scored

FEW = Choices(resamples=100)


@pytest.fixture(scope="module")
def table():
    return scored(rated(30), {"share": Share()}, length=("letters", "characters"))


def test_every_statistic_of_every_column(table):
    found = meta_evaluate(table, ("spearman", "acc-t", "spa"), FEW)
    levels = {result.statistic: result.level for result in found.results}
    assert levels == {"spearman": "pooled", "acc-t": "pooled", "spa": "system"}
    expected = correlate(
        table.human, table.scores("share"), inputs=table.inputs, systems=table.systems, how=FEW.uncertainty
    )
    assert repr(found.results[0].correlations["share"].average) == repr(expected)  # NaN is not itself
    assert [len(result.tests) for result in found.results] == [3, 3, 3]
    ceiling = judge_ceiling(table.judges.scores, judges="anonymous", inputs=table.inputs, how=FEW.uncertainty)
    assert found.results[0].ceiling == ceiling
    assert found.results[1].ceiling is None
    assert found.alpha.value > 0
    with pytest.raises(ValueError, match="is unknown"):
        meta_evaluate(table, ("sperman",))  # type: ignore[arg-type]


def test_ceilings_are_averaged_as_the_metrics_are():
    table = scored(rated(30, groups=("a", "b")), {"share": Share()})
    found = meta_evaluate(table, ("pearson",), Choices(average="groups", resamples=50)).results[0]
    parts = [
        judge_ceiling(table.judges.scores[np.array(table.groups) == group], judges="anonymous", statistic="pearson")
        for group in ("a", "b")
    ]
    assert found.ceiling.value == pytest.approx(np.mean([part.value for part in parts]))
    assert list(found.correlations["share"].groups) == ["a", "b"]


@pytest.mark.parametrize("average", [None, "groups"])
def test_all_pairs_are_one_family(table, average):
    flat = replace(table, columns={**table.columns, "flat": Column(np.ones(len(table)), "s")})
    tests = meta_evaluate(flat, ("pearson",), replace(FEW, average=average)).results[0].tests
    assert [test.p_holm for test in tests] == pytest.approx(list(holm([test.p for test in tests])), nan_ok=True)
    assert len({test.p_holm - test.p for test in tests}) > 1


def test_many_metrics_get_swaps_enough_to_differ_after_holm(table):
    wide = table
    for place in range(20):
        wide = replace(wide, columns={**wide.columns, f"copy {place}": table.columns["share"]})
    assert swaps(wide, FEW) / 231 >= 100


def with_metric(table, scores):
    return replace(table, columns={**table.columns, "share": Column(np.asarray(scores, dtype=float), "s")})


def test_what_is_undefined_is_told(table):
    flat = with_metric(table, np.full(len(table), 2.0))
    found = meta_evaluate(flat, ("spearman",), FEW)
    assert findings(found)[0] == "spearman (pooled): undefined for every metric."
    told = " ".join(warnings(found))
    assert "spearman of share: the metric's scores are constant." in told
    assert "share against length (letters)" in told
    assert "Williams" not in told


def test_williams_is_printed_where_it_is_asked_for(table):
    """With inputs that repeat it rejects too often."""
    found = meta_evaluate(table, ("pearson",), replace(FEW, test="williams"))
    assert {test.test for test in found.results[0].tests} == {"williams"}
    assert "inputs repeat" in " ".join(warnings(found))


def test_a_value_outside_its_interval_is_told(table):
    found = meta_evaluate(table, ("pearson",), FEW)
    assert "outside its interval" not in " ".join(warnings(found))
    result = found.results[0]
    share = result.correlations["share"]
    moved = replace(share, average=replace(share.average, value=share.average.high + 0.1))
    biased = replace(found, results=(replace(result, correlations={**result.correlations, "share": moved}),))
    assert "pearson of share: the value is outside its interval" in " ".join(warnings(biased))


@pytest.mark.parametrize("average", [None, "groups"])
def test_inputs_that_are_no_part_of_a_correlation_are_counted(average):
    judgments = rated(20, groups=("a", "b"))
    alone = replace(judgments, rows=judgments.rows[:-2])  # the last input keeps one text
    found = meta_evaluate(scored(alone, {}), ("pearson",), Choices("input", average, resamples=20))
    assert "pearson of length (letters): the mean of 19 inputs; 1 left out" in " ".join(warnings(found))


def test_the_material_counts_everything():
    table = scored(rated(30, groups=("a", "b")), {"share": Share()})
    said = " ".join(material(meta_evaluate(table, ("spearman",), FEW)))
    assert "90 judged texts of 30 inputs by 3 systems" in said
    assert "texts undefined: it has one word" in said
    assert "The rows of 2 groups are pooled" in said


def test_judges_of_few_inputs_have_no_interval():
    found = meta_evaluate(scored(rated(12), {"share": Share()}), ("pearson",), FEW)
    for agreement in (found.alpha, found.results[0].ceiling):
        assert np.isnan(agreement.low)
        assert agreement.reason.startswith("no interval: 12 inputs")
    assert any(line.startswith("Alpha of the judges: no interval: 12 inputs") for line in warnings(found))


def test_one_is_not_several_and_without_a_test_length_is_not_tested():
    one = scored(rated(1, systems=1), {"share": Share()})
    assert material(meta_evaluate(one, ("pearson",), FEW))[0].startswith("1 judged text of 1 input by 1 system;")
    few = with_metric(scored(rated(5), {}), np.arange(15))
    human = few.scores("share") + few.scores("length (letters)")
    said = " ".join(findings(meta_evaluate(replace(few, human=human), ("pearson",), FEW)))
    assert "not tested" in said


def test_an_unknown_length_is_refused():
    with pytest.raises(UserError, match="length='l' is unknown; use a list of letters"):
        scored(rated(3), {}, length="letters")  # type: ignore[arg-type]
