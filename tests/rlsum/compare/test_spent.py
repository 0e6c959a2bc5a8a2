from rlsum.compare.spent import spent_table
from rlsum.pages.table import UNDEFINED


def test_times_are_those_of_the_log_and_rows_without_rewards_have_no_share():
    lines = [{"kind": "train", "step": step, "updates_per_second": 0.5, "tokens_per_second": 70} for step in (3, 6)]
    rewarded = [{**line, "reward_share": 0.25} for line in lines]
    runs = {"continued likelihood": [lines], "rouge-l": [rewarded, rewarded], "sms": [[]]}  # the last has not begun
    table = spent_table(runs, {"rouge-l": [4, 0]})
    assert table.header[-1] == "reward, % of the time"
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["continued likelihood", UNDEFINED, "6", "2.00", "0.2", "70", UNDEFINED],
        ["rouge-l", "4, 0", "6", "2.00", "0.2", "70", "25"],
        ["sms", UNDEFINED, "0", *[UNDEFINED] * 4],
    ]


def test_what_is_said_of_a_second_is_a_mean_over_seconds():
    """Of 10 updates in 100 s with 10 tokens each, and of 10 in 10 s with 100."""
    slow, fast = (
        {"kind": "train", "step": step, "updates_per_second": rate, "tokens_per_second": tokens, "reward_share": share}
        for step, rate, tokens, share in ((10, 0.1, 10.0, 0.9), (20, 1.0, 100.0, 0.0))
    )
    (row,) = spent_table({"rouge-l": [[slow, fast]]}, {}).rows
    assert [cell.text for cell in row[2:]] == ["20", "5.50", "1.8", "18", "82"]
