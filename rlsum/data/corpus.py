"""The loader of article-summary corpora: hub names, local files and folders, cached by Hugging Face ``datasets``."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

import datasets
import numpy as np
import pyarrow.compute

from rewards.references import Lists
from rewards.text.chunks import tokens
from rewards.text.debris import LEAST, column_of
from rewards.text.languages import language_of, splitter_of
from rewards.text.words import joined
from rlsum.data.columns import RECORD_COLUMNS, Columns
from rlsum.data.sources import CACHE_VERSION, clean_rows
from rlsum.readers import CorpusError, Understood
from rlsum.readers.understood import say

T = TypeVar("T")
Tokenizer = Literal["whitespace", "spacy"]
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
    references_optional: bool = False,
    tokenizer: Tokenizer = "whitespace",
    language: str | None = None,
    lowercase: bool = False,
    max_source: int = 400,
    max_target: int = 100,
    limit: int | None = None,
    seed: int | None = None,
    num_proc: int = 1,
    columns: Sequence[str] = (),
    columns_optional: bool = False,
    reference_lists: Lists | None = None,
) -> Corpus:
    """Load and tokenise one split; broken and empty rows are skipped, counted and logged.

    Args:
        path: a JSONL, CSV, parquet or ``.story`` file (text formats also ``.gz``); a folder of ``.story`` files, with a
            file or folder for each split, written by ``save_to_disk``, or any other that ``datasets`` can load
            (``folder/config`` if its card names configurations); else a hub dataset,
            ``[hf://][owner/]name[@revision]`` or ``hf://owner/name/config[@revision]``.
        split: train, valid or test, or a synonym. Ignored for a single file and a flat folder of ``.story`` files.
        id_column: by default ``id`` if there is one, else file name and line.
        source_column, reference_column: the defaults are CNN/DailyMail's; if both are missing, those of our records
            (``source``, ``references``). A text has a sentence a line; an article may be a list of sentences. Columns
            that differ in a number (``summary1``, ``summary2``) are several references, whichever is named; empty ones
            are left out. ``reference_column=None`` loads articles only.
        reference_lists: what a list of texts in a column of references is, ``alternatives`` or the ``sentences`` of one
            text; needed unless the column's name ends in ``references`` or ``summaries``: alternatives.
        references_optional: keep articles without a reference; their ``references`` are empty.
        tokenizer: ``whitespace`` for tokenised text, ``spacy`` for raw text (``rewards.text.chunks``).
        language: ISO 639-1 code of the texts, for ``tokenizer=spacy``. In a language without spaces tokens are
            characters and marks, and texts are joined without spaces.
        max_source, max_target: tokens kept of the article and of the first reference.
        limit: number of good rows kept: the first, or with ``seed`` a random choice in the order of the file.
        num_proc: processes that tokenise; they do not change the result.
        columns: further columns, for rewards that read them. A row without one is broken, unless ``columns_optional``.

    Raises:
        CorpusError: nothing to read at ``path``, no such split or columns, no good row, or an option out of range.
    """
    if tokenizer not in ("whitespace", "spacy"):
        raise CorpusError(f"tokenizer={tokenizer!r}: expected 'whitespace' or 'spacy'")
    counts = {"max_source": max_source, "max_target": max_target, "num_proc": num_proc, "limit": limit}
    for name, value in counts.items():
        if value is not None and value < 1:
            raise CorpusError(f"{name}={value}: must be at least 1")

    further = tuple(columns), columns_optional
    named = Columns(id_column, source_column, reference_column, references_optional, *further, reference_lists)
    good, corpus = _good(path, split, named, num_proc)
    options: dict[str, Any] = {"tokenizer": tokenizer, "language": language, "lowercase": lowercase}
    options |= {"max_source": max_source, "max_target": max_target}
    rows = good.select(drawn(range(len(good)), limit, seed)).map(
        _tokenise,
        batched=True,
        batch_size=200,
        num_proc=num_proc if num_proc > 1 else None,
        remove_columns=["problem", "where"],
        fn_kwargs={**options, "version": _tokenizer_version(tokenizer)},
        desc="tokenising",
    )
    debris = column_of(chain.from_iterable(good.select(range(min(LOOKED_AT, len(good))))["references"])).counts(LEAST)
    if debris:
        told = f"references: {', '.join(debris)}; a model learns to write it: leave it out of the file"
        say(f"{path} ({split}): {told}", logging.WARNING)
    corpus = replace(corpus, rows=rows)
    if without_spaces(tokenizer, language):
        corpus = replace(corpus, split=partial(tokens, language=language_of(language)))
    return corpus


def raw_records(path: str | Path, split: str, columns: Columns) -> Iterator[dict[str, Any]]:
    """The good rows of a split with their texts as they are: id, source and references. Raises CorpusError."""
    good, _ = _good(path, split, columns)
    return ({name: row[name] for name in ("id", *RECORD_COLUMNS)} for row in good)


def _good(path: str | Path, split: str, asked: Columns, num_proc: int = 1) -> tuple[datasets.Dataset, Corpus]:
    """The rows without a problem, as they are, and the counts of a corpus; says what was understood."""
    found, chosen = clean_rows(str(path), split, asked, num_proc)
    skipped, examples, kept = _sift(found)
    if not kept:
        reasons = ", ".join(f"{count} x {reason} (first: {examples[reason]})" for reason, count in skipped.items())
        raise CorpusError(f"path={str(path)!r}, split={split!r}: no usable row: {reasons or 'it is empty'}")
    good = found.select(kept)
    corpus = Corpus(good, skipped, examples, duplicate_ids=len(kept) - len(set(good["id"])))
    roles = {"articles": dict.fromkeys([chosen.source]), "references": dict.fromkeys(chosen.found)}
    lengths = pyarrow.compute.list_value_length(found.data.column("references")).to_numpy()
    references = set(lengths[kept].tolist())
    joined = {"articles"} if chosen.listed else set()
    Understood(f"{path} ({split})", asked.lists, len(kept), roles, references, corpus.report(), joined).say()
    return good, corpus


def _sift(found: datasets.Dataset) -> tuple[dict[str, int], dict[str, str], list[int]]:
    """Rows skipped by reason, most frequent first; the first example of each; the indices of good rows."""
    problems = list(found["problem"])
    counts = Counter(problem for problem in problems if problem)
    examples = {problem: found[problems.index(problem)]["where"] for problem in counts}
    return dict(counts.most_common()), examples, [index for index, problem in enumerate(problems) if not problem]


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
    return tokenizer == "spacy" and splitter_of(language) == "character"


def token_lines(text: str, tokenizer: Tokenizer, lowercase: bool, language: str | None = None) -> list[list[str]]:
    """The tokens of each line of ``text``, without white space; empty lines are left out."""
    split: Callable[[str], list[str]] = str.split
    if tokenizer == "spacy":
        split = partial(tokens, language=language_of(language))
    lines = ([token for token in split(line) if not token.isspace()] for line in text.replace("\r", "\n").split("\n"))
    return [[token.lower() for token in line] if lowercase else line for line in lines if line]


def _tokenise(
    batch: dict[str, list[Any]],
    tokenizer: Tokenizer,
    language: str | None,
    lowercase: bool,
    max_source: int,
    max_target: int,
    version: str,
) -> dict[str, list[Any]]:
    # ``version`` is part of the cache key that `datasets` makes from the arguments.
    result: dict[str, list[Any]] = {name: [] for name in TOKENISED}
    join = joined if without_spaces(tokenizer, language) else " ".join
    for source, references in zip(batch["source"], batch["references"], strict=True):
        source_lines = token_lines(source, tokenizer, lowercase, language)
        reference_lines = [token_lines(reference, tokenizer, lowercase, language) for reference in references]
        result["source"].append("\n".join(map(join, source_lines)))
        result["references"].append(["\n".join(map(join, lines)) for lines in reference_lines])
        result["src_tokens"].append(list(chain(*source_lines))[:max_source])
        target = list(chain(*reference_lines[0])) if reference_lines else []
        result["tgt_tokens"].append(target[:max_target])
        result["tgt_whole"].append(len(target) <= max_target)
    return result
