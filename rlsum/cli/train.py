"""``rlsum train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rewards.options import nearest
from rlsum import api
from rlsum.cli.options import print_keys, print_log
from rlsum.errors import ConfigError


def train(
    config: Annotated[
        str | None, typer.Argument(help="YAML file, or a name of `rlsum configs`; not needed with --resume.")
    ] = None,
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, such as training.steps=100.")] = None,
    init: Annotated[Path | None, typer.Option(help="Run or checkpoint to start from, with words and sizes.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Run folder to continue where it stopped.")] = None,
    auto_resume: Annotated[
        bool, typer.Option("--auto-resume", help="Continue the run if its folder holds one, else start it.")
    ] = False,
    keys: Annotated[
        str | None, typer.Option(help="Explain the keys of a section, or all, or the log, and stop.")
    ] = None,
) -> None:
    """Train a summarizer by likelihood, or on a reward with reinforcement learning.

    Ctrl-C, SIGTERM and SIGUSR1 end the update, save a state and print the command that continues it. A finished run is
    trained on, with its optimiser, by --resume and a larger training.steps, if it then equals one that began with them.

    **Examples**

    rlsum train demo/mle

    rlsum train demo/sms --init runs/demo/mle

    rlsum train demo/mle training.steps=50 run=runs/quick

    rlsum train --resume runs/demo/mle

    rlsum train --resume runs/cnndm/mle training.steps=80000

    rlsum train --keys objective

    accelerate launch --num_processes 4 -m rlsum train cnndm/mle
    """
    if keys is not None:
        _explain(keys)
        return
    overrides = overrides or []
    if config is not None and "=" in config and not Path(config).exists():
        overrides, config = [config, *overrides], None
    run = api.train(config, overrides, init=init, resume=resume, auto_resume=auto_resume)
    if run.stopped is not None:
        raise typer.Exit(128 + run.stopped)


def _explain(section: str) -> None:
    from rlsum import config_reference as reference

    if section == "log":
        print_log()
        return
    named = [name for name in reference.SECTIONS if section in ("all", name.partition(" ")[0])]
    if not named:
        names = ["all", "log", *(name for name in reference.SECTIONS if " " not in name)]
        raise ConfigError(f"--keys {section}: no such section{nearest(section, names)}; choose from {', '.join(names)}")
    for name in named:
        print_keys(name, reference.keys(name))
