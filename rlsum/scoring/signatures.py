"""FILE.signatures.json: metric -> signature, which says what its scores in FILE depend on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from rlsum.errors import UserError
from rlsum.files import write_atomically
from rlsum.readers import json_file


def signatures_path(path: Path) -> Path:
    """The file of the signatures of a scored file."""
    return path.with_name(path.name + ".signatures.json")


def read(path: Path) -> dict[str, str]:
    """The signatures recorded for a scored file, {} without a record. Raises UserError for any other content."""
    recorded = signatures_path(path)
    if not recorded.exists():
        return {}
    fix = "repair it, or remove it to treat the signatures as unknown"
    signatures = json_file(recorded, fix, UserError)
    if not isinstance(signatures, dict) or not all(isinstance(value, str) for value in signatures.values()):
        raise UserError(f"{recorded}: not an object of metrics and signatures; {fix}")
    return signatures


def write(path: Path, signatures: Mapping[str, str]) -> None:
    """Record the signatures of a scored file atomically."""
    content = json.dumps(signatures, indent=2, ensure_ascii=False) + "\n"
    write_atomically(signatures_path(path), content.encode())


def changed(old: Mapping[str, str | None], new: Mapping[str, str]) -> list[str]:
    """The metrics of both whose signatures differ, or whose old one is not recorded (None)."""
    return [metric for metric in new if metric in old and old[metric] != new[metric]]
