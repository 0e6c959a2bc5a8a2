"""Table 7: how many texts there are, how long they are, and how they were judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from reproductions.movers.data import ESSAYS, SUMMARIES
from reproductions.published import ABSENT
from reproductions.study import Study
from rewards.encoding.vectors import VectorSource, load_once
from rewards.text.sentences import content_words, sentences
from rlsum.judgments.asap import by_punctuation
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment
from rlsum.pages.table import UNDEFINED, Cell, Table

LENGTH_IN_SENTENCES = "sentences of a text, mean"  # ended by white space behind punctuation
PAPER = {SUMMARIES: "3.4", ESSAYS: "7.5"}  # mean sentences, by the paper's abstract


def table7(texts: Sequence[Judgments], vectors: Path | None) -> Study:
    """A column a set of texts."""
    facts = {each.name: _facts(each, vectors) for each in texts}
    names = list(facts[texts[0].name])
    rows = tuple((Cell(name), *(Cell(facts[each.name][name]) for each in texts)) for name in names)
    told = "; ".join(f"{PAPER[each.name]} sentences in {each.name}" for each in texts)
    caption = f"Table 7. The texts. Published: the abstract says {told}; the table itself is {ABSENT}."
    records = tuple(
        {
            "texts": each.name,
            "statistic": name,
            "measured": facts[each.name][name],
            "published": PAPER[each.name] if name == LENGTH_IN_SENTENCES else ABSENT,
        }
        for each in texts
        for name in names
    )
    notes = tuple(f"{each.name}: {'; '.join(each.notes)}." for each in texts if each.notes)
    return Study("table7", (Table(caption, ("", *facts), rows),), records, notes=notes)


def _facts(texts: Judgments, vectors: Path | None) -> dict[str, str]:
    rows = texts.rows
    scores = np.array([row.scores["overall"] for row in rows], dtype=np.float64)
    judges = [sum(value is not None for value in row.raw_scores.get("overall", ())) for row in rows]
    candidates = [row.candidate for row in rows]
    references = list(dict.fromkeys(reference for row in rows for reference in row.references))
    return {
        "texts": f"{len(rows):,}",
        "inputs": f"{len({(row.group, row.id) for row in rows}):,}",
        "systems": f"{len(_systems(rows)):,}",
        "references": f"{len(references):,}",
        LENGTH_IN_SENTENCES: _mean(candidates, by_punctuation),
        "the same as SMS splits them": _mean(candidates, lambda text: len(sentences(text))),
        "words of a text, mean": _mean(candidates, lambda text: len(text.split())),
        "words weighed, mean": _mean(candidates, _weighed),
        "sentences of a reference, mean": _mean(references, by_punctuation),
        "words of a reference, mean": _mean(references, lambda text: len(text.split())),
        "words without a vector, %": _unknown(candidates, vectors),
        "lowest score": f"{scores.min():g}",
        "highest score": f"{scores.max():g}",
        "mean score": f"{scores.mean():.2f}",
        "different scores": f"{len(np.unique(scores)):,}",
        "judges of a text": _range(judges),
    }


def _systems(rows: Sequence[Judgment]) -> set[str]:
    """Texts judged twice or of two systems count as of the systems they name."""
    return {system.removesuffix(" (2)") for row in rows for system in row.system.split(";")}


def _mean(texts: Sequence[str], count: Callable[[str], int]) -> str:
    return f"{np.mean([count(text) for text in texts]):.1f}"


def _weighed(text: str) -> int:
    return sum(map(len, content_words(text)))


def _unknown(texts: Sequence[str], vectors: Path | None) -> str:
    """The share of the weighed words that the static movers do not know."""
    if vectors is None:
        return UNDEFINED
    known = load_once(VectorSource.of(str(vectors))).index
    words = [word for text in texts for said in content_words(text) for word in said]
    return f"{100 * np.mean([word not in known for word in words]):.1f}" if words else UNDEFINED


def _range(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
