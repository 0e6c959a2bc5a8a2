"""Table 7: the number of texts, their lengths and their judgments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from reproductions.movers.data import ESSAYS, SUMMARIES
from reproductions.published import ABSENT
from reproductions.reproduction import Reproduction
from rewards.encoding.vectors import VectorSource, load_once
from rewards.text.sentences import content_words, sentences
from rlsum.judgments.asap import by_punctuation
from rlsum.judgments.collection import Judgments
from rlsum.judgments.records import Judgment
from rlsum.pages.table import UNDEFINED, text_table

LENGTH_IN_SENTENCES = "sentences of a text, mean"  # sentences end at white space after punctuation
PAPER = {SUMMARIES: "3.4", ESSAYS: "7.5"}  # mean sentences, by the paper's abstract


def table7(texts: Sequence[Judgments], vectors: Path | None) -> Reproduction:
    """One column per set of texts."""
    facts = {judgments.name: _facts(judgments, vectors) for judgments in texts}
    names = list(facts[texts[0].name])
    rows = ((name, *(facts[judgments.name][name] for judgments in texts)) for name in names)
    published = "; ".join(f"{PAPER[judgments.name]} sentences in {judgments.name}" for judgments in texts)
    caption = f"Table 7. The texts. Published: the abstract says {published}; the table itself is {ABSENT}."
    records = tuple(
        {
            "texts": judgments.name,
            "statistic": name,
            "measured": facts[judgments.name][name],
            "published": PAPER[judgments.name] if name == LENGTH_IN_SENTENCES else ABSENT,
        }
        for judgments in texts
        for name in names
    )
    notes = tuple(f"{judgments.name}: {'; '.join(judgments.notes)}." for judgments in texts if judgments.notes)
    return Reproduction("table7", (text_table(caption, ("", *facts), rows),), records, notes=notes)


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
        "words weighed, mean": _mean(candidates, lambda text: sum(map(len, content_words(text)))),
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
    """The systems by name; a text judged twice or by two systems adds no new name."""
    return {system.removesuffix(" (2)") for row in rows for system in row.system.split(";")}


def _mean(texts: Sequence[str], count: Callable[[str], int]) -> str:
    return f"{np.mean([count(text) for text in texts]):.1f}"


def _unknown(texts: Sequence[str], vectors: Path | None) -> str:
    """The percentage of weighed words without a static vector."""
    if vectors is None:
        return UNDEFINED
    known = load_once(VectorSource.of(str(vectors))).index
    words = [word for text in texts for sentence in content_words(text) for word in sentence]
    return f"{100 * np.mean([word not in known for word in words]):.1f}" if words else UNDEFINED


def _range(counts: Sequence[int]) -> str:
    return f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
