"""Train, valid and test: the files of a folder, or the rows of one file divided by article."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rlsum.data.looking.look import Look, rows
from rlsum.data.sources import SPLIT_NAMES, split_files
from rlsum.readers import READERS, CorpusError

Row = TypeVar("Row")
Parts = dict[str, list[Row]]  # train, valid, test -> rows in their order
BLOCK = 20  # of so many articles in a row some are held out
LEAST = 20  # articles
FEW = 1000  # of fewer articles more are held out: differences between systems cannot be shown on a few
SYNONYMS = {name: names[0] for names in SPLIT_NAMES for name in names}
COLUMNS = ("split", "part", "subset", "set", "partition", "fold")


def splits_of(path: Path) -> dict[str, Path]:
    """The files of train, valid and test in a folder; none where it is one corpus, saved by `datasets` or of stories.

    Raises CorpusError for a folder without the first two.
    """
    if path.is_file() or (path / "state.json").is_file() or any(path.glob("*.story*")):
        return {}
    splits = {names[0]: files[0] for names in SPLIT_NAMES if (files := split_files(path, names))}
    if not {"train", "valid"} <= splits.keys():
        raise CorpusError(f"{path}: needs a train and a valid file ({', '.join(READERS)}); or give one file to split")
    return splits


def overlap(files: Mapping[str, Path], look: Look) -> dict[str, int]:
    """Pairs of parts such as "train and test" -> articles in both. Raises CorpusError for a part without a row."""
    articles: dict[str, set[Any]] = {}
    for part, path in files.items():
        broken: list[str] = []
        articles[part] = {article_key(row["source"]) for _, row in rows(path, look.columns, broken)}
        if not articles[part]:
            raise CorpusError(
                f"{path}: no row can be read ({[*broken, 'empty'][0]}); its columns must be those of train"
            )
    pairs = combinations(articles, 2)
    return {f"{a} and {b}": both for a, b in pairs if (both := len(articles[a] & articles[b]))}


def split(look: Look) -> tuple[Parts[dict[str, Any]], str]:
    """The usable rows of one file, with ids, as train, valid and test; and by what they are divided.

    Raises CorpusError where there are too few articles.
    """
    usable = [*rows(look.path, look.columns, [])]
    usual = [name for name in look.names if name.strip().lower() in COLUMNS]
    try:
        column = split_column({name: {str(read.fields.get(name) or "") for read, _ in usable} for name in usual})
    except CorpusError as error:
        raise CorpusError(f"{look.path}: {error}") from error
    named: list[str] = []
    nameless = 0
    if column is not None:
        nameless = sum(not part_named(read.fields[column]) for read, _ in usable)
        usable = [(read, row) for read, row in usable if part_named(read.fields[column])]
        named = [part_named(read.fields[column]) or "" for read, _ in usable]
    ids, numbered = [row["id"] for _, row in usable], ""
    if len({*ids}) < len(ids):  # systems are compared id by id
        ids, numbered = [read.name for read, _ in usable], "; ids recur, so the rows are numbered"
    texts = [{**read.fields, "id": identity} for (read, _), identity in zip(usable, ids, strict=True)]
    articles = [article_key(row["source"]) for _, row in usable]
    try:
        if column is None:
            return drawn(texts, articles), f"drawn from {len({*articles}):,} different articles{numbered}"
        divided, copies = declared(texts, articles, named)
    except CorpusError as error:
        unread = f"; {len(look.broken):,} rows cannot be read, the first {look.broken[0]}" if look.broken else ""
        raise CorpusError(f"{look.path}: {error}{unread}") from error
    how = f"as the column {column!r} says"
    lacking = [part for part in divided if part not in named]
    how += f", {' and '.join(lacking)} drawn from train" if lacking else ""
    how += f"; {nameless:,} rows left out, for which it says nothing" if nameless else ""
    how += f"; {copies:,} rows left out, whose article is in a later part, too" if copies else ""
    return divided, how + numbered


def article_key(text: str) -> Hashable:
    """What two copies of an article share, whatever their case and white space."""
    return hash(" ".join(text.split()).casefold())


def split_column(values: Mapping[str, Set[object]]) -> str | None:
    """The column that says in which part a row is, if there is one. ``values``: column -> its different values.

    Raises CorpusError for one with other values besides: its test articles must not be trained on.
    """
    for name, cells in values.items():
        named = {part_named(value) for value in cells} - {""}
        if name.strip().lower() in COLUMNS and "train" in named and len(named) > 1:
            if others := sorted(str(value) for value in cells if part_named(value) is None):
                kept = ", ".join(names[0] for names in SPLIT_NAMES)
                said = f"the column {name!r} says {', '.join(others[:5])} besides parts"
                raise CorpusError(f"{said}; write {kept}, or nothing")
            return name
    return None


def part_named(value: object) -> str | None:
    """train, valid or test, from any of their names; "" for no value, None for another one."""
    name = "" if value is None else str(value).strip().lower()
    return SYNONYMS.get(name) if name else ""


def drawn(rows: Sequence[Row], articles: Sequence[Hashable]) -> Parts[Row]:
    """The parts of a file: of 20 articles in a row 18, 1 and 1 drawn at random, of fewer than 1,000 articles 16, 2, 2.

    ``articles``: what says for each row which rows have the same article. The same rows give the same parts. Raises
    CorpusError below 20 articles.
    """
    order = {article: number for number, article in enumerate(dict.fromkeys(articles))}
    _check(len(order), len(rows))
    return _sorted(rows, articles, dict(zip(order, _places(len(order)), strict=False)))


def _places(articles: int) -> list[str]:
    """The part of each article."""
    held = 2 if articles < FEW else 1
    block = np.array(["test"] * held + ["valid"] * held + ["train"] * (BLOCK - 2 * held))
    random = np.random.default_rng(0)
    return [str(part) for _ in range(-(-articles // BLOCK)) for part in random.permutation(block)]


def declared(rows: Sequence[Row], articles: Sequence[Hashable], parts: Sequence[str]) -> tuple[Parts[Row], int]:
    """The rows by the ``parts`` that a file names, and the number left out: rows whose article is in a later part, too.

    A part that it lacks, valid or test, is drawn from train. Raises CorpusError below 20 articles to draw from.
    """
    rank = {"train": 0, "valid": 1, "test": 2}
    last: dict[Hashable, str] = {}
    for article, part in zip(articles, parts, strict=True):
        last[article] = max(last.get(article, part), part, key=rank.__getitem__)
    numbers = [number for number, article in enumerate(articles) if parts[number] == last[article]]
    if lacking := rank.keys() - {*parts}:
        train = [article for article, part in last.items() if part == "train"]
        _check(len(train), parts.count("train"))
        last |= {article: part for article, part in zip(train, _places(len(train)), strict=False) if part in lacking}
    return _sorted([rows[n] for n in numbers], [articles[n] for n in numbers], last), len(rows) - len(numbers)


def _check(articles: int, rows: int) -> None:
    if articles < LEAST:
        raise CorpusError(f"{articles} different articles in {rows} rows; give at least {LEAST} to draw parts from")


def _sorted(rows: Sequence[Row], articles: Sequence[Hashable], part_of: dict[Hashable, str]) -> Parts[Row]:
    sorted_rows: Parts[Row] = {"train": [], "valid": [], "test": []}
    for row, article in zip(rows, articles, strict=True):
        sorted_rows[part_of[article]].append(row)
    return sorted_rows
