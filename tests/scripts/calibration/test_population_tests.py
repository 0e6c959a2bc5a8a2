from pathlib import Path

import numpy as np
import pytest
from calibration.population_tests import WORLDS, Cell, estimates, read, summary

from rlsum.evaluation.population import estimate, estimated_difference
from rlsum.evaluation.rows import paired_rows

FILE = Path(__file__).parents[3] / "docs" / "results" / "population.csv"


def test_what_is_printed_holds_its_level_in_the_measured_cells():
    for cell in read(FILE).values():
        for share, sets, test in ((cell.interval, cell.sets, False), (cell.test, cell.tested, True)):
            if cell.printed(test):
                error = np.sqrt(0.05 * 0.95 / sets)
                assert 0.04 - 3 * error <= share <= 0.06 + 3 * error, (cell, test)


def test_the_page_counts_the_cells():
    page = " ".join(FILE.with_name("calibration.md").read_text(encoding="utf-8").split())
    counts = next(line for line in summary(read(FILE)) if "figures" in line and not line.startswith("|"))
    assert counts.split(".")[0] in page


@pytest.mark.parametrize(
    ("random", "level", "statistic"),
    [
        *(("inputs", "system", "pearson"), ("inputs", "input", "spearman"), ("inputs", "pooled", "kendall")),
        *(("both", "input", "kendall"), ("both", "pooled", "pearson")),
    ],
)
def test_the_simulated_errors_are_the_librarys(random, level, statistic):
    cell = Cell(random, level, statistic, 0, 6, 40)
    scores = WORLDS[0].draw(1, 6, 40, np.random.default_rng(0))
    system, unit = np.divmod(np.arange(240), 40)
    rows = paired_rows(*(part.ravel() for part in scores), inputs=unit, systems=system)
    one, other = (estimate(side, statistic, level, random) for side in rows)
    difference = estimated_difference(*rows, statistic, level, random)
    wanted = [one.value, one.error, other.value, other.error, difference.error]
    assert estimates(scores, cell)[:, 0] == pytest.approx(wanted)
