import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace

import comparisons
import numpy as np
import pytest
import yaml
from rows import jsonl

from rlsum.compare import simulated
from rlsum.compare.cells import cells_of
from rlsum.compare.folder import Folder, FolderError, best_updates, last_update
from rlsum.errors import RecordError
from rlsum.files import file_digest, write_atomically


def folder_of(path, **changes):
    return Folder(comparisons.comparison(path, **changes))


def begin(path):
    (path / "runs" / "start-1").mkdir()


def test_a_folder_made_by_another_configuration_is_refused_with_what_differs(tmp_path):
    folder_of(tmp_path).claim()
    begin(tmp_path)
    cell = {**comparisons.values(tmp_path)["cell"], "objective": {"kind": "mixed", "samples": 3}}
    with pytest.raises(FolderError, match=r"cell\.objective\.samples: was 2, now 3\nchoose another folder"):
        folder_of(tmp_path, cell=cell).claim()
    with pytest.raises(FolderError, match=r"rewards\.rouge-l\.scale: was 5\.0, now 4\.0"):
        folder_of(tmp_path, rewards={"rouge-l": {"reward": "rouge-l", "scale": 4}}).claim()
    folder_of(tmp_path).claim()


@pytest.mark.parametrize("value", [None, 3, [1], "x"])
def test_a_damaged_record_is_named(tmp_path, value):
    folder_of(tmp_path).claim()
    begin(tmp_path)
    record = yaml.safe_load((tmp_path / "comparison.yaml").read_text())
    (tmp_path / "comparison.yaml").write_text(yaml.safe_dump({**record, "decoding": value}))
    with pytest.raises(FolderError, match=r"comparison\.yaml: decoding is no section"):
        folder_of(tmp_path).claim()


@pytest.mark.parametrize("text", ["", "[]", '{"best_st'])
def test_a_damaged_result_of_a_training_is_named(tmp_path, text):
    folder = folder_of(tmp_path)
    folder.claim()
    begin(tmp_path)
    start = cells_of(folder.comparison)[0]
    assert not folder.trained(start)
    result = tmp_path / "runs" / "start-1" / "result.json"
    result.write_text(text)
    for read in (folder.trained, lambda cell: best_updates([cell])):
        with pytest.raises(RecordError, match=r"result\.json.*remove it, and run the comparison again"):
            read(start)
    result.write_text('{"best_step": 3}')
    assert folder.trained(start)
    assert best_updates([start]) == {"start": [3]}


def test_a_comparison_may_change_until_something_is_made(tmp_path):
    folder_of(tmp_path, rewards={"rouge-l": {"reward": "rouge-l", "scale": 4}}).claim()
    folder_of(tmp_path).claim()
    begin(tmp_path)
    folder_of(tmp_path).claim()
    with pytest.raises(FolderError, match=r"rewards\.rouge-l\.scale"):
        folder_of(tmp_path, rewards={"rouge-l": {"reward": "rouge-l", "scale": 4}}).claim()


def test_a_corpus_that_is_made_stays(tmp_path):
    folder_of(tmp_path).claim()
    simulated.prepare(folder_of(tmp_path))
    with pytest.raises(FolderError, match=r"simulate\.seed: was 1, now 2"):
        folder_of(tmp_path, simulate={**comparisons.values(tmp_path)["simulate"], "seed": 2}).claim()


def test_a_comparison_may_grow_in_its_folder(tmp_path):
    folder_of(tmp_path).claim()
    begin(tmp_path)
    grown = {"seeds": [3], "rewards": {"rouge-1": "rouge-1"}, "metrics": ["bleu"], "controls": []}
    grown["decoding"] = {**comparisons.values(tmp_path)["decoding"], "short": {"length_penalty": 0.5}}
    folder_of(tmp_path, **grown).claim()
    with pytest.raises(FolderError, match=r"rewards\.rouge-2"):  # what another had trained still counts
        folder_of(tmp_path, rewards={"rouge-2": {"reward": "rouge-2", "scale": 2}}).claim()


RUN = {"run": "r", "data": {"train": "t.jsonl", "valid": "v.jsonl"}, "training": {"steps": 1}}
VARIANTS = {"short": {}, "long": {"training": {"steps": 8}}}


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({}, {"variants": {"long": {"training": {"steps": 8}}}}, r"runs/none-1\.training\.steps: was 2, now 8"),
        ({"variants": VARIANTS}, {"variants": {"long": VARIANTS["long"]}}, r"runs/none-1\.training\.steps"),
        (
            {"variants": VARIANTS},
            {"variants": dict(reversed(VARIANTS.items()))},
            r"runs/rouge-l\.shuffled-1\.training\.steps",
        ),
        ({}, {"first": "rouge-1", "seeds": (1, 2)}, r"runs/none-1\.objective\.reward: was 'rouge-l', now 'rouge-1'"),
        ({}, {"first": "rouge-1"}, ""),  # all of continued likelihood are there
        ({"variants": VARIANTS}, {"variants": {**VARIANTS, "more": {"training": {"steps": 9}}}, "seeds": (1, 2)}, ""),
    ],
)
def test_trainings_that_are_there_are_what_they_would_be_now(tmp_path, before, after, changed):
    """Controls have the settings of the first variant, and of the first reward, in every seed."""
    rewards = {"rouge-l": "rouge-l", "rouge-1": "rouge-1"}
    after = dict(after)
    first = after.pop("first", "rouge-l")
    given = {"controls_of": ["rouge-l"], "controls": ["none", "shuffled"], "seeds": (1,)}
    folder = folder_of(tmp_path, rewards=rewards, **{**given, **before})
    folder.claim()
    for cell in cells_of(folder.comparison):
        if cell.config is not None:
            folder.config(cell).write_text(yaml.safe_dump(dict(cell.config)))
            (tmp_path / "runs" / cell.name).mkdir()
    ordered = dict(sorted(rewards.items(), key=lambda row: row[0] != first))
    again = folder_of(tmp_path, rewards=ordered, **{**given, **before, **after})
    if not changed:
        again.claim()
        return
    with pytest.raises(FolderError, match=changed):
        again.claim()


