import json
import os
from dataclasses import replace

import comparisons
import numpy as np
import pytest

from rewards.text.words import units
from rlsum.compare.report.cut import cut, cut_differences
from rlsum.compare.results import gather
from rlsum.records import read_outputs, write_outputs


@pytest.mark.parametrize(
    ("text", "tokens", "left"),
    [
        ("the jury agreed .", 2, "the jury"),
        ("the jury agreed .", 9, "the jury agreed ."),
        ("one\n two  three", 2, "one\n two"),
        ("", 3, ""),
        ("a", 0, ""),
        ("陪審団は合意した。", 2, "陪審"),
    ],
)
def test_the_first_tokens_are_left(text, tokens, left):
    assert cut(text, tokens) == left
    assert len(units(left)) <= tokens


def test_of_longer_summaries_the_first_words_are_scored(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {"rouge-l": 0.1}, seeds=(1, 2))
    results = longer_and_better(gather(folder, cells, "beam"))
    for cell in cells:
        (path,) = folder.outputs(cell).values()
        outputs = read_outputs(path)
        write_outputs(
            path,
            (
                replace(output, candidate=f"{output.references[0]} {'and so on ' * 9 if cell.kind == 'reward' else ''}")
                for output in outputs
            ),
        )
    found = cut_differences(folder, cells, results)
    base = results.base.metrics["rouge-l"]
    assert found["rouge-l"].mean == pytest.approx(1 - base.mean())  # what is left is the reference
    kept = json.loads(next((tmp_path / "cut").glob("*.json")).read_text())
    assert set(kept["metrics"]) == {"rouge-l"}
    for cell in cells:  # written again, with nothing of the references
        (path,) = folder.outputs(cell).values()
        if cell.kind == "reward":
            write_outputs(path, (replace(output, candidate="no word of it " * 9) for output in read_outputs(path)))
            os.utime(path, (1e9, 1e9))  # as of a file that was moved here
    assert cut_differences(folder, cells, results)["rouge-l"].mean == pytest.approx(-base.mean())
    other = replace(results, systems={name: each for name, each in results.systems.items() if name != "none"})
    assert other.base.name == "start"
    cut_differences(folder, cells, other)
    assert {path.name.split(".")[1] for path in (tmp_path / "cut").glob("rouge-l-*.json")} == {"to-none", "to-start"}


def longer_and_better(results):
    """The same with lengths of which one is nearly always longer."""
    lengths = {"reward": 30.0}
    systems = {
        name: replace(
            system,
            properties={"length": np.full_like(next(iter(system.metrics.values())), lengths.get(system.kind, 3.0))
                        + np.arange(len(results.ids)) % 3},
        )
        for name, system in results.systems.items()
    }  # fmt: skip
    return replace(results, systems=systems)
