"""Tables of a comparison that are made of training logs."""

import comparisons

from rlsum.compare.report.own_reward import verdict_table
from rlsum.compare.results import gather


def test_in_the_table_of_verdicts_bold_is_a_verdict_and_no_gain(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {"rouge-l": 0.2})
    table = verdict_table(gather(folder, cells, "beam"))
    marked = {(row[0].text, cell.text) for row in table.rows for cell in row if cell.mark}
    assert marked == {("rouge-l", "better")}
