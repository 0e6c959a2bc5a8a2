"""Tables of a comparison that are made of training logs."""

from rlsum.compare.tables import costs
from rlsum.pages.table import UNDEFINED


def test_costs_are_those_of_the_log_and_rows_without_rewards_have_no_share():
    lines = [{"kind": "train", "step": step, "updates_per_second": 0.5, "tokens_per_second": 70} for step in (3, 6)]
    rewarded = [{**line, "reward_share": 0.25} for line in lines]
    table = costs({"continued likelihood": [lines], "rouge-l": [rewarded, rewarded]})
    assert table.header[-1] == "reward, % of the time"
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["continued likelihood", "6", "2.00", "0.2", "70", UNDEFINED],
        ["rouge-l", "6", "2.00", "0.2", "70", "25"],
    ]
