"""Pairs scored item by item: into memory, and into a file that a stopped scoring continues."""

from __future__ import annotations

import itertools
import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import rewards
from rewards import Reward
from rewards.base import Specs
from rewards.references import Lists
from rewards.scoring import headings, short_signature
from rewards.text.identification import read_as_english
from rewards.wrappers.cleaned import all_cleaned, some_raw
from rlsum.errors import UserError, option
from rlsum.evaluation.rows import Floats
from rlsum.files import check_free
from rlsum.pages.blocks import Block, Bullets
from rlsum.pages.shown import Advance, Shown, frame, quiet
from rlsum.records import of_table
from rlsum.scoring.comparison import Resampling, intervals
from rlsum.scoring.debris import Survey
from rlsum.scoring.journal import Journal
from rlsum.scoring.pairs import Listed, Pairs, Records, Row, changed_metrics, texts_of, write_signatures
from rlsum.scoring.processes import CHUNK, Scoring, chunked
from rlsum.scoring.shards import WHOLE, Shard
from rlsum.scoring.tables import metric_table

STANDARD = "rouge-1,rouge-2,rouge-lsum"


@dataclass(frozen=True, repr=False)
class Scored(Shown):
    """Scores by system and metric, eight bytes each, raw and NaN where undefined, in the order of the pairs."""

    headings: Mapping[str, str]
    signatures: Mapping[str, str]
    resampling: Resampling
    by_system: dict[str, dict[str, array[float]]] = field(default_factory=dict)
    rows: int = 0
    cleaned: bool = False
    survey: Survey = field(default_factory=Survey)
    notes: Sequence[str] = ()
    ids: dict[str, array[int]] = field(default_factory=dict)  # hashes of the rows' ids by system

    def add(self, row: Row, scores: Mapping[str, float | None]) -> None:
        """Add one row's scores; None becomes NaN."""
        system = _system(row)
        columns = self.by_system.setdefault(system or "candidates", {})
        for label, value in scores.items():
            columns.setdefault(label, array("d")).append(float("nan") if value is None else value)
        if "id" in row:
            self.ids.setdefault(system or "candidates", array("q")).append(hash(str(row["id"])))
        self.survey.add(system, *texts_of(row)[:2])

    def _recurring(self) -> Iterator[str]:
        """A note on each system with several rows of one id."""
        for system, ids in self.ids.items():
            if (different := len({*ids})) < len(ids):
                yield (
                    f"Warning: {system}: {len(ids):,} rows have {different:,} different ids, but intervals take "
                    "rows as independent; where those of one id are of one article, they are too narrow."
                )

    def __getitem__(self, metric: str) -> Floats:
        """The scores (n,) of a metric, system after system."""
        return np.concatenate([np.frombuffer(columns[metric]) for columns in self.by_system.values()])

    def blocks(self, long_signatures: bool = False) -> list[Block]:
        """Means x 100 with intervals, a row a system; then signatures, with the number of undefined scores."""
        means = {
            system: intervals(
                {label: np.frombuffer(scores[label]) for label in self.headings}, self.resampling, self.signatures
            )
            for system, scores in self.by_system.items()
        }
        sizes = {system: len(next(iter(scores.values()))) for system, scores in self.by_system.items()}
        items = ", ".join(f"{system} {count:,}" for system, count in sizes.items())
        notes = [
            f"Items: {items}; {self.resampling.note}.",
            *self._recurring(),
            *self.notes,
            *self.survey.sentences(self.cleaned),
        ]
        lines = []
        for label, signature in self.signatures.items():
            undefined = int(np.isnan(self[label]).sum())
            written = signature if long_signatures else short_signature(signature)
            lines.append(written + (f"  ({undefined:,} undefined)" if undefined else ""))
        table = metric_table(means, {}, "Scores x 100", notes, self.headings, sizes=sizes)
        return [table, Bullets(lines, "code")]

    def to_frame(self) -> Any:
        """A row an item: its system and its raw scores."""
        rows = (
            (system, *values)
            for system, columns in self.by_system.items()
            for values in zip(*columns.values(), strict=True)
        )
        return frame(("system", *self.signatures), rows)


