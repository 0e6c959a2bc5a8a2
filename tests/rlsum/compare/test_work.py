"""Work on cells: by commands that run in this process, and by real ones that are killed and share a folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import comparisons
import language_models
import numpy as np
import pretrained
import pytest
import yaml
from comparisons import prepared
from typer.testing import CliRunner

from rlsum.cli.app import app
from rlsum.compare.results import gather
from rlsum.compare.running import compare
from rlsum.compare.scoring import read_scores, stamp
from rlsum.compare.work import CellFailed, CommandStopped, Work, failure
from rlsum.records import Output, read_outputs, write_outputs

pytestmark = pytest.mark.usefixtures("own_module_cache")


class InProcess(Work):
    """Runs the commands of cells in this process."""

    def _command(self, cell, command, lock):
        result = CliRunner().invoke(app, list(command))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise CellFailed(str(result.exception))
        assert result.exit_code == 0, result.output


def test_from_nothing_to_scores_with_the_advantage_of_the_constant_control_measured(tmp_path):
    folder, cells = prepared(tmp_path, rewards={"rouge-l": "rouge-l"})
    assert InProcess(folder, cells, cells, 1).run() == {}
    assert {folder.state(cell).stage for cell in cells} == {"done"}
    results = gather(folder, cells, "beam")
    assert set(results.systems) == {
        "start", "none", "rouge-l", "rouge-l.shuffled", "rouge-l.constant", "lead-3", "oracle",
    }  # fmt: skip
    assert results.systems["rouge-l"].metrics["rouge-l"].shape == (1, comparisons.ARTICLES)
    rows = map(json.loads, (tmp_path / "runs" / "rouge-l-1" / "metrics.jsonl").read_text().splitlines())
    advantage = np.mean([row["advantage_mean"] for row in rows if "advantage_mean" in row])
    written = yaml.safe_load((tmp_path / "configs" / "rouge-l.constant-1.yaml").read_text())
    assert written["objective"]["control_advantage"] == pytest.approx(advantage)
    assert read_outputs(folder.outputs(cells[0])["beam"])[0].system == "start"


def test_the_mean_advantage_is_over_updates_whatever_lines_they_are_logged_in(tmp_path):
    folder, cells = prepared(tmp_path, rewards={"rouge-l": "rouge-l"})
    constant = next(cell for cell in cells if cell.constant)
    run = tmp_path / "runs" / "rouge-l-1"
    run.mkdir(parents=True)
    lines = [{"kind": "valid", "step": 0}, {"kind": "train", "step": 3, "advantage_mean": 0.1}]
    lines += [{"kind": "train", "step": 4, "advantage_mean": 0.5}, {"kind": "train", "step": 9}]  # no gamma, no samples
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert InProcess(folder, cells, cells, 1)._mean_advantage(constant) == pytest.approx(0.2)


def test_a_cell_that_fails_keeps_its_reason_and_stops_only_what_needs_it(tmp_path):
    folder, cells = prepared(tmp_path, controls=["constant"])
    failed = {}

    class Failing(InProcess):
        def _command(self, cell, command, lock):
            if cell.name == "rouge-l-1" and not failed.get("mended"):
                raise CellFailed("loss is nan in update 1")
            comparisons.finish(folder, cell, {name: np.zeros(3) for name in folder.comparison.specs})

    assert set(Failing(folder, cells, cells, 2).run()) == {"rouge-l-1", "rouge-l.constant-1"}
    assert folder.failure(cells[1]).read_text() == "loss is nan in update 1\n"
    results = gather(folder, cells, "beam")
    assert results.failed["rouge-l-1"] == "loss is nan in update 1"
    assert "rouge-2" in results.systems
    failed["mended"] = True
    assert set(Failing(folder, cells, cells, 2).run()) == {"rouge-l-1", "rouge-l.constant-1"}  # not by itself
    assert Failing(folder, cells, cells, 2, retry=True).run() == {}


def flat(candidates):
    return [0.0] * len(candidates)


def test_a_cell_whose_reward_trained_nothing_has_failed_also_when_it_is_tried_again(tmp_path):
    folder, cells = prepared(tmp_path, rewards={"flat": f"{__name__}:flat"}, controls=[])
    (cell,) = (cell for cell in cells if cell.system == "flat")
    for retry in (False, True):
        failed = InProcess(folder, cells, cells, 1, retry=retry).run()
        assert failed.keys() == {cell.name}
        assert "the reward trained nothing in 2 updates" in failed[cell.name]
        assert "the reward trained nothing in 2 updates" in folder.state(cell).reason
        assert not folder.trained(cell)


def test_a_metric_that_cannot_score_keeps_its_reason_until_it_is_tried_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "own_metric.py"
    module.write_text("def own(candidates):\n    raise OSError('no model here')\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    folder, cells = prepared(tmp_path / "f", rewards={"rouge-l": "rouge-l"}, controls=[], metrics=["own_metric:own"])
    outputs = [cell for cell in cells if cell.kind == "outputs"]
    assert Work(folder, cells, outputs, 1).run() == {}
    results = gather(folder, outputs, "beam")
    assert all("no model here" in why for why in results.missing.values())
    assert results.metrics == ["rouge-l"]
    module.write_text("def own(candidates):\n    return [1.0] * len(candidates)\n")
    assert Work(folder, cells, outputs, 1).run() == {}
    assert gather(folder, outputs, "beam").missing
    assert Work(folder, cells, outputs, 1, retry=True).run() == {}
    assert gather(folder, outputs, "beam").metrics == ["rouge-l", "own_metric:own"]


def test_what_was_killed_here_and_finished_by_another_process_has_not_failed(tmp_path):
    folder, cells = prepared(tmp_path, controls=[])

    class Killed(InProcess):
        def _command(self, cell, command, lock):
            comparisons.finish(folder, cell, {name: np.zeros(3) for name in folder.comparison.specs})
            if cell.name == "rouge-l-1":
                raise CommandStopped("killed by signal 9; start the comparison again")

    assert Killed(folder, cells, cells, 1).run() == {}


def test_a_scoring_that_is_killed_costs_its_cell_alone_and_is_not_remembered(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "deadly_metric.py"
    module.write_text(
        "import os, pathlib\n"
        "def deadly(candidates):\n"
        f"    mark = pathlib.Path({str(tmp_path / 'mark')!r})\n"
        "    if not mark.exists():\n"
        "        mark.touch()\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return [1.0] * len(candidates)\n"
    )
    folder, cells = prepared(tmp_path / "f", rewards={"rouge-l": "rouge-l"}, metrics=["deadly_metric:deadly"])
    outputs = [cell for cell in cells if cell.kind == "outputs"]
    failed = Work(folder, cells, outputs, 1).run()
    assert {name: "killed" in why for name, why in failed.items()} == {outputs[0].name: True}
    assert Work(folder, cells, outputs, 1).run() == {}


def test_scores_of_other_texts_are_replaced_and_never_removed(tmp_path, monkeypatch):
    """The display of this process, or another process, reads them at any moment."""
    monkeypatch.syspath_prepend(tmp_path)
    outputs, scores, seen = (tmp_path / name for name in ("lead.jsonl", "f/scores/lead.beam.json", "seen.txt"))
    (tmp_path / "looking_metric.py").write_text(
        "from pathlib import Path\n"
        "def looks(candidates, references):\n"
        f"    Path({str(seen)!r}).write_text(str(Path({str(scores)!r}).exists()))\n"
        "    return [float(len(candidate)) for candidate in candidates]\n"
    )
    metric = "looking_metric:looks"
    folder, cells = prepared(tmp_path / "f", metrics=[metric], outputs={"lead": str(outputs)})
    lead = [cell for cell in cells if cell.name == "lead"]
    for text, before in (("linda paid", "False"), ("linda slept well", "True")):
        write_outputs(outputs, [Output("1", "", ("linda paid",), text, "lead")])
        assert Work(folder, cells, lead, 1).run() == {}
        assert seen.read_text() == before
        assert read_scores(scores).metrics[metric] == [len(text)]


def test_outputs_that_are_added_are_scored_for_the_report_alone_and_of_other_articles_are_no_row(tmp_path):
    folder, _ = comparisons.finished(tmp_path, {}, articles=5, seeds=(1,))
    text, outputs = (folder.path / "outputs" / "start-1.beam.jsonl").read_text(), tmp_path / "lead.jsonl"
    outputs.write_text(text.replace('"test-', '"other-'))
    added = comparisons.comparison(tmp_path, seeds=(1,), outputs={"lead": str(outputs)})
    compare(added, jobs=1, report_only=True)
    report = (tmp_path / "report" / "report.md").read_text()
    assert "its file has 0 of the 5 test articles" in report
    assert "5 test articles, one seed" in report
    outputs.write_text(text.replace("start", "lead"))
    assert compare(added, jobs=1, report_only=True).failed == {}
    report = (tmp_path / "report" / "report.md").read_text()
    assert "| lead |" in report
    assert "not finished" not in report
    known = folder.path / "scores" / "lead.beam.json"
    before = known.read_text()
    outputs.write_text(outputs.read_text().replace('"candidate": "', '"candidate": "something else '))
    assert compare(added, jobs=1, report_only=True).failed == {}
    assert known.read_text() != before, "a file that has changed is scored again"
    outputs.write_text(2 * text)
    assert compare(added, jobs=1, report_only=True).failed.keys() == {"lead"}
    report = (tmp_path / "report" / "report.md").read_text()
    assert "2 outputs with id 'test-0'" in report, "and no scores of the texts before"
    assert "| lead |" not in report.partition("Cells without")[0]
    missing = comparisons.comparison(tmp_path, seeds=(1,), outputs={"other": str(tmp_path / "none.jsonl")})
    assert compare(missing, jobs=1, report_only=True).failed == {}
    assert "not finished: waiting" in (tmp_path / "report" / "report.md").read_text()


def test_summaries_of_a_training_that_were_edited_are_scored_again(tmp_path, caplog):
    """Of four words in another order: scores by place would be those of other articles."""
    folder, cells = comparisons.finished(tmp_path, {}, articles=4, seeds=(1,))
    cell, given = cells[0], folder.comparison
    path = folder.outputs(cell)["beam"]
    texts = ["ash fell", "ash", "fell", "no word"]
    lines = [{"id": f"test-{n}", "candidate": text, "references": ["ash fell"]} for n, text in enumerate(texts)]
    path.write_text("\n".join(map(json.dumps, reversed(lines))))
    later = path.stat().st_mtime + 60
    os.utime(path, (later, later))
    compare(given, jobs=1, report_only=True)
    assert f"summaries changed after scores were made: {cell.name}" in caplog.text
    assert InProcess(folder, cells, [cell], 1).run() == {}
    scores = read_scores(folder.scores(cell, "beam"))
    assert dict(zip(scores.ids, scores.metrics["rouge-l"], strict=True)) == pytest.approx(
        {"test-0": 1, "test-1": 2 / 3, "test-2": 2 / 3, "test-3": 0}
    )
    os.utime(path, (later + 60, later + 60))  # as in a copy: the same texts
    assert folder.state(cell).stage == "done"


def test_a_metric_whose_file_changed_scores_again(tmp_path, caplog, monkeypatch):
    """Its spec is the same; the scores must not stay under the signature of before."""
    monkeypatch.syspath_prepend(tmp_path)
    module = tmp_path / "counting.py"
    module.write_text("def words(candidates):\n    return [len(text.split()) for text in candidates]\n")
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("ash 1 0\nfell 0 1\n")
    metrics = ("counting:words", f"sms(vectors={vectors})")
    folder, cells = comparisons.finished(tmp_path, {}, articles=2, seeds=(1,), metrics=metrics)
    cell = cells[0]
    assert InProcess(folder, cells, [cell], 1).run() == {}
    path = folder.scores(cell, "beam")
    before = read_scores(path)
    os.utime(vectors, (0, 0))  # as in a copy: the same vectors
    assert InProcess(folder, cells, [cell], 1).run() == {}
    assert read_scores(path).signatures == before.signatures
    module.write_text("def words(candidates):\n    return [-1.0 for text in candidates]\n")
    compare(folder.comparison, jobs=1, report_only=True)
    assert "metrics came, or their files are others, after scores were made: counting:words" in caplog.text
    more = comparisons.comparison(tmp_path, seeds=(1,), metrics=(*metrics, "rouge-3"))
    compare(more, jobs=1, report_only=True)
    assert "scores were made: counting:words, rouge-3 and sms; " in caplog.text
    vectors.unlink()
    assert Work(folder, cells, [cell], 1).run() == {}
    scores = read_scores(path)
    assert list(scores.metrics["counting:words"]) == [-1.0, -1.0]
    assert scores.signatures["counting:words"] != before.signatures["counting:words"]
    kept = next(name for name in before.metrics if name.startswith("sms"))
    assert list(scores.metrics[kept]) == list(before.metrics[kept]), "what is gone cannot score again"


def test_the_stamp_of_a_metric_sees_files_of_any_name_and_is_none_of_a_prompt(tmp_path):
    file = tmp_path / "vectors (1), a=b.txt"
    file.write_text("ash 1 0\n")
    before = stamp({"name": "sms", "vectors": str(file)})
    file.write_text("ash 1 0\nfell 0 1\n")
    assert before
    assert stamp({"name": "sms", "vectors": str(file)}) not in ("", before)
    assert stamp({"name": "judge", "prompt": f"Rate this: {'how good is it? ' * 99}{{candidate}}"}) == ""


def test_outputs_that_are_missing_are_a_reason(tmp_path):
    folder, cells = prepared(tmp_path, outputs={"see2017": str(tmp_path / "none.jsonl")})
    given = [cell for cell in cells if cell.system == "see2017"]
    assert "no such file" in Work(folder, cells, given, 1).run()["see2017"]


def test_only_a_fault_of_the_cell_is_remembered():
    said = failure(["train", "x.yaml"], 2, "rlsum: loss is nan\n  in update 3\n")
    assert isinstance(said, CellFailed)
    assert str(said).endswith("rlsum: loss is nan\n  in update 3")
    assert isinstance(failure(["train", "x.yaml"], -9, ""), CommandStopped)
    assert isinstance(failure(["train", "x.yaml"], os.EX_TEMPFAIL, ""), CommandStopped)


def test_sigterm_ends_the_running_commands_as_ctrl_c_does(tmp_path):
    class Sleeping(Work):
        def _command(self, cell, command, lock):
            with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
                self._running.add(process)
                ended.append(process.wait())
            raise CommandStopped("it was asked to stop")

    def watch():
        if work._running:
            os.kill(os.getpid(), signal.SIGTERM)

    ended, before = [], signal.getsignal(signal.SIGTERM)
    folder, cells = prepared(tmp_path)
    work = Sleeping(folder, cells, cells, 1)
    with pytest.raises(KeyboardInterrupt):
        work.run(watch)
    assert ended == [-signal.SIGTERM]
    assert not folder.failure(cells[0]).exists()
    assert signal.getsignal(signal.SIGTERM) is before


# ---- processes ------------------------------------------------------------------------------------------------------


def begun(config: Path, *options: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "rlsum", "compare", str(config), *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True)


def written(path: Path, **changes) -> Path:
    config = path / "compare.yaml"
    small = {"seeds": [1], "controls": ["none"], "rewards": {"rouge-l": "rouge-l"}, "metrics": [], **changes}
    config.write_text(yaml.safe_dump(comparisons.values(path / "folder", **small)))
    return config


def wait_for(path: Path, process: subprocess.Popen) -> None:
    for _ in range(6000):
        if path.exists():
            return
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.1)
    raise AssertionError(f"{path} did not come")


def pretrained_start(folder: Path, kind: str) -> dict:
    start = comparisons.values(folder)["start"]
    del start["vocabulary"]
    model = pretrained.save(folder, "bart") if kind == "seq2seq" else language_models.save(folder, "llama")
    start["model"] = {"kind": kind, "pretrained": str(model)}
    return {"start": start, "data": {"max_source": 20, "max_target": 12}}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pointer-generator", "seq2seq", "causal"])
def test_killed_and_started_again_it_ends_as_if_it_had_never_stopped(tmp_path, kind):
    changes = {} if kind == "pointer-generator" else pretrained_start(tmp_path / "model", kind)
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    once, killed = written(tmp_path / "one", **changes), written(tmp_path / "two", **changes)
    with begun(once) as process:
        process.communicate()
    folder, whole = tmp_path / "two" / "folder", tmp_path / "one" / "folder"
    for moment, kill in (  # the comparison alone: its command lives on and keeps the lock of its cell; or all
        ("runs/start-1/best/rewards.json", os.killpg),
        ("runs/start-1/metrics.jsonl", os.kill),
        ("runs/rouge-l-1/state.safetensors", os.killpg),
        ("scores/start-1.beam.json", os.kill),
        ("report/index.html", os.killpg),
    ):
        with begun(killed) as process:
            wait_for(folder / moment, process)
            kill(process.pid, signal.SIGKILL)
    with begun(killed) as process:
        printed, _ = process.communicate()
    assert process.returncode == 0, printed
    made = [path for name in ("outputs/*", "scores/*", "runs/*/best/*.safetensors") for path in whole.glob(name)]
    assert len(made) > 3 * 3
    for path in made:
        assert path.read_bytes() == (folder / path.relative_to(whole)).read_bytes(), path
    assert (folder / "report" / "index.html").exists()


@pytest.mark.slow
def test_two_comparisons_on_one_folder_share_the_cells(tmp_path):
    config = written(tmp_path, seeds=[1, 2])
    both = [begun(config, "--jobs", "1") for _ in range(2)]
    printed = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], printed
    logs = {path.name: path.read_text().count("$ rlsum train") for path in (tmp_path / "folder" / "logs").iterdir()}
    assert set(logs.values()) == {1}
    assert len(logs) == 6


@pytest.mark.slow
def test_tasks_of_an_array_and_then_the_report(tmp_path):
    config = written(tmp_path, controls=[])
    listed = subprocess.run(
        [sys.executable, "-m", "rlsum", "compare", str(config), "--tasks"], capture_output=True, text=True, check=True
    )
    tasks = dict(line.split("\t") for line in listed.stdout.splitlines())
    number = next(number for number, name in tasks.items() if name == "rouge-l-1")
    with begun(config, "--task", number) as process:
        printed, _ = process.communicate()
    assert process.returncode == 0, printed
    folder = tmp_path / "folder"
    assert sorted(path.name for path in (folder / "runs").iterdir()) == ["rouge-l-1", "start-1"]
    assert not (folder / "report").exists()
    with begun(config, "--report-only") as process:
        printed, _ = process.communicate()
    assert process.returncode == 0, printed
    assert "lead-3" in (folder / "report" / "report.md").read_text()
