"""The description of a reward, read from its docstrings: formula, range, paper and options.

A docstring explains an option as ``option``: meaning, up to the end of the paragraph or the next option. It is the
docstring of the reward or of its dataclass of options (see ``rewards.options.takes``). ``SHARED`` explains the options
that several families share.
"""

from __future__ import annotations

import inspect
import math
import re
import sys
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from rewards.base import TABLE, is_reward, resolve
from rewards.options import parameters

SHARED = {
    # texts and tokens
    "direction": "whose tokens are averaged over: the candidate's (precision), the reference's (recall), or both (f1)",
    "language": "ISO 639-1 code of the texts, such as fr, hi or ja; none: as for English",
    "stemmer": "compare stems of the words; none: where NLTK has a stemmer of the language (Porter's for English)",
    "tokenizer": "official: runs of a-z and 0-9, as in rouge-score; unicode: words of every script; character: letters "
    "and digits; spacy: spaCy's tokens, punctuation too; none: by the language",
    "split": "how a text is cut into sentences; auto: lines are sentences, a text of one line is split by spaCy",
    "stopwords": "the list of words without weight, in the language of the texts; NLTK's must be installed",
    # contextual vectors
    "encoder": "minilm (all-MiniLM-L6-v2 of the demo extra), a directory, or a hub name",
    "idf": "weigh tokens by rarity in a file of texts or a saved one (.npz); fitted: in what fit(texts) is given; "
    "references: in each call's references",
    "rescale": "a published baseline file, or one by `rlsum baseline`: scores become (x - b) / (1 - b)",
    "long_texts": "a text longer than the encoder reads is read in overlapping windows, or truncated",
    "device": "where the encoder runs",
    # lexical
    "tokenize": "sacrebleu's tokenizer; auto: 13a, in languages without spaces zh (Chinese) or char",
    "smooth_method": "sacrebleu's smoothing of orders without a match",
    "smooth_value": "of the smoothing, for floor and add-k",
    "effective_order": "leave out orders that a short text cannot have",
    "max_ngram_order": "the longest n-grams that count",
    "lowercase": "ignore letter case",
    "zero_order": "an order of n-grams without a match makes the score 0 (as printed), or ends the product (stop)",
    "clip": "count an n-gram at most as often as it occurs in the reference",
    "stages": "how words are matched; none: exact-stem where NLTK has a stemmer of the language, else exact",
    "alpha": "weight of recall against precision",
    "beta": "exponent of the penalty for fragments",
    "gamma": "the largest penalty for fragments",
    # BLEU Neighbors
    "examples": "judged texts: JSONL rows of text and score",
    "kernel": "the reward that measures the similarity of two texts",
    "tau": "the lowest similarity of a neighbour; by default the paper's: .08 for bleu-star, .06 for ROUGE, .18 for "
    "meteor, .10 for rescaled bertscore",
    "a": "the fewest neighbours for a score",
    "b": "the largest share of the examples that may be neighbours",
    "leave_one_out": "exclude examples with the candidate's own text",
    "subsample": "use a random sample of this many examples",
    # combination
    "parts": "rewards with their weights, written reward=weight",
    "reward": "the inner reward",
    "seed": "of the random numbers",
}

# Examples of rewards whose required options do not make an example.
WRITTEN = {
    **{name: f"{name}(vectors=...)" for name in ("wms", "sms", "s+wms")},  # or encoder=...
    "weighted": "weighted(rouge-l=0.7, rouge-2=0.3)",
    "length": "length(high=60)",
    "cached": "cached(reward=rouge-l)",
    "limited": "limited(reward=rouge-l, seconds=2)",
    "cleaned": "cleaned(reward=rouge-l)",
}


@dataclass(frozen=True)
class Option:
    """An option: its ``default`` as written (``...``: required), its ``choices`` if there are any, its ``meaning``."""

    default: str
    choices: tuple[str, ...]
    meaning: str


