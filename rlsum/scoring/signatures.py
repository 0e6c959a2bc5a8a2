"""What the scores of a file depend on: FILE.signatures.json beside FILE, metric -> signature, once for all rows.

Rows hold scores by the metric's name alone; only with its signature does one know which scores they are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from rlsum.errors import UserError
from rlsum.files import write_atomically


def beside(path: Path) -> Path:
    """Where the signatures of a scored file stand."""
    return path.with_name(path.name + ".signatures.json")


def read(path: Path) -> dict[str, str]:
    """The signatures recorded for a scored file, empty where none are. Raises UserError for any other content."""
    place = beside(path)
    if not place.exists():
        return {}
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(
            f"{place}: cannot be read ({error}); mend it, or remove it: signatures are unknown then"
        ) from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise UserError(f"{place}: not an object of metrics and signatures; remove it: signatures are unknown then")
    return found


def write(path: Path, signatures: Mapping[str, str]) -> None:
    """Record the signatures of a scored file, whole or not at all."""
    place = beside(path)
    write_atomically(place, (json.dumps(signatures, indent=2, ensure_ascii=False) + "\n").encode())


def changed(old: Mapping[str, str | None], new: Mapping[str, str]) -> list[str]:
    """The metrics of both that are not known to be the same: another signature, or none recorded (None)."""
    return [metric for metric in new if metric in old and old[metric] != new[metric]]
