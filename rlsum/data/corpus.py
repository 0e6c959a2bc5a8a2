"""The loader of article-summary corpora: hub names, local files and folders, cached by Hugging Face ``datasets``."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, get_args

import datasets
import numpy as np
import pyarrow.compute
from numpy.typing import NDArray

from rewards.text.chunks import tokens
from rewards.text.debris import LEAST, column_of
from rewards.text.languages import language_of
from rewards.text.words import joined
from rlsum.data.columns import CNN_DAILYMAIL, RECORD_COLUMNS, Columns, Tokenizer
from rlsum.data.counts import token_counts
from rlsum.data.remembered import cache_errors, counted, remembered
from rlsum.data.sources import CACHE_VERSION, clean_rows
from rlsum.readers import CorpusError, Understood
from rlsum.readers.tables import check_complete
from rlsum.readers.understood import MISSING, say

T = TypeVar("T")
LINE_ENDS = re.compile("[\r\n]")
LOOKED_AT = 2_000  # rows whose references are searched for what is no part of a text
TOKENISED = ("source", "references", "src_tokens", "tgt_tokens", "tgt_whole")


@dataclass(frozen=True)
class Corpus:
    """Rows and a count of those left out.

    rows: columns id (str), source (str), references (list of str), src_tokens and tgt_tokens (lists of str), tgt_whole
        (bool). Texts are uncut: tokens joined by one space (but see ``language``), a sentence a line. Token columns are
        cut at the limits; tgt_tokens are those of the first reference, and tgt_whole says that none was cut off. With
        further columns also columns (str), their values as a JSON object.
    skipped: reason -> number of rows left out, over the whole split.
    examples: reason -> file:line of the first such row.
    duplicate_ids: number of rows (kept) with the id of an earlier row of the split.
    split: a text of ``source`` or ``references`` -> its tokens.
    """

    rows: datasets.Dataset
    skipped: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    duplicate_ids: int = 0
    split: Callable[[str], list[str]] = str.split

    def report(self) -> str:
        """One line about skipped rows and duplicate ids; empty if there are none."""
        notes = [
            f"{count} skipped ({reason}; first: {self.examples[reason]})" for reason, count in self.skipped.items()
        ]
        if self.duplicate_ids:
            notes.append(f"{self.duplicate_ids} duplicate ids kept")
        return "; ".join(notes)


@dataclass(frozen=True)
class Tokenization:
    """How texts become tokens.

    tokenizer               ``whitespace`` for tokenised text, ``spacy`` for raw text (``rewards.text.chunks``)
    language                ISO 639-1 code of the texts, for ``spacy``; in a language without spaces tokens are
                            characters and marks, and texts are joined without spaces
    max_source, max_target  tokens kept of the article and of the first reference
    """

    tokenizer: Tokenizer = "whitespace"
    language: str | None = None
    lowercase: bool = False
    max_source: int = 400
    max_target: int = 100

    @property
    def cuts(self) -> tuple[Any, ...]:
        """What a pretrained model's own tokenizer follows of these."""
        return self.max_source, self.max_target

    @property
    def characters(self) -> bool:
        """Whether tokens are characters of a language without spaces."""
        return without_spaces(self.tokenizer, self.language)

    @property
    def split(self) -> Callable[[str], list[str]]:
        """A text's tokens, as they are written."""
        return partial(tokens, language=language_of(self.language)) if self.tokenizer == "spacy" else str.split

    def lines(self, text: str) -> list[list[str]]:
        """The tokens of each line of ``text``, without white space; empty lines are left out."""
        split = self.split
        tokenized = ([token for token in split(line) if not token.isspace()] for line in LINE_ENDS.split(text))
        return [[token.lower() for token in line] if self.lowercase else line for line in tokenized if line]

    def source_tokens(self, lines: Iterable[list[str]]) -> list[str]:
        """The tokens of an article's lines that a model reads."""
        return list(chain.from_iterable(lines))[: self.max_source]