def test_trainings_of_a_comparison_read_the_same_articles_and_begin_from_the_same_weights(tmp_path):
    start = tmp_path / "start"
    (start / "best").mkdir(parents=True)
    (start / "best" / "config.yaml").write_text(yaml.safe_dump(RUN))
    (start / "best" / "model.safetensors").write_bytes(b"weights")
    given = {"seeds": (1,), "start": str(start), "simulate": None, "test": "t.jsonl", "outputs": {}}
    folder = folder_of(tmp_path / "c", **given)
    folder.claim()
    facts = {"articles": {"train": "a1", "valid": "a2"}, "init": file_digest(start / "best" / "model.safetensors")}
    trained = [cell for cell in cells_of(folder.comparison) if cell.config is not None]
    for cell in trained:
        (folder.path / "runs" / cell.name).mkdir()
        jsonl(folder.path / "runs" / cell.name / "environment.json", facts)
    folder.claim()
    changed = jsonl(folder.path / "runs" / trained[1].name / "environment.json", {**facts, "articles": {"train": "b"}})
    with pytest.raises(FolderError, match=rf"articles of runs/{trained[1].name}, beside runs/none-1\.train: was 'a1'"):
        folder.claim()
    jsonl(changed, facts)
    (start / "best" / "model.safetensors").write_bytes(b"trained on")
    with pytest.raises(FolderError, match=r"weights of start=.*: was '"):
        folder.claim()
    shutil.rmtree(start)  # to free the disk
    folder.claim()


def test_scores_are_of_the_texts_that_the_file_has_whatever_the_times_say(tmp_path):
    """Copying, restoring or changing rights renews the times of scores."""
    folder, cells = comparisons.finished(tmp_path, {}, seeds=(1,))
    assert not any(folder.outdated(cell, "beam") for cell in cells)
    path = folder.outputs(cells[0])["beam"]
    path.write_text(path.read_text().replace("fell", "rose up"))
    time.sleep(0.02)  # a tick of the clock of files
    scores = folder.scores(cells[0], "beam")
    scores.chmod(0o600)
    assert scores.stat().st_ctime_ns > path.stat().st_ctime_ns
    assert folder.outdated(cells[0], "beam")


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FolderError, match="cannot be written"):
        folder_of(tmp_path / "file" / "folder").claim()


def test_a_lock_is_held_by_one_and_ends_with_its_holder(tmp_path):
    folder = folder_of(tmp_path)
    folder.claim()
    cell = cells_of(folder.comparison)[0]
    code = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'ab'); fcntl.flock(f, 2); print(1, flush=True); time.sleep(60)"
    )
    path = tmp_path / "locks" / f"{cell.name}.lock"
    with subprocess.Popen([sys.executable, "-c", code, path], stdin=-1, stdout=-1) as holder:
        holder.stdout.readline()
        with folder.lock(cell.name) as lock:
            assert lock is None
        assert folder.locked(cell)
        holder.kill()
        holder.wait()
    assert not folder.locked(cell)
    with folder.lock(cell.name) as lock:
        assert lock is not None


def test_the_state_of_a_cell_is_in_its_files(tmp_path):
    folder = folder_of(tmp_path)
    folder.claim()
    cell = cells_of(folder.comparison)[0]
    assert folder.state(cell).stage == "waiting"
    (tmp_path / "runs" / cell.name).mkdir()
    log = tmp_path / "runs" / cell.name / "metrics.jsonl"
    log.write_text('{"step": 3, "kind": "train"}\n{"step": 4, "ki')
    assert (last_update(log), folder.state(cell).update, folder.state(cell).updates) == (3, 3, 4)
    comparisons.finish(folder, cell, {"rouge-l": np.zeros(3)})
    assert folder.state(cell).stage == "done"
    folder.failure(cell).write_text("the loss is nan\n")
    assert folder.state(cell) == replace(folder.state(cell), stage="failed", reason="the loss is nan")


def test_files_that_another_process_takes_away_are_no_error(tmp_path):
    """With ``retry`` it removes the reason; a training that goes on removes its result."""
    folder = folder_of(tmp_path)
    folder.claim()
    cell, stop = cells_of(folder.comparison)[0], threading.Event()
    reason, result = folder.failure(cell), tmp_path / "runs" / cell.name / "result.json"
    result.parent.mkdir()

    def come_and_go():
        while not stop.is_set():
            for path, text in ((reason, "the loss is nan"), (result, '{"failed": true}')):
                write_atomically(path, text.encode())
                path.unlink()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        assert {folder.state(cell).stage for _ in range(2000)} <= {"failed", "waiting"}
    finally:
        stop.set()
        thread.join()
