"""Traits by which judges can tell systems apart without reading, and texts without some of them.

Judges who notice that one system writes in lower case, or always breaks off, do not judge blindly, whatever the names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations

from human_eval.design.outputs import AlignedOutputs
from human_eval.marks import length

# If 35% of one system's texts and none of the other's have a trait, a judge who knows it tells the systems of a pair
# apart in 68% of the cases.
WARN_FROM = 0.35  # difference of the shares of two systems
LONGER_FROM = 0.85  # share of articles on which one system writes more words

_MARKERS = re.compile(
    r"</?(?:s|t|n|q|pad|bos|eos|unk|sep|cls)>|\[(?:UNK|SEP|CLS|PAD)\]|\u2581|\u0120|(?<!\S)##|(?<=\S)@@"
)
_SENTENCE_MARKERS = re.compile(r"\s*</?(?:s|t|n|q|bos|eos)>\s*")
_SPACED = re.compile(r"\S [.,;:?!](?=\s|$)|``|-[lr][rs]b-|\w n't\b|\w 's\b", re.IGNORECASE)
_ENDS = (".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f", "\u061f", "\u0964")
_CLOSING = "\"'\u201d\u2019\u00bb)]\u300d\u300f "

# Trait -> whether a text has it. None: the text cannot show it.
TRAITS: Mapping[str, Callable[[str], bool | None]] = {
    "are in lower case": lambda text: text == text.lower() if text.lower() != text.upper() else None,
    "have spaces before punctuation": lambda text: bool(_SPACED.search(text)),
    "have markers such as <s> or [UNK]": lambda text: bool(_MARKERS.search(text)),
    "have several lines": lambda text: len(text.strip().splitlines()) > 1,
    "end without a full stop": lambda text: not text.rstrip(_CLOSING).endswith(_ENDS) if text.strip() else None,
}
NORMALISED = ("are in lower case", "have spaces before punctuation", "have several lines")  # what `normalised` removes


@dataclass(frozen=True)
class Giveaway:
    """A trait that two systems have in different shares of their texts. Of length, the shares are of longer texts."""

    trait: str
    systems: tuple[str, str]
    shares: tuple[float, float]

    def __str__(self) -> str:
        (first, second), (more, less) = self.systems, self.shares
        return f"{more:.0%} of the summaries of {first} {self.trait}, {less:.0%} of {second}"


def giveaways(outputs: AlignedOutputs) -> list[Giveaway]:
    """The traits that tell two systems apart, one for each trait: the two systems that differ most."""
    traits = []
    for trait, has in TRAITS.items():
        shares = {}
        for system in outputs.systems:
            known = [shown for texts in outputs.candidates.values() if (shown := has(texts[system])) is not None]
            if known:
                shares[system] = sum(known) / len(known)
        if shares:
            most, least = max(shares, key=lambda name: shares[name]), min(shares, key=lambda name: shares[name])
            if shares[most] - shares[least] >= WARN_FROM:
                traits.append(Giveaway(trait, (most, least), (shares[most], shares[least])))
    return traits + [giveaway for giveaway in [_length(outputs)] if giveaway]


def _length(outputs: AlignedOutputs) -> Giveaway | None:
    worst = None
    for first, second in combinations(outputs.systems, 2):
        lengths = [(_words(texts[first]), _words(texts[second])) for texts in outputs.candidates.values()]
        longer = sum(left > right for left, right in lengths) / len(lengths)
        shorter = sum(left < right for left, right in lengths) / len(lengths)
        systems = (first, second) if longer >= shorter else (second, first)
        shares = max(longer, shorter), min(longer, shorter)
        if shares[0] >= LONGER_FROM and (worst is None or shares[0] > worst.shares[0]):
            worst = Giveaway("are the longer ones", systems, shares)
    return worst


def _words(text: str) -> int:
    return length(in_print(text))


def normalised(outputs: AlignedOutputs) -> AlignedOutputs:
    """Outputs whose summaries are written alike: one paragraph, punctuation as in print, no markers of sentences.

    If a system writes in lower case, all summaries are put into lower case but for the first letter of sentences.
    Articles stay as they are. Unknown words, cut ends and lengths stay, since they are what judges judge.
    """
    lower = any(giveaway.trait == "are in lower case" for giveaway in giveaways(outputs))
    return outputs.rewritten(lambda text: in_print(text.lower() if lower else text, lower))


def in_print(text: str, capitals: bool = False) -> str:
    """A text of tokens as a newspaper prints it, in one paragraph."""
    text = " ".join(_SENTENCE_MARKERS.sub(" ", text).split())
    for written, printed in (("-lrb-", "("), ("-rrb-", ")"), ("-lsb-", "["), ("-rsb-", "]")):
        text = re.sub(written, printed, text, flags=re.IGNORECASE)
    text = re.sub(r"``\s*|\s*''", '"', text)
    text = re.sub(r'(^|\s)" ([^"]*?) "(?=\s|[.,;:?!]|$)', r'\1"\2"', text)
    text = re.sub(r"\s+([.,;:?!)\]%])", r"\1", text)
    text = re.sub(r"([(\[$\u00a3\u20ac])\s+", r"\1", text)
    text = re.sub(r"(?<=\w)\s+('(?:s|re|ve|ll|d|m)\b|n't\b)", r"\1", text, flags=re.IGNORECASE)
    if not capitals:
        return text
    return re.sub(r"(^|[.!?]\"?\s+)(\"?)(\w)", lambda match: match[1] + match[2] + match[3].upper(), text)