@dataclass(frozen=True)
class Description:
    """A reward and its ``options`` with their defaults (``...``: required).

    ``text``: what it computes. ``scores``: what a call returns (range, empty candidate, NaN). ``source``: the paper or
    code. ``explained``: each option in full. ``written``: an example with the required options, ``...`` for a value.
    """

    name: str
    summary: str
    options: dict[str, str]
    text: str
    scores: str
    source: str
    explained: dict[str, Option]
    written: str

    def __repr__(self) -> str:
        options = [f"  {key}={option.default}: {option.meaning}" for key, option in self.explained.items()]
        return "\n".join([f"{self.name}: {self.summary}", *options])


def describe(name: str) -> Description:
    """The description of a reward for ``rlsum rewards``. Imports its module and loads no model."""
    found = resolve(name)
    documentation = inspect.getdoc(found) or ""
    fields = {} if is_reward(found) else parameters(name, found)
    classes = getattr(getattr(found, "options", None), "__mro__", ())
    texts = [documentation, *(vars(kind).get("__doc__") or "" for kind in classes)]
    explained = {key: _option(key, field, texts) for key, field in fields.items()}
    required = ", ".join(f"{key}=..." for key, option in explained.items() if option.default == "...")
    return Description(
        name,
        flowing(documentation.partition("\n\n")[0]),
        {key: option.default for key, option in explained.items()},
        _without_options(documentation, fields),
        _scores(found),
        inspect.getdoc(sys.modules[found.__module__]) or "",
        explained,
        WRITTEN.get(name, f"{name}({required})" if required else name),
    )


def stated_range(name: str) -> tuple[float, float]:
    """Lowest and highest score of a reward of this package by its description; infinite where that has no numbers."""
    stated = re.search(r"in \[(-?\d+), (-?\d+)\]", _scores(resolve(name))) if name in TABLE else None
    return (float(stated[1]), float(stated[2])) if stated else (-math.inf, math.inf)


def flowing(documentation: str) -> str:
    """Paragraphs as one line each, without the marks of code."""
    paragraphs = re.split(r"\n\s*\n", documentation.strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs).replace("``", "")


def _option(name: str, field: inspect.Parameter, texts: Sequence[str]) -> Option:
    """``texts``: docstrings that may explain it, the first that does counts."""
    default = "..." if field.default is field.empty else str(field.default).lower()
    kinds = (field.annotation, *get_args(field.annotation))  # an optional choice is a union
    choices = next((tuple(map(str, get_args(kind))) for kind in kinds if get_origin(kind) is Literal), ())
    written = [re.search(rf"``{name}``: (.+?)(?=\s``|\n\n|\Z)", text, re.DOTALL) for text in texts]
    meaning = next((flowing(match[1]).rstrip(".") for match in written if match), _shared(name, choices))
    return Option(default, choices, meaning)


def _shared(name: str, choices: tuple[str, ...]) -> str:
    """The meaning in ``SHARED``, without choices that this reward does not have."""
    parts = SHARED.get(name, "").split("; ")
    about = [re.match(r"([\w-]+): ", part) for part in parts]
    kept = (*choices, "none")
    return "; ".join(part for part, of in zip(parts, about, strict=True) if not (choices and of) or of[1] in kept)


def _without_options(documentation: str, options: dict[str, inspect.Parameter]) -> str:
    """The paragraphs that do not begin with an option, which the list of options shows."""
    starts = tuple(f"``{name}``: " for name in options)
    paragraphs = re.split(r"\n\s*\n", documentation)
    return flowing("\n\n".join(paragraph for paragraph in paragraphs if not starts or not paragraph.startswith(starts)))


def _scores(found: Any) -> str:
    """What a call returns: the docstring of ``scores`` (or ``__call__``) of the class, or of what a function builds."""
    built = found
    if inspect.isfunction(found) and not is_reward(found):
        built = typing.get_type_hints(found).get("return")
    call: Callable[..., Any] | None = getattr(built, "scores", getattr(built, "__call__", None))  # noqa: B004
    return "" if call is None or inspect.isfunction(built) else flowing(inspect.getdoc(call) or "")
