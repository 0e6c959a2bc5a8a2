"""Numbers of rows that are computed once for all processes and runs: kept in our cache by what they depend on."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeVar

import datasets
from datasets.fingerprint import Hasher
from datasets.utils import tqdm
from filelock import FileLock
from pyarrow import ArrowInvalid

from rlsum.errors import UserError
from rlsum.files import write_atomically
from rlsum.readers.tables import damaged
from rlsum.readers.understood import say

T = TypeVar("T")
SILENT = 3  # seconds of work that show no progress


def cache_folder() -> Path:
    """Our folder in the cache of `datasets`; the folder of the data may be read-only. Raises UserError if this is."""
    cache = Path(datasets.config.HF_DATASETS_CACHE)
    folder = cache / "rlsum"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=cache), TemporaryFile(dir=folder):  # permissions alone do not tell
            return folder
    except OSError as error:
        fix = "articles are cached there: set it to a folder you may write to"
        raise UserError(f"HF_DATASETS_CACHE={str(cache)!r}: cannot be written ({error.strerror}); {fix}") from error


@contextmanager
def cache_errors() -> Iterator[None]:
    """Within it, a UserError names a damaged file of the cache of `datasets`, which itself gives none."""
    try:
        yield
    except (ArrowInvalid, JSONDecodeError, OSError) as error:
        cache = Path(datasets.config.HF_DATASETS_CACHE)
        lost = isinstance(error, FileNotFoundError) and str(cache) in str(error)
        file = cache if lost else None if getattr(error, "errno", None) else damaged(cache)
        if file is None:  # of something else
            raise
        fix = "remove the folder that the file is in: it is made again"
        raise UserError(f"{file}: a damaged cache of articles ({error}); {fix}") from error


def remembered(name: str, key: tuple[object, ...], compute: Callable[[], Any]) -> Any:
    """``compute()``, a JSON value; from the second time on what the cache holds for this name and key.

    One process computes, the others wait for it. A damaged file is computed again, and a warning says so.
    """
    path = cache_folder() / f"{name}-{Hasher.hash(key)}.json"
    with FileLock(f"{path}.lock"):
        if path.is_file():
            digest, _, content = path.read_bytes().partition(b"\n")
            if digest == hashlib.sha256(content).hexdigest().encode():
                return json.loads(content)
            say(f"{path}: damaged; computed again", logging.WARNING)
        content = json.dumps(compute()).encode()
        write_atomically(path, hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
    return json.loads(content)


def counted(items: Iterable[T], what: str, total: int | None = None) -> Iterable[T]:
    """The items; standard error shows how many are done if they take more than some seconds."""
    return tqdm(items, desc=what, total=total, delay=SILENT)
