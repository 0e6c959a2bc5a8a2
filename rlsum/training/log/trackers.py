"""Trackers of runs, such as TensorBoard and Weights & Biases, through accelerate: their start, and tables of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, GeneralTracker
from pydantic import TypeAdapter

from rlsum.config import Config, ConfigError

PROJECT = "rlsum"  # of all runs, in trackers that have projects


def start_trackers(config: Config, accelerator: Accelerator, step: int) -> None:
    """Start the trackers, to log from update ``step`` on, with the run's name and its configuration.

    All runs are in the project `rlsum`; tensorboard writes to the run's folder, and hides later updates that it logged
    before a kill. Raises ConfigError where a tracker cannot start.
    """
    run = Path(config.run)
    options: dict[str, dict[str, Any]] = {
        "tensorboard": {"purge_step": step + 1 if step else 0},  # a run at update 0 logs its start again
        "wandb": {"name": run.name, "dir": str(run)},
        "mlflow": {"run_name": run.name},
        "trackio": {"name": run.name},
    }
    for name in map(str, accelerator.log_with):
        kind: Any = LOGGER_TYPE_TO_CLASS[name]
        place = [accelerator.logging_dir] if kind.requires_logging_directory else []
        tracker = kind("tensorboard" if name == "tensorboard" else PROJECT, *place, **options.get(name, {}))
        try:
            tracker.start()
            if name != "tensorboard":  # which would begin another folder; the run's own holds config.yaml
                tracker.store_init_configuration(flat(TypeAdapter(Config).dump_python(config, mode="json")))
        except Exception as error:  # of any kind, such as a login or a server that is missing
            reason = str(error).strip().partition("\n")[0]
            raise ConfigError(f"training.tracker={name}: cannot start ({reason}); mend it, or leave it out") from error
        accelerator.trackers.append(tracker)


def flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Nested sections as dotted keys, such as `training.steps`; lists become texts."""
    entries: dict[str, Any] = {}
    for key, value in values.items():
        name = f"{above}{key}"
        if isinstance(value, dict):
            entries |= flat(value, f"{name}.")
        else:
            entries[name] = str(value) if isinstance(value, list) else value
    return entries


def show_table(tracker: GeneralTracker, name: str, rows: Sequence[Mapping[str, Any]], step: int) -> None:
    """Rows as a table, where a tracker has tables or, as TensorBoard, texts."""
    flat = [{**row, **row.get("scores", {}), "references": "\n\n".join(row["references"])} for row in rows]
    columns = [column for column in flat[0] if column not in ("scores", "system")]
    data = [[row.get(column) for column in columns] for row in flat]
    if hasattr(tracker, "log_table"):
        tracker.log_table(name, columns=columns, data=data, step=step)
    elif tracker.name == "tensorboard":
        cells = [[str(value).replace("|", "\\|").replace("\n", "<br>") for value in row] for row in data]
        lines = (f"| {' | '.join(row)} |" for row in (columns, ["---"] * len(columns), *cells))
        tracker.log({name: "\n".join(lines)}, step=step)