def score(
    data: str | Path | Sequence[str] | Pairs,
    references: Sequence[Sequence[str] | str] = (),
    metrics: Specs = STANDARD,
    *,
    language: str | None = None,
    sources: Sequence[str] = (),
    columns: Mapping[str, Sequence[Any]] | None = None,
    reference_lists: Lists | None = None,
    clean: bool = False,
    out: str | Path | None = None,
    shard: str | None = None,
    workers: int = 1,
    resamples: int = 1_000,
    seed: int = 0,
    overwrite: bool = False,
    say: Callable[[str], None] = print,
    advance: Advance = quiet,
) -> Scored:
    """The scores of each text: ``data`` is a file of records, or a list of candidates with their ``references``.

    Each of ``references`` is a text or several; rewards may read further ``columns``. ``reference_lists``: what a list
    of texts in a column of references is, ``alternatives`` or the ``sentences`` of one text, where its name does not
    say so. ``clean``: score the texts without what is no part of them, see ``cleaned``. ``language``: their ISO 639-1
    code. With ``out`` each record is written with its scores, its texts as they were, and a stopped scoring continues.
    ``shard``: of several jobs, ``3/8`` scores the third of eight shards, ``all/8`` puts them together; by default that
    of this process of several that a launcher has started.
    Raises before anything is scored: UserError for a file that may not be replaced, RecordError for a bad row,
    RewardError for a bad metric.
    """
    if isinstance(data, Path) or (isinstance(data, str) and not len(references)):
        pairs: Pairs = Records(Path(data), reference_lists)
    else:
        pairs = data if isinstance(data, Pairs) else Listed.of(data, references, sources, columns)
    scorers = rewards.from_specs(metrics, language)
    if not scorers:
        raise UserError(f"{option('metrics', metrics)}: no metric; name one, such as rouge-l")
    out, share = _written_to(out, shard, overwrite)
    identity = pairs.check(scorers.values())
    texts = ((_system(row), *texts_of(row)[:2]) for row in pairs)
    prefixes = Survey.of(texts).prefixes if clean else None
    scorers = scorers if prefixes is None else all_cleaned(scorers, prefixes)
    resampling, cleaned = Resampling(resamples=resamples, seed=seed), not some_raw(scorers.values())
    with Scoring(partial(_scorers, metrics, language, prefixes), workers) as scoring:
        signatures = scoring.signatures()
        notes = read_as_english(signatures, _written(pairs), option("language", ""))
        rows = share.rows(identity.rows, CHUNK)
        scored = Scored(headings(scorers), signatures, resampling, rows=len(rows), cleaned=cleaned, notes=notes)
        if out is None:
            _run(pairs, rows, scoring, scored, None, say, advance)
            return scored
        _check_kept(changed_metrics(identity.scored, signatures), overwrite, say)
        origin = {"signatures": signatures, "input": identity.content, "rows": identity.rows}
        with share.journal(out, origin, CHUNK, overwrite=overwrite) as journal:
            _run(pairs, rows, scoring, scored, journal, say, advance)
            write_signatures(share.file(out), {**identity.signed, **signatures})
    return scored


def _system(row: Row) -> str:
    """The name of a row's system, which JSON may hold as a number, 0 too; "" without one."""
    return "" if row.get("system") is None else str(row["system"])


def _written_to(out: str | Path | None, shard: str | None, overwrite: bool) -> tuple[Path | None, Shard]:
    """The file to write and which of its shards. Raises UserError."""
    if out is None:
        if shard is not None:
            raise UserError(f"{option('shard', shard)}: needs {option('out')}, beside which shards are written")
        return None, WHOLE
    out, share = Path(out), Shard.given(shard)
    check_free("out", share.file(out), overwrite)
    if out.suffix == ".gz":
        raise UserError(f"{option('out', out)}: rows are written as plain text; leave .gz out of the name")
    return out, share


def _scorers(metrics: Specs, language: str | None, prefixes: Sequence[str] | None) -> dict[str, Reward]:
    scorers = rewards.from_specs(metrics, language)
    return scorers if prefixes is None else all_cleaned(scorers, prefixes)


def _written(pairs: Pairs) -> Iterator[str]:
    """The first reference of each pair, or its candidate without one."""
    for row in pairs:
        candidate, references, _ = texts_of(row)
        yield next(iter(references), candidate)


def _check_kept(changed: list[str], overwrite: bool, say: Callable[[str], None]) -> None:
    """Raise UserError where existing scores would be replaced by others without ``overwrite``."""
    problem = f"rows already have scores by {', '.join(changed)}, with another signature or none recorded"
    if changed and not overwrite:
        fix = f"add {option('overwrite', True)} to replace them, or name both variants in one {option('metrics')}"
        raise UserError(f"{problem}; {fix}")
    if changed:
        say(f"{problem}; they are replaced")


def _run(
    pairs: Pairs,
    rows: range,
    scoring: Scoring,
    scored: Scored,
    journal: Journal | None,
    say: Callable[[str], None],
    advance: Advance,
) -> None:
    """Score those of ``rows`` that are not in the journal."""
    done = 0 if journal is None else journal.done
    if journal is not None and done:
        say(f"{journal.path}: {done:,} of {scored.rows:,} rows are already scored; continuing")
        for row in itertools.islice(journal.written(), done):
            scored.add(row, {label: row["scores"][label] for label in journal.origin["signatures"]})
    for chunk, results in scoring.chunks(chunked(itertools.islice(pairs, rows.start + done, rows.stop))):
        for row, result in zip(chunk, results, strict=True):
            scored.add(row, result.scores)
        if journal is not None:
            journal.append(_joined(row, *result) for row, result in zip(chunk, results, strict=True))
        done += len(chunk)
        advance("scoring", done, scored.rows)


def _joined(row: Row, scores: dict[str, float | None], undefined: dict[str, str]) -> str:
    """The row as JSON with its new scores and reasons; those of other metrics stay."""
    reasons = {metric: reason for metric, reason in row.get("undefined", {}).items() if metric not in scores}
    joined = {**row, "scores": {**row.get("scores", {}), **scores}, "undefined": {**reasons, **undefined}}
    return json.dumps(joined, ensure_ascii=False, allow_nan=False, default=of_table)
