"""Kendall's tau-b."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import kendalltau

from rlsum.evaluation.coefficients.spearman import Ranks
from rlsum.evaluation.coefficients.statistic import Engine, Fewest, Shares, Statistic, in_blocks, one_by_one, ratio
from rlsum.evaluation.rows import Floats, Ints, Rows
from rlsum.evaluation.statistics import row_blocks

LONG = 200  # above this length, sorting each sample is faster than comparing all its pairs
MOST = 8_000  # above this many rows, all pairs do not fit in memory and resamples are correlated one by one


def kendall(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b of ``x`` and ``y`` (..., n); (...)."""
    if x.shape[-1] > LONG:
        samples = zip(x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1]), strict=True)
        return np.array([kendalltau(*sample).statistic for sample in samples]).reshape(x.shape[:-1])
    dx, dy = _signs(x), _signs(y)
    pairs = (-2, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (dx * dy).sum(pairs) / np.sqrt((dx * dx).sum(pairs) * (dy * dy).sum(pairs))


def _pooled(rows: Rows) -> Engine:
    """Sums of concordance and of untied pairs between units, so that a resample is three quadratic forms."""
    if len(rows) > MOST:
        return one_by_one(rows, lambda x, y: kendalltau(x, y).statistic)
    members = csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows.unit)), shape=(len(rows), rows.units))
    forms = [np.zeros((rows.units, rows.units)) for _ in range(3)]
    start = 0
    for size in row_blocks(len(rows), len(rows)):
        block = slice(start, start + size)
        dx = np.sign(rows.human[block, None] - rows.human)
        dy = np.sign(rows.metric[block, None] - rows.metric)
        for form, product in zip(forms, (dx * dy, dx * dx, dy * dy), strict=True):
            form += members[block].T @ (product @ members)
        start += size

    def correlate(weights: Floats) -> Floats:
        both, x, y = (np.einsum("bu,bu->b", weights @ form, weights) for form in forms)
        return ratio(both, x, y)

    return in_blocks(correlate, len(rows))


def _shares(x: Floats, y: Floats) -> Shares:
    n = x.shape[-1]
    if n > LONG:
        samples = zip(x.reshape(-1, n), y.reshape(-1, n), strict=True)
        both = np.stack([_concordance(*pair) for pair in samples]).reshape(x.shape) / n
        across, down = (1 - (ranks.upto - ranks.below) / n for ranks in (Ranks(x), Ranks(y)))
        return both, across, down
    dx, dy = _signs(x), _signs(y)
    return (dx * dy).mean(-1), (dx * dx).mean(-1), (dy * dy).mean(-1)


def _signs(values: Floats) -> Floats:
    return np.sign(values[..., :, None] - values[..., None, :])


def _concordance(x: Floats, y: Floats) -> Floats:
    """Of each of n texts: with how many others it is concordant, less discordant; about n sqrt(n) steps."""
    n, x_ranks, y_ranks = len(x), Ranks(x), Ranks(y)
    side = max(1, round(np.sqrt(n)))  # texts of a block, in the order of x
    blocks, code = -(-n // side), y_ranks.below
    sorted_code = code[x_ranks.order]
    cells = (np.arange(n) // side + 1) * (n + 1) + sorted_code + 1
    table = np.bincount(cells, minlength=(blocks + 1) * (n + 1)).reshape(blocks + 1, n + 1)
    table = table.cumsum(0, dtype=np.int32).cumsum(1, dtype=np.int32)  # of the first blocks: texts with a lower y
    padded = np.append(sorted_code, np.zeros(blocks * side - n, dtype=np.int64)).reshape(blocks, side).T.copy()

    def lower_less_higher(first: Ints) -> Ints:
        """Among the ``first`` texts by x, how many have a lower y than each text, less those with a higher."""
        block, rest = np.divmod(first, side)
        total: Ints = table[block, code] + table[block, y_ranks.upto] - block * side
        block = np.minimum(block, blocks - 1)
        for step in range(side):
            total = total + np.sign(code - padded[step, block]) * (step < rest)
        return total

    below = lower_less_higher(x_ranks.below)
    tied = (x_ranks.upto - x_ranks.below).max() > 1
    upto = lower_less_higher(x_ranks.upto) if tied else below
    return (below + upto - (y_ranks.below + y_ranks.upto - n)).astype(np.float64)


def _esscher(tau: Floats, n: int) -> Floats:
    """Standard deviation of Kendall's tau of n normal pairs (Esscher 1924)."""
    rho = np.sin(np.pi / 2 * tau)
    pairs = 1 / 9 - 4 / np.pi**2 * np.arcsin(rho / 2) ** 2
    return np.sqrt(np.maximum(2 / (n * (n - 1)) * (1 - tau**2 + 2 * (n - 2) * pairs), 0))


KENDALL = Statistic(
    "kendall",
    kendall,
    {"pooled": _pooled},
    influence=(_shares, 2),
    sampling=(lambda values: values, _esscher),
    given={"input": Fewest(4, 4, 10, 10), "pooled": Fewest(1, 1, 30, 30)},
    new={"system": Fewest(12, 16), "input": Fewest(24, 0, 100, 100)},
    of_ranks=_pooled,
)
