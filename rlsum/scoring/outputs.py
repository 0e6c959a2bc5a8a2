"""Scores of outputs: one vector for each metric and each property, aligned with the outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rewards.base import Reward, Specs, Unavailable, complete, from_spec, labelled
from rewards.scoring import CorpusCounts, Inputs, score_components
from rewards.wrappers.cleaned import all_cleaned, some_raw
from rlsum.errors import RecordError, option
from rlsum.evaluation.rows import Floats
from rlsum.pages.shown import Advance, quiet
from rlsum.readers import is_text
from rlsum.records import ColumnCheck, Output, inputs_of, other_fields, read_outputs, system_of
from rlsum.scoring.debris import Survey, clean_records
from rlsum.scoring.pairs import Listed, TextFiles
from rlsum.scoring.properties import PROPERTIES
from rlsum.scoring.text_column import BY_NAME, TextColumns


@dataclass(frozen=True)
class SystemScores:
    """Scores of one system's outputs, (n,) each, NaN = undefined; ``missing``: metric -> why it cannot be computed.

    ``corpus``: metric -> the one value of all outputs together, for metrics that have one beside the mean (BLEU);
    ``counts``: what that is made of, by output (n, k), and the function of their sum.
    """

    system: str
    ids: tuple[str, ...]
    metrics: dict[str, Floats]
    properties: dict[str, Floats]
    missing: dict[str, str] = field(default_factory=dict)
    corpus: dict[str, float] = field(default_factory=dict)
    counts: dict[str, CorpusCounts] = field(default_factory=dict)


def check_columns(systems: Mapping[str, Sequence[Output]], rewards: Mapping[str, Reward]) -> None:
    """Raise RecordError where an output lacks a column that one of ``rewards`` reads."""
    columns = ColumnCheck(rewards.values())
    for system, outputs in systems.items():
        for output in outputs:
            columns.check(f"{system}, id {output.id!r}", output.columns)


def score_system(
    system: str, outputs: Sequence[Output], rewards: Mapping[str, Reward], missing: Mapping[str, str] | None = None
) -> SystemScores:
    """The scores of one system's outputs by every reward, and their properties. Raises what a reward raises.

    ``missing`` (metric -> reason) is for reports that continue without a metric: those that need what is not installed
    are added to it instead of raising Unavailable.
    """
    inputs, columns, unavailable = inputs_of(outputs), {}, dict(missing or {})
    for label, reward in rewards.items():
        try:
            columns[label] = score_column(reward, inputs)
        except Unavailable as error:
            if missing is None:
                raise
            unavailable[label] = str(error)
    ids = tuple(output.id for output in outputs)
    counters = {label: getattr(rewards[label], "corpus_counts", None) for label in columns}
    counts = {label: counter(inputs) for label, counter in counters.items() if counter is not None}
    corpus = {label: value(rows.sum(axis=0)) for label, (rows, value) in counts.items()}
    return SystemScores(system, ids, columns, measure_properties(outputs), unavailable, corpus, counts)


def score_systems(
    systems: Mapping[str, Sequence[Output]], scorers: Mapping[str, Reward], clean: bool, advance: Advance = quiet
) -> tuple[dict[str, SystemScores], Mapping[str, Reward], list[str]]:
    """Scores by system, the rewards that gave them, and what the texts hold besides text; ``clean``: without that."""
    survey = Survey.of((row.system, row.candidate, row.references) for row in chain.from_iterable(systems.values()))
    scorers = all_cleaned(scorers, survey.prefixes) if clean else scorers
    check_columns(systems, scorers)
    scores = {}
    for number, (system, members) in enumerate(systems.items()):
        advance("systems", number, len(systems))
        records = clean_records(members, survey.prefixes) if clean else members
        scores[system] = score_system(system, records, scorers, {})
    return scores, scorers, survey.sentences(clean or not some_raw(scorers.values()))


def load_available(specs: Specs, language: str | None = None) -> tuple[dict[str, Reward], dict[str, str]]:
    """Rewards by label as `rewards.from_specs` has them, loaded, and label -> why one cannot be loaded on this machine.

    Raises RewardError for any other problem, and Unavailable where no reward can be loaded.
    """
    loaded: dict[str, Reward] = {}
    missing: dict[str, Unavailable] = {}
    for label, spec in labelled(specs).items():
        try:
            reward = from_spec(spec, language)
            _ = reward.signature  # reads vectors and encoders
            loaded[label] = reward
        except Unavailable as error:
            missing[label] = error
    if missing and not loaded:
        raise next(iter(missing.values()))
    return loaded, {label: str(error) for label, error in missing.items()}


def measure_properties(outputs: Sequence[Output]) -> dict[str, Floats]:
    """The values (n,) of every property of ``PROPERTIES``, unscaled, by its name."""
    functions = [measure.function for measure in PROPERTIES.values()]
    rows = [[function(output.candidate, output.source) for function in functions] for output in outputs]
    columns = np.array(rows, dtype=np.float64).reshape(len(rows), len(functions)).T
    return dict(zip(PROPERTIES, columns.copy(), strict=True))


def by_system(outputs: Sequence[Output]) -> dict[str, list[Output]]:
    """Outputs by system, in order of first appearance. Raises RecordError for two outputs of one id by a system."""
    systems: dict[str, list[Output]] = {}
    for output in outputs:
        systems.setdefault(output.system, []).append(output)
    for system, members in systems.items():
        _check_ids(system, members)
    return systems


def _check_ids(system: str, outputs: Sequence[Output]) -> None:
    for identity, count in Counter(output.id for output in outputs).items():
        if count > 1:
            raise RecordError(f"system {system!r} has two outputs with id {identity!r}; keep one, or rename one")


def read_systems(
    paths: Sequence[Path],
    references: Sequence[Path] = (),
    columns: TextColumns = BY_NAME,
) -> dict[str, list[Output]]:
    """Outputs of files by system; a name of two files becomes ``name (file)``. Raises RecordError for a bad file.

    With files of ``references`` all have the same articles in the same order, as `TextFiles` reads them.
    """
    if not references and (column := columns.candidate_column or columns.reference_column):
        fix = "give files of references, too, or convert the outputs with `rlsum data outputs`"
        raise RecordError(f"column {column!r}: records have `candidate` and `references`; {fix}")
    if texts := [path for path in paths if not references and is_text(path)]:
        example = option("references", texts[-1] if len(texts) > 1 else "FILE")
        raise RecordError(f"{texts[0]}: texts alone, one a line; give their references, as in {example}")
    if len(set(paths)) < len(paths):
        raise RecordError(f"{next(path for path in paths if paths.count(path) > 1)} is given twice; leave one out")
    files = {
        path: by_system(
            _rows(TextFiles(path, tuple(references), columns))
            if references
            else read_outputs(path, lists=columns.reference_lists)
        )
        for path in paths
    }
    names = [name for systems in files.values() for name in systems]
    return {
        name if names.count(name) == 1 else f"{name} ({path})": outputs
        for path, systems in files.items()
        for name, outputs in systems.items()
    }


def _rows(texts: TextFiles) -> list[Output]:
    texts.check()
    return [_output(row, system_of(texts.candidates)) for row in texts]


def _output(row: Mapping[str, Any], system: str) -> Output:
    texts = {name: row[name] for name in ("id", "source", "candidate")}
    return Output(**texts, references=tuple(row["references"]), system=system, columns=other_fields(row))


def outputs_of(
    texts: Mapping[str, Sequence[Any]],
    references: Sequence[Sequence[str] | str],
    sources: Sequence[str],
    columns: Mapping[str, Sequence[Any]] | None = None,
) -> dict[str, list[Output]]:
    """Outputs by system from lists of texts, all of the same articles in the same order; outputs stay as they are."""
    if not texts:
        raise RecordError("outputs: no system; give a mapping from systems to their texts")
    systems = {}
    for system, members in texts.items():
        listed = [*members] if isinstance(members, list | tuple) else []  # a column of pandas is neither true nor false
        if listed and all(isinstance(member, Output) for member in listed):
            _check_ids(system, listed)
            systems[system] = listed
            continue
        pairs = Listed.of(members, references, sources, columns)
        pairs.check()
        systems[system] = [_output(row, system) for row in pairs]
    return systems


def score_column(reward: Reward, inputs: Inputs) -> Floats:
    """A reward's scores (n,) of n inputs. Raises RewardError where it returns another shape, or an infinite score."""
    return score_components(complete(reward), inputs)[0]
