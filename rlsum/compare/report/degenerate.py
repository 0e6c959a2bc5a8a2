"""What the summaries are as texts, before any score: signs of degeneration, and how much is copied."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rewards.text.languages import language_of
from rewards.text.words import pieces
from rlsum import config as configs
from rlsum.compare.cells import Cell
from rlsum.compare.folder import Folder
from rlsum.compare.results import Results
from rlsum.generation.options import Generating, decoding_of
from rlsum.pages.table import joined
from rlsum.records import Output, read_outputs
from rlsum.scoring.degeneration import MOSTLY, SIGNS, LengthLimits, degeneration
from rlsum.scoring.properties import copy_rate, novelty
from rlsum.training import checkpoint

EXTRACT = 0.95, 0.1  # at least so many words copied, at most so many bigrams new: an extract
ALONE, GLUED = re.compile(r"\w\s[.,;:!?](?:\s|$)"), re.compile(r"\w[.,;:!?](?:\s|$)")
COPYING = {"copy-rate": copy_rate, "novelty": novelty}


@dataclass(frozen=True)
class Signs:
    """A system's shares of texts with each sign of degeneration, by seed; ``limit``: its tokens at most, if known."""

    title: str
    shares: dict[int | None, dict[str, float]]
    limit: int | None = None

    def share(self, sign: str) -> str:
        """In which share of the texts a sign holds, in the seeds where it is frequent; "" where it is in none."""
        seeds = [seed for seed, shares in self.shares.items() if shares[sign] >= SIGNS[sign].alarm]
        if not seeds:
            return ""
        share = float(np.mean([self.shares[seed][sign] for seed in seeds]))
        return f"{share:.0%}" + (f" in seed {joined([*map(str, seeds)])}" if len(seeds) < len(self.shares) else "")

    @property
    def bound(self) -> str:
        """The limit of length in words; "" where it is unknown."""
        return "" if self.limit is None else f" (decoding.max_length={self.limit})"


class Spelling(NamedTuple):
    """How most texts of a system are written; None where they do not show it."""

    cased: bool
    split: bool | None

    @classmethod
    def of(cls, texts: Sequence[str]) -> Spelling:
        """``split``: whether a space is before the marks that follow words, as a tokenizer leaves it."""
        cased = sum(text != text.lower() for text in texts) > MOSTLY * len(texts)
        alone, glued = (sum(map(len, map(mark.findall, texts))) for mark in (ALONE, GLUED))
        return cls(cased, None if not alone + glued else alone > glued)

    def unlike(self, other: Spelling) -> list[str]:
        """In what the texts differ from others; [] for the same."""
        words = ["cased" if self.cased else "lower-cased"] if self.cased != other.cased else []
        if None not in (self.split, other.split) and self.split != other.split:
            words.append("tokenised, with spaces before marks" if self.split else "not tokenised")
        return words


@dataclass(frozen=True)
class Read:
    """What reading all summaries found: the signs of each system and of the references, and how much these copy.

    ``spelling``: how each system writes words, where case and marks matter.
    """

    systems: dict[str, Signs] = field(default_factory=dict)
    spelling: dict[str, Spelling] = field(default_factory=dict)
    references: dict[str, float] = field(default_factory=dict)
    copied: dict[str, float] = field(default_factory=dict)

    def at_limit(self, system: str) -> str:
        """That most summaries of a system end at the limit of length; "" otherwise."""
        signs = self.systems.get(system)
        share = "" if signs is None else signs.share("limit")
        return f"{share} of its summaries {SIGNS['limit'].predicate}{signs.bound}" if signs and share else ""


def read_texts(folder: Folder, cells: Sequence[Cell], results: Results) -> Read:
    """Read the summaries of all cells of the rows of ``results``."""
    language = folder.comparison.language
    read = Read()
    for cell in cells:
        path = folder.outputs(cell).get(results.method)
        if cell.system not in results.systems or cell.name in results.failed or path is None or not path.exists():
            continue
        outputs = read_outputs(path)
        if not read.references and any(output.references for output in outputs):
            _add_references(read, outputs, language)
        read.spelling.setdefault(cell.system, Spelling.of([output.candidate for output in outputs]))
        limits = limits_of(folder, cell, results.method)
        signs = read.systems.setdefault(cell.system, Signs(results.systems[cell.system].title, {}, limits.longest))
        signs.shares[cell.seed] = degeneration(outputs, limits, language)
    return read