@cache_errors()
def load_corpus(
    path: str | Path,
    columns: Columns = CNN_DAILYMAIL,
    how: Tokenization = Tokenization(),
    *,
    split: str = "train",
    limit: int | None = None,
    seed: int | None = None,
    num_proc: int = 1,
) -> Corpus:
    """Load and tokenise one split; broken and empty rows are skipped, counted and logged.

    Args:
        path: a JSONL, CSV, parquet or ``.story`` file (text formats also ``.gz``); a folder of ``.story`` files, with a
            file or folder for each split, written by ``save_to_disk``, or any other that ``datasets`` can load
            (``folder/config`` if its card names configurations); else a hub dataset,
            ``[hf://][owner/]name[@revision]`` or ``hf://owner/name/config[@revision]``.
        split: train, valid or test, or a synonym. Ignored for a single file and a flat folder of ``.story`` files.
        limit: number of good rows kept: the first, or with ``seed`` a random choice in the order of the file.
        num_proc: processes that tokenise; they do not change the result.

    Raises:
        CorpusError: nothing to read at ``path``, no such split or columns, no good row, or an option out of range.
    """
    if how.tokenizer not in get_args(Tokenizer):
        raise CorpusError(f"tokenizer={how.tokenizer!r}: expected {' or '.join(map(repr, get_args(Tokenizer)))}")
    counts = {"max_source": how.max_source, "max_target": how.max_target, "num_proc": num_proc, "limit": limit}
    for name, value in counts.items():
        if value is not None and value < 1:
            raise CorpusError(f"{name}={value}: must be at least 1")
    good, corpus = _good(path, split, columns, num_proc)
    chosen = good if limit is None else good.select(drawn(range(len(good)), limit, seed))
    rows = chosen.map(
        _tokenise,
        batched=True,
        batch_size=200,
        num_proc=num_proc if num_proc > 1 else None,
        remove_columns=["problem", "where"],
        fn_kwargs={"how": how, "version": _tokenizer_version(how.tokenizer)},
        desc="tokenising",
    )
    check_complete(rows)
    _warn_of_debris(good, f"{path} ({split})")
    return replace(corpus, rows=rows, split=how.split if how.characters else str.split)


def _warn_of_debris(good: datasets.Dataset, name: str) -> None:
    """Say what references hold that is no part of a text."""
    debris = column_of(chain.from_iterable(good.select(range(min(LOOKED_AT, len(good))))["references"])).counts(LEAST)
    if debris:
        remnants = f"references: {', '.join(debris)}; a model learns to write it: leave it out of the file"
        say(f"{name}: {remnants}", logging.WARNING)


def raw_records(path: str | Path, split: str, columns: Columns) -> Iterator[dict[str, Any]]:
    """The good rows of a split with their texts as they are: id, source and references. Raises CorpusError."""
    good, _ = _good(path, split, columns)
    rows = counted(good, f"texts of {path}", len(good))
    return ({name: row[name] for name in ("id", *RECORD_COLUMNS)} for row in rows)


@cache_errors()
def _good(path: str | Path, split: str, layout: Columns, num_proc: int = 1) -> tuple[datasets.Dataset, Corpus]:
    """The rows without a problem, as they are, and the counts of a corpus; says what was understood."""
    rows, chosen = clean_rows(str(path), split, layout, num_proc)
    check_complete(rows)
    facts = remembered("facts", (rows._fingerprint, CACHE_VERSION), partial(_sift, rows))
    skipped, examples = facts["skipped"], facts["examples"]
    if not facts["good"]:
        reasons = ", ".join(f"{count} x {reason} (first: {examples[reason]})" for reason, count in skipped.items())
        raise CorpusError(f"path={str(path)!r}, split={split!r}: no usable row: {reasons or 'it is empty'}")
    good = rows.select(_usable(rows)) if skipped else rows
    corpus = Corpus(good, skipped, examples, facts["duplicate_ids"])
    roles = {"articles": dict.fromkeys([chosen.source]), "references": dict.fromkeys(chosen.present)}
    joined = {"articles"} if chosen.listed else set()
    counts, missing = set(facts["references"]), Counter(facts["missing"])
    Understood(f"{path} ({split})", layout.lists, facts["good"], roles, counts, corpus.report(), joined, missing).say()
    return good, corpus


