"""Outputs of several systems -> the articles that all of them summarized, with all summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from human_eval.formatting import counted, is_unicode, letters
from human_eval.study import StudyError
from rlsum.data.articles import Articles
from rlsum.readers import records
from rlsum.records import Output, read_outputs


@dataclass(frozen=True)
class AlignedOutputs:
    """``articles``: id -> text; ``candidates``: id -> system -> text, for the ids that all ``systems`` have in common.

    ``left_out``: system -> number of its ids that another system lacks; systems that lose none are absent.
    ``repeated``: ids left out since an earlier one has their article: it would count as several.
    """

    systems: tuple[str, ...]
    articles: dict[str, str]
    candidates: dict[str, dict[str, str]]
    left_out: dict[str, int]
    repeated: int = 0

    def rewritten(self, write: Callable[[str], str]) -> AlignedOutputs:
        """These outputs with ``write`` of each summary."""
        texts = {item: {name: write(text) for name, text in texts.items()} for item, texts in self.candidates.items()}
        return replace(self, candidates=texts)


def read_aligned(paths: Iterable[str | Path], articles: Articles | None = None) -> AlignedOutputs:
    """Read and align outputs files of one or more systems each, with ``articles`` of a file of their own, if given.

    Raises StudyError or RecordError.
    """
    outputs = ((path, output) for path in paths for output in _with_articles(path, articles))
    return align([(f"{path}, id {output.id}", output) for path, output in outputs])


def _with_articles(path: str | Path, articles: Articles | None) -> list[Output]:
    outputs = read_outputs(path, references=False)
    if articles is None:
        return outputs
    with_ids = any("id" in read.fields for read in records(Path(path)))
    pairs = zip(outputs, articles.of_outputs(path, [output.id for output in outputs], with_ids), strict=True)
    return [replace(output, id=name, source=articles.text(row)) for output, (name, row) in pairs]


def align(outputs: Sequence[tuple[str, Output]]) -> AlignedOutputs:
    """Align outputs, each with its location for messages. Systems and ids are sorted.

    Raises StudyError for a single system, two outputs of a system for one id, no common id, an article that is missing
    or differs between systems, and text that is not valid Unicode.
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
                f"{where}: a second output of {output.system}, the first in {rows[output.id][0]}; keep one, or "
                "name two systems apart"
            )
        rows[output.id] = (where, output)
    systems = tuple(sorted(by_system))
    if len(systems) < 2:
        raise StudyError(f"only one system ({', '.join(systems)}); give the outputs of two or more")
    common = sorted(set.intersection(*(set(rows) for rows in by_system.values())))
    if not common:
        counts = ", ".join(f"{system}: {counted(len(rows), 'output')}" for system, rows in sorted(by_system.items()))
        raise StudyError(f"no id has an output of every system ({counts}); give outputs of the same articles")
    articles = {id: _article([by_system[system][id] for system in systems]) for id in common}
    first_of = {letters(text): id for id, text in reversed(articles.items())}
    kept = {id: text for id, text in articles.items() if first_of[letters(text)] == id}
    candidates = {id: {system: by_system[system][id][1].candidate for system in systems} for id in kept}
    left_out = {system: len(by_system[system]) - len(common) for system in systems}
    lost = {system: count for system, count in left_out.items() if count}
    return AlignedOutputs(systems, kept, candidates, lost, len(articles) - len(kept))


def _article(outputs: Sequence[tuple[str, Output]]) -> str:
    """The article of one id: the first one with capitals and small letters, else the first.

    Files may differ in case, spaces and punctuation: a model may have read lower case, which people read worse.
    """
    with_source = [(where, output) for where, output in outputs if output.source.strip()]
    if not with_source:
        fix = "give outputs that include it, or --articles FILE"
        raise StudyError(f"{outputs[0][0]}: no source; judges read the article, so {fix}")
    first_where, first = with_source[0]
    for where, output in with_source[1:]:
        if output.source != first.source and letters(output.source) != letters(first.source):
            raise StudyError(f"{where}: its source differs from that of {first_where}; one id must name one article")
    sources = [output.source for _, output in with_source]
    return next((text for text in sources if text not in (text.lower(), text.upper())), first.source)


def check_unicode(what: str, text: str) -> None:
    """Raise StudyError for text that is not valid Unicode."""
    if not is_unicode(text):
        raise StudyError(f"{what} is not valid Unicode; repair the text")
