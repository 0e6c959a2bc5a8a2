"""Tables of a comparison that are made of training logs."""

import json
from pathlib import Path

import comparisons

from rlsum.compare.cells import cells_of
from rlsum.compare.tables import costs
from rlsum.pages.table import UNDEFINED
from rlsum.training.monitor import METRICS


def test_costs_are_those_of_the_log_and_rows_without_rewards_have_no_share(tmp_path):
    given = comparisons.comparison(tmp_path)
    cells = [cell for cell in cells_of(given) if cell.name in ("none-1", "rouge-l-1")]
    shares = {"none-1": {}, "rouge-l-1": {"reward_share": 0.25}}
    for cell in cells:
        lines = [{"kind": "train", "step": step, "updates_per_second": 0.5, "tokens_per_second": 70} for step in (3, 6)]
        path = Path(cell.model) / METRICS
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps({**line, **shares[cell.name]}) + "\n" for line in lines))
    table = costs(None, cells)
    assert table.header[-1] == "reward, % of the time"
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["continued likelihood", "6", "2.00", "0.2", "70", UNDEFINED],
        ["rouge-l", "6", "2.00", "0.2", "70", "25"],
    ]
