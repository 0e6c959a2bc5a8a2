"""``rlsum human-eval``: one file a command, and the argument that they share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StudyFolder = Annotated[Path, typer.Argument(metavar="STUDY", help="Folder that `rlsum human-eval build` made.")]
