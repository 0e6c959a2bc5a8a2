"""One loader for article-summary corpora: hub names, local files and folders, cached by Hugging Face ``datasets``."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import datasets
from datasets.exceptions import DatasetGenerationError
from datasets.fingerprint import Hasher

from rlsum.data.columns import Columns, choose_columns, clean
from rlsum.data.readers import READERS, CorpusError, Read, file_format, read_file

Tokenizer = Literal["whitespace", "spacy"]
HUB = "hf://"
SPLIT_NAMES = (("train", "training"), ("valid", "validation", "val", "dev"), ("test",))
# Part of every cache key: raise it when reading, cleaning or tokenising gives other rows than before.
CACHE_VERSION = 1
CLEAN_FEATURES = datasets.Features(
    {
        "id": datasets.Value("string"),
        "source": datasets.Value("string"),
        "references": datasets.List(datasets.Value("string")),
        "problem": datasets.Value("string"),
        "where": datasets.Value("string"),
    }
)
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Corpus:
    """Rows to train on and what was left out.

    rows: columns id (str), source (str), references (list of str), src_tokens and tgt_tokens (lists of str). A text is
        its tokens joined by one space, a sentence a line, never cut; the token columns are cut at the limits, and
        tgt_tokens are the first reference's lines joined.
    skipped: reason -> rows left out, over the whole split.
    examples: reason -> file:line of its first row.
    duplicate_ids: rows (kept) whose id an earlier row of the split has.
    """

    rows: datasets.Dataset
    skipped: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    duplicate_ids: int = 0

    def report(self) -> str:
        """What was skipped and why, in one line; empty if nothing was."""
        parts = [
            f"{count} skipped ({reason}; first: {self.examples[reason]})" for reason, count in self.skipped.items()
        ]
        if self.duplicate_ids:
            parts.append(f"{self.duplicate_ids} duplicate ids kept")
        return "; ".join(parts)


def load_corpus(
    path: str | Path,
    *,
    split: str = "train",
    id_column: str | None = None,
    source_column: str = "article",
    reference_column: str | None = "highlights",
    tokenizer: Tokenizer = "whitespace",
    lowercase: bool = False,
    max_source: int = 400,
    max_target: int = 100,
    limit: int | None = None,
    seed: int | None = None,
    num_proc: int = 1,
) -> Corpus:
    """Load and tokenise one split; broken and empty rows are skipped, counted and logged.

    Args:
        path: a JSONL, CSV or parquet file or a ``.story`` file (text formats also ``.gz``); a folder of ``.story``
            files, of one file or folder a split, or written by ``save_to_disk``; else a hub dataset,
            ``[hf://][owner/]name[@revision]`` or ``hf://owner/name/config[@revision]``.
        split: train, valid or test (synonyms are understood). A single file and a flat folder of ``.story`` files have
            no splits: they are read whole whatever is asked.
        id_column: default: ``id`` where there is one, else file name and line.
        source_column, reference_column: the defaults are CNN/DailyMail's; where neither is there, those of our own
            records (``source``, ``references``) are used. A reference is a text with a sentence a line, or a list of
            texts: several references. ``reference_column=None`` loads articles alone.
        tokenizer: ``whitespace`` for pre-tokenised text, ``spacy`` for raw text (the tokens of ``rewards.text``).
        max_source, max_target: tokens kept of the article and of the first reference.
        limit: at most so many of the good rows, the first, or with ``seed`` a random choice in the order of the file.
        num_proc: processes that tokenise; the result is the same for any number.

    Raises:
        CorpusError: nothing to read at ``path``, no such split or columns, no good row, or an option out of range.
    """
    if tokenizer not in ("whitespace", "spacy"):
        raise CorpusError(f"tokenizer={tokenizer!r}: expected 'whitespace' or 'spacy'")
    for name, value in (("max_source", max_source), ("max_target", max_target), ("num_proc", num_proc)):
        if value < 1:
            raise CorpusError(f"{name}={value}: must be at least 1")
    if limit is not None and limit < 1:
        raise CorpusError(f"limit={limit}: must be at least 1, or None for all rows")

    found = _clean_rows(str(path), split, Columns(id_column, source_column, reference_column), num_proc)
    skipped, examples, kept = _sift(found)
    if not kept:
        reasons = ", ".join(f"{count} x {reason} (first: {examples[reason]})" for reason, count in skipped.items())
        raise CorpusError(f"path={str(path)!r}, split={split!r}: no usable row: {reasons or 'it is empty'}")
    ids = list(found.select(kept)["id"])
    rows = found.select(_sample(kept, limit, seed)).map(
        _tokenise,
        batched=True,
        batch_size=200,
        num_proc=num_proc if num_proc > 1 else None,
        remove_columns=["problem", "where"],
        fn_kwargs={
            "tokenizer": tokenizer,
            "lowercase": lowercase,
            "max_source": max_source,
            "max_target": max_target,
            "version": _tokenizer_version(tokenizer),
        },
        desc="tokenising",
    )
    corpus = Corpus(rows, skipped, examples, duplicate_ids=len(ids) - len(set(ids)))
    if report := corpus.report():
        log.warning("%s (%s): %s", path, split, report)
    return corpus


# --- where the rows come from -------------------------------------------------------------------------------------


def _clean_rows(path: str, split: str, asked: Columns, num_proc: int) -> datasets.Dataset:
    """All rows of the split with CLEAN_FEATURES, broken ones included, from the cache if nothing has changed."""
    local = Path(path).expanduser()
    if path.startswith(HUB) or not local.exists():
        return _clean_dataset(_from_hub(path, split), asked, path)
    files = _files(local, split)
    if files:
        return _clean_files(files, asked, path, num_proc)
    saved = any((local / name).is_file() for name in ("state.json", "dataset_dict.json"))
    found = datasets.load_from_disk(str(local)) if saved else _from_hub(str(local), split)
    return _clean_dataset(_pick(found, split, path), asked, path)


def _files(path: Path, split: str) -> list[Path]:
    """The files to read, none if ``path`` is a folder that ``datasets`` itself must read."""
    if path.is_file():
        file_format(path)
        return [path]
    names = _synonyms(split)
    single = [path / f"{name}{suffix}{end}" for name in names for suffix in READERS for end in ("", ".gz")]
    if files := [file for file in single if file.is_file()]:
        if len(files) > 1:
            raise CorpusError(f"path={str(path)!r}: {files[0].name} or {files[1].name} for split {split!r}? Name one")
        return files
    for folder in (*(path / name for name in names), path):
        if stories := sorted(chain(folder.glob("*.story"), folder.glob("*.story.gz"))):
            return stories
    return []


def _synonyms(split: str) -> tuple[str, ...]:
    return next((names for names in SPLIT_NAMES if split in names), (split,))


def _clean_files(files: list[Path], asked: Columns, path: str, num_proc: int) -> datasets.Dataset:
    columns = choose_columns(asked, (read.fields for file in files for read in read_file(file)), path)
    stats = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    try:
        return datasets.Dataset.from_generator(
            _generate,
            features=CLEAN_FEATURES,
            gen_kwargs={"files": stats, "columns": columns, "version": CACHE_VERSION},
            num_proc=num_proc if 1 < num_proc <= len(files) else None,
        )
    except DatasetGenerationError as error:
        if isinstance(error.__cause__, CorpusError):
            raise error.__cause__ from None
        raise


def _generate(files: list[tuple[str, int, int]], columns: Columns, version: int) -> Iterator[dict[str, Any]]:
    # Sizes, times and version are there for the cache key that `datasets` makes of the arguments.
    for name, _, _ in files:
        for read in read_file(Path(name)):
            yield clean(read, columns)


def _from_hub(path: str, split: str) -> datasets.Dataset:
    name, _, revision = path.removeprefix(HUB).partition("@")
    config: str | None = None
    if Path(path).suffix in (*READERS, ".gz") or (not path.startswith(HUB) and path.startswith(("/", ".", "~"))):
        if not Path(path).exists():
            raise CorpusError(f"path={path!r}: no such file or folder")
    elif name.count("/") == 2:
        name, _, config = name.rpartition("/")
    try:
        found = datasets.load_dataset(name, config, revision=revision or None)
    except (OSError, ValueError) as error:  # not found, no network, unknown configuration, not laid out as a dataset
        raise CorpusError(
            f"path={path!r}: neither a local corpus nor a hub dataset that can be loaded ({error}). "
            f"For a hub dataset with configurations write {HUB}owner/name/config"
        ) from error
    return _pick(found, split, path)


def _pick(found: datasets.DatasetDict | datasets.Dataset, split: str, path: str) -> datasets.Dataset:
    if isinstance(found, datasets.Dataset):
        return found
    for name in _synonyms(split):
        if name in found:
            return found[name]
    raise CorpusError(f"path={path!r}: no split {split!r}; there are {', '.join(found)}")


def _clean_dataset(found: datasets.Dataset, asked: Columns, path: str) -> datasets.Dataset:
    columns = choose_columns(asked, [dict.fromkeys(found.column_names)], path)
    stats = [(file["filename"], os.stat(file["filename"]).st_mtime_ns) for file in found.cache_files]
    key = Hasher.hash((found._fingerprint, stats, columns, path, CACHE_VERSION))
    folder = Path(datasets.config.HF_DATASETS_CACHE) / "rlsum"  # never beside the data, which may be read-only
    folder.mkdir(parents=True, exist_ok=True)
    return found.map(
        _clean_row,
        with_indices=True,
        fn_kwargs={"columns": columns, "path": path},
        features=CLEAN_FEATURES,
        remove_columns=found.column_names,
        cache_file_name=str(folder / f"clean-{key}.arrow"),
        new_fingerprint=key,
        desc="reading",
    )


def _clean_row(row: dict[str, Any], index: int, columns: Columns, path: str) -> dict[str, Any]:
    return clean(Read(f"{path}:{index + 1}", f"row-{index + 1}", row), columns)


# --- from texts to tokens -----------------------------------------------------------------------------------------


def _sift(found: datasets.Dataset) -> tuple[dict[str, int], dict[str, str], list[int]]:
    """Rows skipped by reason (most frequent first), the first example of each, and the indices of good rows."""
    problems = list(found["problem"])
    first: dict[str, int] = {}
    for index, problem in enumerate(problems):
        first.setdefault(problem, index)
    counts = Counter(problem for problem in problems if problem)
    examples = {problem: found[first[problem]]["where"] for problem in counts}
    return dict(counts.most_common()), examples, [index for index, problem in enumerate(problems) if not problem]


def _sample(kept: list[int], limit: int | None, seed: int | None) -> list[int]:
    if limit is None or limit >= len(kept):
        return kept
    if seed is None:
        return kept[:limit]
    import numpy as np

    chosen = np.random.default_rng(seed).choice(len(kept), size=limit, replace=False)
    return [kept[index] for index in sorted(chosen)]


def _tokenizer_version(tokenizer: Tokenizer) -> str:
    """What the tokens depend on beside the options."""
    if tokenizer == "whitespace":
        return str(CACHE_VERSION)
    import importlib.metadata

    return f"{CACHE_VERSION} spacy {importlib.metadata.version('spacy')}"


def token_lines(text: str, tokenizer: Tokenizer, lowercase: bool) -> list[list[str]]:
    """The tokens of each line of ``text``; lines without tokens are left out, no token holds white space."""
    split: Callable[[str], list[str]] = str.split
    if tokenizer == "spacy":
        from rewards.text import tokens

        split = tokens
    lines = text.replace("\r", "\n").split("\n")
    split_lines = ([_cased(token, lowercase) for token in split(line) if not token.isspace()] for line in lines)
    return [line for line in split_lines if line]


def _cased(token: str, lowercase: bool) -> str:
    return token.lower() if lowercase else token


def _tokenise(
    batch: dict[str, list[Any]], tokenizer: Tokenizer, lowercase: bool, max_source: int, max_target: int, version: str
) -> dict[str, list[Any]]:
    # The version is there for the cache key that `datasets` makes of the arguments.
    result: dict[str, list[Any]] = {name: [] for name in ("source", "references", "src_tokens", "tgt_tokens")}
    for source, references in zip(batch["source"], batch["references"], strict=True):
        source_lines = token_lines(source, tokenizer, lowercase)
        reference_lines = [token_lines(reference, tokenizer, lowercase) for reference in references]
        result["source"].append(_text(source_lines))
        result["references"].append([_text(lines) for lines in reference_lines])
        result["src_tokens"].append(list(chain(*source_lines))[:max_source])
        result["tgt_tokens"].append(list(chain(*reference_lines[:1][0]))[:max_target] if reference_lines else [])
    return result


def _text(lines: list[list[str]]) -> str:
    return "\n".join(" ".join(line) for line in lines)
