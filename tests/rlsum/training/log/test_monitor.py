"""What the terminal and the log get of a run."""

import json
import math

from accelerate import Accelerator

from rlsum.training.log.monitor import METRICS, Monitor


def test_brackets_in_names_and_sentences_are_printed_as_they_are(tmp_path, capsys):
    """The command that continues a run must name its folder."""
    (tmp_path / "r[1]").mkdir()
    with Monitor(tmp_path / "r[1]", Accelerator(cpu=True), 0, 2) as monitor:
        monitor.say("continue with: rlsum train --resume 'runs/[bold]r[/bold]' data.columns=[a,b]")
        monitor.train(1, {"loss": 1.0})
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "continue with: rlsum train --resume 'runs/[bold]r[/bold]' data.columns=[a,b]"
    assert lines[1].startswith("r[1] 1/2")


def test_a_property_that_no_text_has_is_logged_and_not_printed(tmp_path, capsys):
    values = {"nll": math.nan, "length": 9.0, "invented-names": math.nan}
    with Monitor(tmp_path, Accelerator(cpu=True), 0, 2) as monitor:
        monitor.valid(1, values, best=False)
    assert capsys.readouterr().err == f"{tmp_path.name} 1/2 valid  nll nan  length 9\n"
    assert json.loads((tmp_path / METRICS).read_text())["invented-names"] is None
