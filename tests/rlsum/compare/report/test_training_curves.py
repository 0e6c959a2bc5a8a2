import io
import json

import numpy as np
import pytest
from PIL import Image

from rlsum.compare.folder import read_metrics
from rlsum.compare.report.training_curves import draw_runs, line, series
from rlsum.errors import RecordError
from rlsum.pages.pictures.curves import look, smoothed

ROWS = [
    {"step": 10, "kind": "train", "loss": 2.0, "nll": 2.0},
    {"step": 20, "kind": "train", "nll": float("nan"), "reward": 0.3, "baseline_reward": 0.2},
    {"step": 20, "kind": "valid", "nll": 1.5, "rouge-l": 0.4, "length": 20},
    {"step": 30, "kind": "train", "nll": 1.0, "reward": None},
]


def test_series_leaves_out_what_is_missing_or_not_finite():
    steps, values = series(ROWS, "train", "nll")
    assert (steps.tolist(), values.tolist()) == ([10, 30], [2.0, 1.0])
    assert series(ROWS, "train", "reward")[1].tolist() == [0.3]
    assert series(ROWS, "valid", "nowhere")[0].size == 0


def test_seeds_are_one_line_in_a_band_where_all_of_them_logged():
    seeds = [[{"step": step, "kind": "valid", "nll": value} for step, value in run] for run in (
        [(0, 1.0), (5, 2.0), (10, 4.0)], [(0, 3.0), (10, 8.0)])]  # fmt: skip
    steps, mean, (low, high) = line(seeds, "valid", "nll", 10)
    assert (steps.tolist(), mean.tolist()) == ([0, 10], [20, 60])
    assert (low.tolist(), high.tolist()) == ([10, 40], [30, 80])
    assert line(seeds[:1], "valid", "nll")[2] is None


def test_smoothing_by_hand():
    np.testing.assert_allclose(smoothed(np.array([0.0, 3.0, 6.0, 0.0]), 3), [1.5, 3, 3, 3])
    np.testing.assert_allclose(smoothed(np.array([1.0, 2.0]), 1), [1, 2])


def test_metrics_of_a_killed_run_are_read_to_the_last_whole_line(tmp_path):
    lines = [json.dumps(row) for row in ROWS]
    (tmp_path / "metrics.jsonl").write_text("\n".join([*lines, '{"step": 4']))
    assert len(read_metrics(tmp_path)) == len(ROWS)


def test_other_broken_lines_and_missing_files_are_errors(tmp_path):
    with pytest.raises(RecordError, match="cannot be read"):
        read_metrics(tmp_path)
    (tmp_path / "metrics.jsonl").write_text('{"step"\n{"step": 1}\n')
    with pytest.raises(RecordError, match=r"metrics\.jsonl:1: not JSON"):
        read_metrics(tmp_path)


def test_pictures_are_drawn_light_and_dark_from_whatever_was_logged():
    pictures = {picture.name: picture for picture in draw_runs({"rl <1>": [ROWS], "empty": [[]]}, ["rouge-l", "sms"])}
    assert list(pictures) == ["learning-curves", "validation", "reward"]
    light, dark = (Image.open(io.BytesIO(content)) for content in (pictures["reward"].light, pictures["reward"].dark))
    assert light.size == dark.size
    assert light.convert("L").getpixel((0, 0)) > 240
    assert dark.convert("L").getpixel((0, 0)) < 60
    # Two panels have data in validation, of nll, rouge-l, sms, length and repetition: rouge-l and length.
    assert pictures["validation"].width == 2 * pictures["reward"].width


def test_the_reward_is_drawn_in_the_colours_of_its_legend_and_greedy_summaries_only_where_they_are_scored(monkeypatch):
    drawn = {}
    monkeypatch.setattr("rlsum.compare.report.training_curves.picture", lambda name, *of: drawn.update({name: of}))
    without = [{key: value for key, value in row.items() if key != "baseline_reward"} for row in ROWS]
    draw_runs({"rloo": [without], "dr-grpo": [without]}, [])
    _, description, panels = drawn["reward"]
    assert "greedy" not in description
    assert {(curve.label, curve.colour) for panel in panels for curve in panel.curves} == {("samples", look(0)[0])}
    draw_runs({"rloo": [without], "self-critical": [ROWS]}, [])
    _, description, panels = drawn["reward"]
    assert "greedy" in description
    assert [len(panel.curves) for panel in panels] == [1, 2]
    assert len({(curve.label, curve.colour) for panel in panels for curve in panel.curves}) == 2


def test_components_of_a_weighted_metric_have_panels_behind_it(monkeypatch):
    drawn = {}
    monkeypatch.setattr("rlsum.compare.report.training_curves.picture", lambda name, *of: drawn.update({name: of}))
    valid = {"step": 0, "kind": "valid", "weighted/length": 2.0, "weighted/sms": 0.5, "weighted": 0.9, "sms": 0.5}
    draw_runs({"a": [[valid]], "b": [ROWS]}, ["weighted", "sms"])
    _, _, panels = drawn["validation"]
    titles = ["weighted", "weighted/length", "weighted/sms", "sms", "length, tokens"]
    assert [panel.title for panel in panels] == titles
    assert panels[1].curves[0].values.tolist() == [2.0]


def test_pictures_are_the_same_every_time():
    assert draw_runs({"a": [ROWS]}, ["rouge-l"]) == draw_runs({"a": [ROWS]}, ["rouge-l"])


def test_runs_that_logged_nothing_have_no_pictures():
    assert draw_runs({"a": [[]], "b": [[{"step": 1, "kind": "train"}]]}, ["rouge-l"]) == []


def test_fourteen_lines_look_different():
    assert len({look(number) for number in range(14)}) == 14