def _usable(rows: datasets.Dataset) -> NDArray[np.int64]:
    """The numbers of the rows without a problem."""
    return np.flatnonzero(pyarrow.compute.equal(rows.data.column("problem"), "").to_numpy())


def _sift(rows: datasets.Dataset) -> dict[str, Any]:
    """What is said of rows: skipped ones by reason, most frequent first, and an example; of good ones their number, the
    numbers of their references, how many have the id of an earlier one, and texts such as ``nan``."""
    usable = _usable(rows)
    broken = np.setdiff1d(np.arange(len(rows)), usable)
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for row in rows.select(broken).select_columns(["problem", "where"]):
        counts[row["problem"]] += 1
        examples.setdefault(row["problem"], row["where"])
    ids = rows.data.column("id")
    return {
        "skipped": dict(counts.most_common()),
        "examples": examples,
        "good": len(usable),
        "references": np.unique(token_counts(rows, "references")[usable]).tolist(),
        "missing": _missing(rows),
        "duplicate_ids": len(usable) - len(pyarrow.compute.unique(ids.take(usable) if len(broken) else ids)),
    }


def _missing(rows: datasets.Dataset) -> dict[str, int]:
    """How often an article or a reference is a word for a missing text, such as ``nan``; broken rows have no texts."""
    found: Counter[str] = Counter()
    for texts in (rows.data.column("source"), pyarrow.compute.list_flatten(rows.data.column("references"))):
        written = texts.filter(pyarrow.compute.is_in(texts, pyarrow.array(sorted(MISSING), texts.type)))
        found.update(written.to_pylist())
    return dict(found)


def drawn(rows: Sequence[T], limit: int | None, seed: int | None) -> list[T]:
    """At most ``limit`` of the rows, in their order: the first, or with ``seed`` a random choice."""
    if limit is None or limit >= len(rows):
        return list(rows)
    if seed is None:
        return list(rows[:limit])
    chosen = np.random.default_rng(seed).choice(len(rows), size=limit, replace=False)
    return [rows[index] for index in sorted(chosen)]


def _tokenizer_version(tokenizer: Tokenizer) -> str:
    """What the tokens depend on besides the options."""
    if tokenizer == "whitespace":
        return str(CACHE_VERSION)
    import importlib.metadata

    return f"{CACHE_VERSION} spacy {importlib.metadata.version('spacy')}"


def without_spaces(tokenizer: Tokenizer, language: str | None) -> bool:
    """Whether tokens are characters of a language without spaces, and are joined without them."""
    return tokenizer == "spacy" and language_of(language).splitter == "character"


def _tokenise(batch: dict[str, list[Any]], how: Tokenization, version: str) -> dict[str, list[Any]]:
    # ``version`` is part of the cache key that `datasets` makes from the arguments.
    result: dict[str, list[Any]] = {name: [] for name in TOKENISED}
    join = joined if how.characters else " ".join
    for source, references in zip(batch["source"], batch["references"], strict=True):
        source_lines, reference_lines = how.lines(source), [how.lines(reference) for reference in references]
        result["source"].append("\n".join(map(join, source_lines)))
        result["references"].append(["\n".join(map(join, lines)) for lines in reference_lines])
        result["src_tokens"].append(how.source_tokens(source_lines))
        target = list(chain(*reference_lines[0])) if reference_lines else []
        result["tgt_tokens"].append(target[: how.max_target])
        result["tgt_whole"].append(len(target) <= how.max_target)
    return result
