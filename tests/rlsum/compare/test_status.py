"""What a comparison prints while it works."""

import io

import comparisons
from rich.console import Console

from rlsum.compare.folder import State
from rlsum.compare.status import Pace, table, watching


def test_the_last_cell_is_printed_however_soon_the_work_ends(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {}, seeds=(1,))
    last = folder.scores(cells[-1], "beam")
    content = last.read_text()
    last.unlink()
    text = io.StringIO()
    with watching(folder, cells, Console(file=text)) as watch:
        watch()
        last.write_text(content)
        watch()  # within two seconds
    assert f"{cells[-1].name}: done" in text.getvalue().splitlines()


def test_lines_say_how_far_a_training_is_what_is_left_and_where_its_log_is(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {}, seeds=(1,))
    cell = next(cell for cell in cells if cell.name == "rouge-l-1")
    folder.scores(cell, "beam").unlink()
    folder.outputs(cell)["beam"].unlink()
    run = tmp_path / "runs" / cell.name
    (run / "result.json").unlink()
    text = io.StringIO()
    with folder.lock(cell.name), watching(folder, cells, Console(file=text, width=300), {cell.name: 240.0}) as watch:
        watch()
    (line,) = [line for line in text.getvalue().splitlines() if line.startswith("rouge-l-1: training")]
    assert line == f"rouge-l-1: training (1 of 2 updates, 4 min left); log: {folder.log(cell)}"


def test_a_terminal_shows_every_cell_at_work_at_once(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {}, seeds=(1,))
    states = {cell.name: State("done") for cell in cells} | {
        "none-1": State("training", 0, 2400, busy=True),
        "rouge-l-1": State("failed", reason="exit code 1\nthe reason"),
    }
    console = Console(file=io.StringIO(), width=300)
    console.print(table(states, cells, folder, Pace({"none-1": 0.5})))
    shown = console.file.getvalue()
    assert "0 of 2,400 updates" in shown
    assert "20 min left" in shown
    assert "logs/none-1.log" in shown
    assert "the reason" in shown


def test_the_time_left_is_what_was_seen_once_something_was():
    pace = Pace({"a": 10.0})
    assert pace.left("a", State("training", 100, 200), 0.0) == "17 min left"
    assert pace.left("a", State("training", 150, 200), 50.0) == "50 s left"
    assert pace.left("b", State("training", 0, 200), 0.0) == ""
    assert pace.left("a", State("decoding", 200, 200), 60.0) == ""