def _add_references(read: Read, outputs: Sequence[Output], language: str | None) -> None:
    references = [replace(output, candidate=output.references[0]) for output in outputs if output.references]
    read.references.update(degeneration(references, language=language))
    for name, function in COPYING.items():
        values = np.array([function(output.candidate, output.source) for output in references])
        if not np.isnan(values).all():
            read.copied[name] = float(np.nanmean(values))


def limits_of(folder: Folder, cell: Cell, method: str) -> LengthLimits:
    """The lengths that decoding allowed a cell's model, and how its tokens are counted; unknown for given outputs."""
    if cell.model is None:
        return LengthLimits()
    stored = checkpoint.described(cell.model)
    if stored is None and not cell.config:
        return LengthLimits()
    config = configs.check(dict(cell.config or {}), cell.name) if stored is None else stored.config
    comparison = folder.comparison
    section = comparison.choosing[cell.system] if cell.kind == "choosing" else comparison.decoding[method]
    decoding = decoding_of(config.decoding, Generating(**asdict(section)), sampled=cell.kind == "choosing")
    limits = LengthLimits(decoding.min_length, decoding.max_length)
    if config.model is not None and config.model.own_tokenizer:
        return limits if stored is None else replace(limits, count=_subwords(str(stored.folder)))
    characters = language_of(config.language).splitter == "character"
    return replace(limits, count=_characters) if characters else limits


def _characters(text: str) -> int:
    return sum(not piece.isspace() for piece in pieces(text))


def _subwords(folder: str) -> Callable[[str], int]:
    from rlsum.models.pretrained.loading import load_tokenizer

    tokenizer = load_tokenizer(folder)
    return lambda text: len(tokenizer(text, verbose=False)["input_ids"])


def no_texts(read: Read) -> str:
    """Which systems have frequent signs of degeneration; "" if none has."""
    signs = []
    for name, sign in SIGNS.items():
        shares = {system.title: share for system in read.systems.values() if (share := system.share(name))}
        if not shares:
            continue
        bounds = (
            {system.bound for system in read.systems.values() if system.title in shares} if name == "limit" else {""}
        )
        usual = read.references.get(name, 0.0)
        beside = f" (of the references {usual:.0%})" if usual >= sign.alarm else ""
        listed = joined([f"of {title} {share}" for title, share in shares.items()])
        bound = bounds.pop() if len(bounds) == 1 else ""
        signs.append(f"{listed} {sign.predicate}{bound}{beside}")
    return f"Read the summaries before the scores: {'; '.join(signs)}." if signs else ""


def findings_of_texts(read: Read, results: Results) -> Iterator[str]:
    """That the summaries are texts, if they are; then how much is copied, and what is spelled otherwise."""
    if read.systems and not no_texts(read):
        names = ", ".join(sign.name for sign in SIGNS.values())
        yield f"All systems write texts: signs of degeneration ({names}) are rare."
    yield from _copying(read, results)
    yield from _spelled(read, results)


def _spelled(read: Read, results: Results) -> Iterator[str]:
    """Outputs of other systems that are written unlike those of the models: what was measured is not the same."""
    of_models = next((read.spelling[system.name] for system in results.compared if system.name in read.spelling), None)
    for name, spelling in read.spelling.items():
        if of_models is not None and results.systems[name].kind == "outputs" and (words := spelling.unlike(of_models)):
            yield (
                f"The summaries of {results.systems[name].title} are {joined(words)}, unlike those of the models: its "
                "length, properties and scores by metrics that read case or marks are not comparable with theirs."
            )


def _copying(read: Read, results: Results) -> Iterator[str]:
    """How extractive the summaries of the models are, beside the references."""
    rows = [system.properties for system in results.compared if COPYING.keys() <= system.properties.keys()]
    means = {name: [float(np.nanmean(row[name])) for row in rows if not np.isnan(row[name]).all()] for name in COPYING}
    if not all(means.values()):
        return
    copied, new = (means[name] for name in COPYING)
    usual = ""
    if COPYING.keys() <= read.copied.keys():
        usual = f" (of the references {_percent(read.copied['copy-rate'])} and {_percent(read.copied['novelty'])})"
    extracts = min(copied) >= EXTRACT[0] and max(new) <= EXTRACT[1]
    yield (
        f"Of the words of the models' summaries {_range(copied)} are in the article, and {_range(new)} of their "
        f"bigrams are not{usual}{': they are extracts, whatever they are trained on' if extracts else ''}."
    )


def _range(values: Sequence[float]) -> str:
    low, high = _percent(min(values)), _percent(max(values))
    return low if low == high else f"{low.removesuffix('%')} to {high}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
