"""The folder of a comparison: whose it is, locks that end with their holders, the state of cells read from files."""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import IO, Any, Literal

import yaml

from rlsum.compare import config as configs
from rlsum.compare.cells import NONE, Cell, cells_of, methods_of, outputs_file, starts
from rlsum.compare.config import MAY_CHANGE, MAY_GROW, RECORD, Comparison, marked
from rlsum.compare.scoring import read_scores
from rlsum.errors import RecordError, UserError
from rlsum.files import file_digest, write_atomically
from rlsum.readers import json_object, jsonl
from rlsum.yaml_files import read

STATE, RESULT, METRICS = "state.safetensors", "result.json", "metrics.jsonl"  # of a run
ENVIRONMENT = "environment.json"

Stage = Literal["waiting", "training", "decoding", "scoring", "done", "failed"]


class FolderError(UserError):
    """The folder cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class State:
    """How far a cell is: its stage, the updates of its training, whether a process works on it, why it failed."""

    stage: Stage
    update: int = 0
    updates: int = 0
    busy: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Folder:
    """The folder of a comparison, and the place of each of its files."""

    comparison: Comparison

    @property
    def path(self) -> Path:
        """The folder itself."""
        return Path(self.comparison.folder)

    def config(self, cell: Cell) -> Path:
        """The configuration that ``rlsum train`` reads."""
        return self.path / "configs" / f"{cell.name}.yaml"

    def log(self, cell: Cell) -> Path:
        """What the cell's commands printed."""
        return self.path / "logs" / f"{cell.name}.log"

    def failure(self, cell: Cell) -> Path:
        """Why the cell failed; there is no such file otherwise."""
        return self.path / "failed" / f"{cell.name}.txt"

    def cpu_seconds(self, cell: Cell) -> float | None:
        """What the cell's commands used, by its log; None where one of them ended unseen."""
        text = self.log(cell).read_text(encoding="utf-8", errors="replace") if self.log(cell).exists() else ""
        used = [float(seconds) for seconds in re.findall(r"^# ([\d.]+) CPU seconds$", text, re.MULTILINE)]
        return sum(used) if used and len(used) == len(re.findall(r"^\$ ", text, re.MULTILINE)) else None

    def outputs(self, cell: Cell) -> dict[str, Path]:
        """The cell's files of summaries by way of decoding."""
        return {method: outputs_file(self.comparison, cell, method) for method in methods_of(self.comparison, cell)}

    def scores(self, cell: Cell, method: str) -> Path:
        """The scores of a file of summaries."""
        return self.path / "scores" / f"{cell.name}.{method}.json"

    def outdated(self, cell: Cell, method: str) -> bool:
        """Whether scores are of other texts than those that the file of summaries has now."""
        outputs, scores = self.outputs(cell)[method], self.scores(cell, method)
        if not (outputs.exists() and scores.exists()):
            return False
        stats = [path.stat() for path in (outputs, scores)]
        return _of_other_texts(outputs, scores, tuple((stat.st_ino, stat.st_size, stat.st_ctime_ns) for stat in stats))

    def left_out(self, cells: Sequence[Cell]) -> dict[str, list[int]]:
        """System -> seeds of what was trained here and is none of ``cells``, since a reward or a seed was taken out."""
        known = {Path(str(cell.model)).name for cell in cells}
        names = sorted(
            run.parent.name for run in (self.path / "runs").glob(f"*/{RESULT}") if run.parent.name not in known
        )
        systems: dict[str, list[int]] = {}
        for system, _, seed in (name.rpartition("-") for name in names):
            if system and seed.isdecimal():
                systems.setdefault(system, []).append(int(seed))
        return systems

    # ---- whose folder it is --------------------------------------------------------------------------------------

    def claim(self) -> None:
        """Make the folder, or check that it belongs to this comparison; record what was added.

        A comparison of which nothing has been made yet may still change. Raises FolderError for a folder of another
        comparison, with what differs, or one that cannot be written.
        """
        record = self.path / RECORD
        try:
            for name in ("configs", "runs", "outputs", "scores", "logs", "failed", "locks"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
            with self.lock("record", wait=True):
                old = read(record) if record.exists() else {}
                if broken := [key for key in marked(MAY_GROW) if not isinstance(old.get(key, {}), dict)]:
                    raise FolderError(f"{record}: {broken[0]} is no section; undo this change or choose another folder")
                if not any(any((self.path / name).iterdir()) for name in ("runs", "outputs")):
                    old = {key: old[key] for key in old if key == "simulate" and (self.path / "data").exists()}
                now = configs.as_mapping(self.comparison)
                if changed := [*differences(old, now), *self._begun_otherwise(), *self._begun_from_others()]:
                    lines = "\n".join(f"  {line}" for line in changed)
                    fix = f"choose another folder, undo these changes, or give {record} as the configuration"
                    raise FolderError(f"folder={self.path}: made by another configuration\n{lines}\n{fix}")
                for key in marked(MAY_GROW):
                    now[key] = old.get(key, {}) | now[key]
                write_atomically(record, yaml.safe_dump(now, sort_keys=False, allow_unicode=True).encode())
        except OSError as error:
            raise FolderError(f"folder={self.path}: cannot be written ({error.strerror}); choose another") from error

    def _begun_otherwise(self) -> list[str]:
        """In what trainings that have begun differ from what they would be now, as when the first variant or reward,
        whose settings controls have, becomes another.
        """
        cells = [cell for cell in cells_of(self.comparison) if cell.config is not None]
        begun = [cell for cell in cells if self.config(cell).exists() and Path(str(cell.model)).exists()]
        # which reward chose the checkpoints of continued likelihood matters as long as some are to be chosen
        chosen = all(cell in begun for cell in cells if cell.system == NONE)
        lines = []
        for cell in begun:
            left_out = ("reward", "reward_scale") if cell.system == NONE and chosen else ()
            settings = (yaml.safe_load(self.config(cell).read_text(encoding="utf-8")), cell.config)
            lines += _unequal(f"runs/{cell.name}", *(_settings(config, left_out) for config in settings))
        return lines

    def _begun_from_others(self) -> list[str]:
        """Trainings of one data section that read other articles, and those whose start has other weights now."""
        lines, first, weights = list[str](), dict[str, tuple[str, Any]](), cache(_weights)
        given = {start.name: str(start.model) for start in starts(self.comparison) if start.config is None}
        for cell in cells_of(self.comparison):
            record = Path(str(cell.model)) / ENVIRONMENT
            if cell.config is None or not record.is_file():
                continue
            recorded = json_object(record, "give the folder of a complete run")
            section = json.dumps([cell.config.get("data"), cell.config.get("language")], default=str)
            name, articles = first.setdefault(section, (cell.name, recorded.get("articles")))
            lines += _unequal(f"articles of runs/{cell.name}, beside runs/{name}", articles, recorded.get("articles"))
            for start in (given[name] for name in cell.after if name in given):
                if (init := recorded.get("init")) is not None:
                    lines += _unequal(f"weights of start={start}", init, weights(start) or init)
        return list(dict.fromkeys(lines))

    # ---- locks ---------------------------------------------------------------------------------------------------

    @contextmanager
    def lock(self, name: str, wait: bool = False) -> Iterator[IO[bytes] | None]:
        """Hold a lock of the folder; None if another process holds it and ``wait`` is false.

        The lock ends when every process that inherited the file has ended, even by SIGKILL: a training whose
        comparison was killed keeps its cell until it ends, and nothing is left to clean up.
        """
        with (self.path / "locks" / f"{name}.lock").open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield None
                return
            yield file

    def locked(self, cell: Cell) -> bool:
        """Whether a process works on a cell."""
        path = self.path / "locks" / f"{cell.name}.lock"
        if not path.exists():
            return False
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    # ---- states --------------------------------------------------------------------------------------------------

    def why_failed(self, cell: Cell) -> str | None:
        """Why a cell failed; None unless it did. Another process may take the file away at any moment."""
        try:
            return self.failure(cell).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None

    def trained(self, cell: Cell) -> bool:
        """Whether a cell's model is ready."""
        if cell.config is None:
            return True
        result = _result(cell)
        return result is not None and not result.get("failed")

    def state(self, cell: Cell) -> State:
        """The state of a cell, from its files alone."""
        if (reason := self.why_failed(cell)) is not None:
            return State("failed", reason=reason)
        outputs = self.outputs(cell)
        if all(self.scores(cell, method).exists() and not self.outdated(cell, method) for method in outputs):
            return State("done")
        busy = self.locked(cell)
        if not self.trained(cell):
            update = last_update(Path(str(cell.model)) / METRICS)
            steps = int((cell.config or {}).get("training", {}).get("steps", 0))
            return State("training" if busy or update else "waiting", update, steps, busy)
        if not all(path.exists() for path in outputs.values()):
            return State("decoding" if busy else "waiting", busy=busy)
        return State("scoring" if busy else "waiting", busy=busy)


def differences(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The keys of a comparison's record that another configuration changes, a line each; some sections may grow."""
    lines = []
    for key in now:
        if key in marked(MAY_CHANGE) or key not in recorded:
            continue
        if key in marked(MAY_GROW):
            old, new = ({f"{key}.{name}": value for name, value in side[key].items()} for side in (recorded, now))
            shared = {name: (old[name], new[name]) for name in new if name in old}
        else:
            shared = {key: (recorded[key], now[key])}
        for name, (before, after) in shared.items():
            lines += _unequal(name, before, after)
    return lines


def read_metrics(run: str | Path) -> list[dict[str, Any]]:
    """The rows of ``run/metrics.jsonl``, in order.

    An incomplete last line, which a killed run leaves, is ignored. Raises RecordError for any other broken line.
    """
    rows = list(jsonl(Path(run) / METRICS))
    for row in rows[:-1]:
        if row.problem:
            raise RecordError(f"{row.where}: {row.problem}")
    return [row.fields for row in rows if not row.problem]


def trainings(cells: Iterable[Cell]) -> dict[str, list[list[dict[str, Any]]]]:
    """Row title -> the log of each seed's training, as far as it has begun."""
    runs: dict[str, list[list[dict[str, Any]]]] = {}
    for cell in cells:
        if cell.config is not None and (Path(str(cell.model)) / METRICS).exists():
            runs.setdefault(cell.title, []).append(read_metrics(str(cell.model)))
    return runs


def best_updates(cells: Iterable[Cell]) -> dict[str, list[int]]:
    """Row title -> the update whose weights each finished training left: the best in validation, 0 for the start."""
    updates: dict[str, list[int]] = {}
    for cell in cells:
        if cell.config is not None and (result := _result(cell)) is not None:
            step = result.get("best_step")
            updates.setdefault(cell.title, []).extend([step] if isinstance(step, int) else [])
    return updates


def _result(cell: Cell) -> dict[str, Any] | None:
    """What a training left when it ended; None before that, and from when it is trained on, which removes it."""
    path = Path(str(cell.model)) / RESULT
    try:
        return json_object(path, "remove it, and run the comparison again")
    except RecordError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def last_update(path: Path) -> int:
    """The last update in a run's log; 0 without one. Reads the end of the file alone."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 4096))
            lines = file.read().splitlines()
    except OSError:
        return 0
    for line in reversed(lines):
        try:
            return int(json.loads(line)["step"])
        except (ValueError, KeyError, TypeError):
            continue
    return 0


def _weights(start: str) -> str | None:
    """What a training that begins there now would record of its weights; None where they are gone."""
    from rlsum.training.checkpoint import CheckpointError, find
    from rlsum.training.start.environment import init_digest

    try:
        return init_digest(find(start))
    except CheckpointError:
        return None


@lru_cache(maxsize=4096)
def _of_other_texts(outputs: Path, scores: Path, _: object) -> bool:
    """Whether scores are of another file than ``outputs``, as both are now: read once for sizes and times of them."""
    return read_scores(scores).outputs != file_digest(outputs)


def _settings(config: Any, left_out: Sequence[str]) -> dict[str, Any]:
    """A training's configuration without what may change: metrics, the advantage of a control, ``left_out``."""
    objective = {key: value for key, value in config.get("objective", {}).items() if key not in left_out}
    objective.pop("control_advantage", None)
    kept = {key: value for key, value in config.items() if key != "metrics"} | {"objective": objective}
    plain: dict[str, Any] = yaml.safe_load(yaml.safe_dump(kept))  # as the file has it
    return plain


def _unequal(key: str, before: Any, after: Any) -> list[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        names = dict.fromkeys((*before, *after))
        return [line for name in names for line in _unequal(f"{key}.{name}", before.get(name), after.get(name))]
    return [] if before == after else [f"{key}: was {before!r}, now {after!r}"]
