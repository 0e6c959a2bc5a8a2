"""The resampling of Deutsch et al. (2021): their package's own regression values, and its draws on REALSumm."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from calibration.resampling import bootstrap, permutation

from rlsum.evaluation.rows import judged_rows, paired_rows


def rows_of(human, *metrics):
    """Rows of grids (systems, inputs)."""
    system, unit = np.indices(np.shape(human)).reshape(2, -1)
    make = judged_rows if len(metrics) == 1 else paired_rows
    return make(np.ravel(human), *map(np.ravel, metrics), inputs=unit, systems=system)


@pytest.mark.parametrize(
    ("random", "low", "high"),
    [("systems", -0.8660254, 0.3973597), ("inputs", -0.9449112, 0.0), ("both", -1.0, 1.0)],
)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_intervals_of_the_published_package(random, low, high):
    """The values that the tests of nlpstats hold for pooled ("global") Pearson; 9,999 resamples of its generator."""
    x, z = [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[5, 2, 7], [1, 7, 3], [4, 2, 2]]
    values = bootstrap(rows_of(x, z), "pearson", "pooled", random, 9_999)
    assert np.nanquantile(values, [0.025, 0.975]) == pytest.approx([low, high], abs=0.005)


# Of nlpstats 0.0.1 on REALSumm, numpy's seed 0: draws, mean and spread of the bootstrap, its 95% interval, spread of
# the differences of swapped metrics. Metrics: the logarithm of 1 + words, the share of distinct words.
PUBLISHED = {
    ("system", "pearson", "inputs"): (1000, 0.6356, 0.0603, 0.502, 0.736, 0.3227),
    ("system", "pearson", "systems"): (1000, 0.6635, 0.0925, 0.458, 0.819, 0.3876),
    ("system", "pearson", "both"): (1000, 0.6313, 0.1199, 0.349, 0.822, 0.1572),
    ("system", "kendall", "inputs"): (1000, 0.4913, 0.0575, 0.370, 0.587, 0.2710),
    ("system", "kendall", "systems"): (1000, 0.5270, 0.1077, 0.288, 0.719, 0.2784),
    ("system", "kendall", "both"): (1000, 0.4913, 0.1268, 0.223, 0.723, 0.1237),
    ("pooled", "spearman", "inputs"): (300, 0.2990, 0.0302, 0.243, 0.357, 0.0729),
    ("pooled", "spearman", "systems"): (300, 0.2949, 0.0322, 0.235, 0.357, 0.1080),
    ("pooled", "spearman", "both"): (300, 0.2958, 0.0456, 0.208, 0.385, 0.0368),
}


@pytest.fixture(scope="module")
def realsumm():
    """People and two metrics, each a grid (systems, inputs)."""
    from rlsum.judgments.registry import load

    path = Path(os.environ.get("RLSUM_SHARED", "shared")) / "data/human/realsumm/realsumm.jsonl.gz"
    if not path.exists():
        pytest.skip("no shared data")
    rows = load(f"realsumm:{path}").rows
    inputs, systems = sorted({row.id for row in rows}), sorted({row.system for row in rows})
    people, words, distinct = np.zeros((3, len(systems), len(inputs)))
    for row in rows:
        at, tokens = (systems.index(row.system), inputs.index(row.id)), row.candidate.split()
        people[at], words[at] = row.scores["overall"], np.log(1 + len(tokens))
        distinct[at] = len(set(tokens)) / max(len(tokens), 1)
    return people, words, distinct


@pytest.mark.parametrize("case", PUBLISHED, ids=" ".join)
def test_the_published_package_on_realsumm(realsumm, case):
    """Both resamplings agree with the authors' package to Monte Carlo error, 4 standard errors."""
    level, statistic, random = case
    draws, mean, spread, low, high, swapped = PUBLISHED[case]
    people, words, distinct = realsumm
    own = 400
    error = np.sqrt(1 / draws + 1 / own)
    values = bootstrap(rows_of(people, words), statistic, level, random, own)
    assert values.mean() == pytest.approx(mean, abs=4 * spread * error)
    assert values.std() == pytest.approx(spread, rel=4 * error / np.sqrt(2) + 0.05)
    # A 2.5% quantile of normal draws has 2.7 times the standard error of their mean.
    assert np.quantile(values, [0.025, 0.975]) == pytest.approx([low, high], abs=4 * 2.7 * spread * error)
    _, swaps = permutation(*rows_of(people, words, distinct), statistic, level, random, own)
    assert swaps.std() == pytest.approx(swapped, rel=4 * error / np.sqrt(2) + 0.05)


def test_the_command_finds_its_parts():
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", "import scripts.calibration.resampling"], cwd=root, check=True)


def test_two_texts_of_a_system_and_input_are_refused():
    rows = judged_rows([1, 2, 3], [1, 2, 3], inputs=["x", "x", "y"], systems=["a", "a", "a"])
    with pytest.raises(ValueError, match="two texts of one input"):
        bootstrap(rows, "pearson", "pooled", "both", 10)
