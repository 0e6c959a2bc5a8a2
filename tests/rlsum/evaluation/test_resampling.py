"""The resampling of Deutsch et al. (2021): their package's own regression values, and their procedure, draw by draw."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr

from rlsum.evaluation.resampling import bootstrap, permutation
from rlsum.evaluation.rows import judged_rows, paired_rows

SCIPY = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}


def rows_of(human, *metrics):
    """Rows of grids (systems, inputs)."""
    system, unit = np.indices(np.shape(human)).reshape(2, -1)
    make = judged_rows if len(metrics) == 1 else paired_rows
    return make(np.ravel(human), *map(np.ravel, metrics), inputs=unit, systems=system)


def by_hand(x, z, level, coefficient):
    """A correlation of grids (systems, inputs), cell by cell."""
    if level == "system":
        return coefficient(x.mean(1), z.mean(1))[0]
    if level == "pooled":
        return coefficient(x.ravel(), z.ravel())[0]
    return np.mean([coefficient(x[:, j], z[:, j])[0] for j in range(x.shape[1])])


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


@pytest.mark.parametrize("random", ["inputs", "systems", "both"])
@pytest.mark.parametrize(("level", "statistic"), [("system", "kendall"), ("input", "spearman"), ("pooled", "pearson")])
def test_the_papers_procedure_on_realsumm(shared, random, level, statistic):
    """Both resamplings of real judgments agree with loops over scipy, to the error of so few draws."""
    from rlsum.judgments.registry import load

    rows = load(f"realsumm:{shared / 'data/human/realsumm/realsumm.jsonl.gz'}").rows
    inputs, systems = sorted({row.id for row in rows})[:6], sorted({row.system for row in rows})
    lengths = {(row.system, row.id): len(row.candidate.split()) for row in rows}
    people = {(row.system, row.id): row.scores["overall"] for row in rows}
    z, a = (np.array([[found[s, i] for i in inputs] for s in systems], dtype=float) for found in (people, lengths))
    a += np.random.default_rng(2).uniform(0, 0.1, a.shape)  # rounding decides ties of means of whole numbers
    b = np.array([[len(s) + len(row) for row in inputs] for s in systems]) + 0.3 * z + 0.01 * a
    draws, generator = 60, np.random.default_rng(1)
    (m, n), coefficient = z.shape, SCIPY[statistic]
    boot, swapped = [], []
    a_scaled, b_scaled = (a - a.mean()) / a.std(), (b - b.mean()) / b.std()
    for _ in range(draws):
        s = generator.integers(0, m, m) if random != "inputs" else np.arange(m)
        t = generator.integers(0, n, n) if random != "systems" else np.arange(n)
        boot.append(by_hand(z[s][:, t], a[s][:, t], level, coefficient))
        one, other = a_scaled.copy(), b_scaled.copy()
        for axis, size in ((0, m), (1, n)):
            if random in ("both", ("systems", "inputs")[axis]):
                chosen = np.flatnonzero(generator.random(size) > 0.5)
                where = (chosen, slice(None)) if axis == 0 else (slice(None), chosen)
                one[where], other[where] = other[where].copy(), one[where].copy()
        swapped.append(by_hand(z, one, level, coefficient) - by_hand(z, other, level, coefficient))
    ours = bootstrap(rows_of(z, a), statistic, level, random, 400)
    difference, swaps = permutation(*rows_of(z, a, b), statistic, level, random, 400)
    assert difference == pytest.approx(by_hand(z, a, level, coefficient) - by_hand(z, b, level, coefficient))
    for mine, theirs in ((ours, np.array(boot)), (swaps, np.array(swapped))):
        mine, theirs = mine[~np.isnan(mine)], theirs[~np.isnan(theirs)]
        error = np.hypot(mine.std() / np.sqrt(len(mine)), theirs.std() / np.sqrt(len(theirs)))
        assert abs(mine.mean() - theirs.mean()) < 4 * error + 1e-12
        assert 0.65 < mine.std() / theirs.std() < 1.5


def test_two_texts_of_a_system_and_input_are_refused():
    rows = judged_rows([1, 2, 3], [1, 2, 3], inputs=["x", "x", "y"], systems=["a", "a", "a"])
    with pytest.raises(ValueError, match="two texts of one input"):
        bootstrap(rows, "pearson", "pooled", "both", 10)
