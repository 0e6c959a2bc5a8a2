"""Output files of several systems -> the articles that all of them summarized, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from human_eval.study import StudyError
from human_eval.wording import counted
from rlsum.records import Output, read_outputs


@dataclass(frozen=True)
class Aligned:
    """``articles``: id -> text; ``candidates``: id -> system -> text, for every id that all ``systems`` have.

    ``left_out``: system -> how many of its ids another system lacks.
    """

    systems: tuple[str, ...]
    articles: dict[str, str]
    candidates: dict[str, dict[str, str]]
    left_out: dict[str, int]


def read_aligned(paths: Iterable[str | Path]) -> Aligned:
    """Read one or more outputs files, each with one or more systems, and align them. Raises StudyError, RecordError."""
    return align([(f"{path}, id {output.id}", output) for path in paths for output in read_outputs(path)])


def align(outputs: Sequence[tuple[str, Output]]) -> Aligned:
    """Align outputs, each beside words that say where it stands; systems and ids are sorted, not as they came.

    Raises StudyError for a single system, two outputs of one system for an id, no common id, an article that is missing
    or not the same in all systems, and text that is not Unicode.
    """
    by_system: dict[str, dict[str, tuple[str, Output]]] = {}
    for where, output in outputs:
        if not output.system.strip():
            raise StudyError(f"{where}: system is empty; name the system of each output")
        for name in ("id", "system", "source", "candidate"):
            check_unicode(f"{where}: {name}", getattr(output, name))
        rows = by_system.setdefault(output.system, {})
        if output.id in rows:
            raise StudyError(
                f"{where}: a second output of {output.system}, the first in {rows[output.id][0]}; keep one"
            )
        rows[output.id] = (where, output)
    systems = tuple(sorted(by_system))
    if len(systems) < 2:
        raise StudyError(f"only one system ({', '.join(systems)}); give the outputs of two or more to compare")
    common = sorted(set.intersection(*(set(rows) for rows in by_system.values())))
    if not common:
        counts = ", ".join(f"{system}: {counted(len(rows), 'output')}" for system, rows in sorted(by_system.items()))
        raise StudyError(f"no id has an output of every system ({counts}); ids must name the same articles")
    articles = {id: _article([by_system[system][id] for system in systems]) for id in common}
    candidates = {id: {system: by_system[system][id][1].candidate for system in systems} for id in common}
    left_out = {system: len(by_system[system]) - len(common) for system in systems}
    return Aligned(systems, articles, candidates, {system: count for system, count in left_out.items() if count})


def _article(outputs: Sequence[tuple[str, Output]]) -> str:
    """The article of one id. Files may differ in case, spaces and punctuation: the first is shown."""
    given = [(where, output) for where, output in outputs if output.source.strip()]
    if not given:
        raise StudyError(f"{outputs[0][0]}: no source; judges need the article, so give outputs that carry it")
    first_where, first = given[0]
    for where, output in given[1:]:
        if output.source != first.source and _letters(output.source) != _letters(first.source):
            raise StudyError(f"{where}: its source is not that of {first_where}; one id must name one article")
    return first.source


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def check_unicode(what: str, text: str) -> None:
    """Raise StudyError for half a character: JSON and command lines can hold one, and no file can."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise StudyError(f"{what} holds half a character ({error.reason}); repair the text") from error
