"""Whether a reward helped: a family of all rewards, and what was taken out of a comparison."""

import shutil

import comparisons
import pytest

from rlsum.compare.cells import cells_of
from rlsum.compare.folder import Folder
from rlsum.compare.report.findings import findings
from rlsum.compare.report.own_reward import verdict_table
from rlsum.compare.results import gather


@pytest.mark.parametrize("missing", ["taken out", "failed", "not trained"])
def test_a_verdict_is_one_of_all_rewards_that_are_trained_here(tmp_path, missing):
    """Otherwise whoever takes out the reward that did not help makes the others look better."""
    folder, cells = comparisons.finished(tmp_path, {"rouge-l": 0.01})

    def p_of(folder, cells):
        rows = verdict_table(gather(folder, cells, "beam")).rows
        return next(row[-1].detail for row in rows if row[0].text == "rouge-l")

    whole = p_of(folder, cells)
    if missing == "taken out":
        values = comparisons.values(tmp_path, seeds=[1, 2, 3], rewards={"rouge-l": {"reward": "rouge-l", "scale": 5}})
        folder = Folder(comparisons.configs.check(values, "test"))
        cells = cells_of(folder.comparison)
        said = "\n".join(findings(gather(folder, cells, "beam")))
        assert "left out of this comparison, but for its corrections: rouge-2 (seed 1, 2 and 3)." in said
    else:
        for cell in cells:
            if cell.system == "rouge-2" and cell.seed > (1 if missing == "failed" else 0):
                folder.scores(cell, "beam").unlink()
                shutil.rmtree(str(cell.model))
    assert p_of(folder, cells) == whole


def test_a_seed_that_was_taken_out_is_named(tmp_path):
    comparisons.finished(tmp_path, {})
    folder = Folder(comparisons.comparison(tmp_path, seeds=(1, 3)))
    said = "\n".join(findings(gather(folder, cells_of(folder.comparison), "beam")))
    systems = "none, rouge-2, rouge-l, rouge-l.constant, rouge-l.shuffled and start"
    assert f"Trained in this folder and left out of this comparison: {systems} (seed 2)." in said
