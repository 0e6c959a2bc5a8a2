"""What every reward class shares: the inputs of a call and their checks, the base classes, and the signature's text.

A candidate with nothing to score gets the reward's floor, an item without a reference that can be scored NaN.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from rewards.errors import RewardError, Unavailable, missing_package
from rewards.rows import fault_of_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Unscorable = Callable[[str], str | None]  # why a text cannot be scored; None = it can

Direction = Literal["precision", "recall", "f1"]
HEADED = {"f1": "F1", "precision": "precision", "recall": "recall"}  # a direction in the heading of a column
VERSION = "2"  # raised when a score of this package changes for the same texts and options
SHOWN = 60  # characters of a text in a message


# Of a value of all texts together: what it is made of, a row (k,) a text, and the value of a sum of rows.
CorpusCounts: TypeAlias = "tuple[NDArray[np.float64], Callable[[NDArray[np.float64]], float]]"


class Inputs(NamedTuple):
    """What a reward reads, in the order of its arguments: ``reward(*inputs)``. ``columns``: name -> n values."""

    candidates: Sequence[str]
    references: Sequence[Sequence[str]] | None = None
    sources: Sequence[str] | None = None
    columns: Mapping[str, Sequence[Any]] | None = None

    def take(self, rows: Sequence[int]) -> Inputs:
        """The inputs of some rows, in their order."""
        return Inputs(*_mapped(self, lambda column: [column[row] for row in rows]))

    def item(self, row: int) -> Item:
        """One row."""
        return Item(*_mapped(self, itemgetter(row)))


class Item(NamedTuple):
    """One row of ``Inputs``, in the order of the arguments of ``undefined``: ``reward.undefined(*item)``."""

    candidate: str
    references: Sequence[str] | None = None
    source: str | None = None
    columns: Mapping[str, Any] | None = None

    def inputs(self) -> Inputs:
        """The inputs that hold this row alone."""
        return Inputs(*_mapped(self, lambda value: [value]))


def _mapped(inputs: Iterable[Any], change: Callable[[Any], Any]) -> Iterator[Any]:
    """Candidates, references, sources and each column through ``change``; None stays None."""
    for values in inputs:
        if isinstance(values, Mapping):
            yield {name: change(column) for name, column in values.items()}
        else:
            yield None if values is None else change(values)


@dataclass(kw_only=True)
class DirectionOption:
    """The option of rewards that average over the tokens of a text."""

    direction: Direction = "f1"
    """whose tokens are averaged over: the candidate's (precision), the reference's (recall), or both (f1)"""


class ReadsColumns(Protocol):
    """The part of a reward that says which columns of a dataset it reads."""

    name: str
    columns: Sequence[str]
    optional_columns: Sequence[str]


class BaseReward(ABC):
    """A reward from two methods: ``scores`` of many items and the ``reason`` why one has none.

    A subclass has a ``name`` and a ``signature``. ``columns`` names the dataset columns that it needs,
    ``optional_columns`` those that it reads where they are given.
    """

    name: str
    columns: Sequence[str] = ()
    optional_columns: Sequence[str] = ()
    written: str | None = None  # as which text it was made from one

    @property
    def heading(self) -> str:
        """The name with the options without which a column of a table misleads, `rouge-l F1 stems`; loads nothing."""
        return self.name

    @property
    def notes(self) -> Sequence[str]:
        """What a report of its scores should say, after it was called; here nothing."""
        return ()

    def __repr__(self) -> str:
        return f"<reward {self.heading}>"

    def __call__(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
        columns: Mapping[str, Sequence[Any]] | None = None,
    ) -> NDArray[np.float64]:
        """``(n,)`` float64, NaN where undefined. Raises RewardError for missing inputs or lengths that differ."""
        inputs = checked(self, Inputs(candidates, references, sources, columns))
        try:
            return self.scores(inputs)
        except ModuleNotFoundError as error:
            if reason := missing_package(error):
                raise Unavailable(f"{self.name}: {reason}") from None
            raise

    def undefined(
        self,
        candidate: str,
        references: Sequence[str] | None = None,
        source: str | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> str | None:
        """Why the score of this item is NaN, to follow "item 3 is undefined: "; None where it is defined."""
        return self.reason(Item(candidate, _listed(references), source, columns_for(self, columns)))

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything the score depends on: options, versions, hashes of vectors and encoders."""

    @abstractmethod
    def scores(self, inputs: Inputs) -> NDArray[np.float64]:
        """``(n,)`` float64 of checked inputs, NaN where undefined, the floor for an empty candidate.

        ``rlsum rewards NAME`` prints the docstring of a reward's own.
        """

    def reason(self, item: Item) -> str | None:
        """Why the score of this item is NaN; None, as here, where it is defined."""
        return None


class ReferenceReward(BaseReward):
    """A reward that compares a candidate with its references."""

    @abstractmethod
    def _unscorable(self, text: str) -> str | None:
        """Why a text that is not empty cannot be scored, to follow "its reference "; None where it can."""

    def reason(self, item: Item) -> str | None:
        """Why no reference can be scored; None where one can."""
        if not item.references:
            return "it has no reference"
        reasons = [self._unscorable(text) for text in item.references]
        if None in reasons:
            return None
        return f"its reference {reasons[0] if item.references[0].strip() else 'is empty'}"


def checked(reward: ReadsColumns, inputs: Inputs) -> Inputs:
    """The inputs with the columns that ``reward`` reads; ``references_of`` checks references.

    Raises RewardError unless candidates are texts, and sources and columns match them.
    """
    name = reward.name
    if isinstance(inputs.candidates, str):
        raise RewardError(f"{name}: candidates must be a list of texts, not one text; write [text]")
    if fault := fault_of_rows({**inputs._asdict(), "columns": None, **(inputs.columns or {})}):
        raise RewardError(f"{name}: {fault}")
    inputs = Inputs(*_mapped(inputs, list))  # rows by place: a Series of pandas finds them by its index
    size = len(inputs.candidates)
    if inputs.references is not None:
        inputs = inputs._replace(references=[*map(_listed, inputs.references)])
    for row, text in enumerate(inputs.candidates):
        if not isinstance(text, str):
            raise RewardError(f"{name}: candidate {row} is {text!r}, not text")
    if inputs.sources is not None and len(inputs.sources) != size:
        raise RewardError(f"{name}: {size} candidates but {len(inputs.sources)} sources")
    check_columns(reward, inputs.columns or ())
    for column, values in (inputs.columns or {}).items():
        if len(values) != size:
            raise RewardError(f"{name}: {size} candidates but {len(values)} values of the column {column!r}")
    return inputs._replace(columns=columns_for(reward, inputs.columns))


def _listed(references: Any) -> Any:
    """The references of a candidate as a list, such as of numpy; what is none stays, and ``references_of`` says so."""
    listed = isinstance(references, Iterable) and not isinstance(references, str | Mapping)
    return [*references] if listed else references


class Component(NamedTuple):
    """A reward of a weighted sum: its name in the sum, its weight, and its scores ``(n,)``, not weighted."""

    name: str
    weight: float
    scores: NDArray[np.float64]


Scored: TypeAlias = "tuple[NDArray[np.float64], list[Component]]"  # the scores (n,), and the components of a sum


def score_components(reward: Any, inputs: Inputs) -> Scored:
    """A reward's scores ``(n,)`` and, of a weighted sum, its components. Each component scores once.

    A sum within ``cleaned`` or ``limited`` has components, too; ``cached`` hides them. Raises RewardError as
    ``check_scores``.
    """
    split = getattr(reward, "score_components", None)
    total, components = (reward(*inputs), []) if split is None else split(checked(reward, inputs))
    components = [entry._replace(scores=check_scores(entry.name, entry.scores, inputs)) for entry in components]
    return check_scores(getattr(reward, "name", "the reward"), total, inputs), components


def check_scores(name: str, scores: Any, inputs: Inputs) -> NDArray[np.float64]:
    """The scores ``(n,)`` as float64. Raises RewardError for another shape, or where one is infinite in float32.

    A mean over the finite ones would be that of other texts, and no advantage is infinitely good.
    """
    import numpy as np

    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != (len(inputs.candidates),):
        raise RewardError(f"{name} returned shape {scores.shape} for {len(inputs.candidates)} candidates")
    infinite = np.flatnonzero(np.abs(scores) > np.finfo(np.float32).max)
    if len(infinite):
        text = inputs.candidates[infinite[0]]
        shown = text if len(text) < SHOWN else f"{text[:SHOWN]} ..."
        raise RewardError(
            f"{name} is {scores[infinite[0]]:g} for {len(infinite)} of {len(scores)} candidates, first for {shown!r}; "
            "it must be finite, or NaN where it is undefined"
        )
    return scores


def check_columns(reward: ReadsColumns, present: Collection[str]) -> None:
    """Raise RewardError where a column that ``reward`` needs is not among those ``present``. Cheap."""
    for column in reward.columns:
        if column not in present:
            listed = f"the columns are {', '.join(map(repr, present))}" if present else "there are no columns"
            raise RewardError(f"{reward.name} needs the column {column!r}; {listed}")


def columns_read(rewards: Iterable[ReadsColumns]) -> tuple[list[str], list[str]]:
    """The columns that any of ``rewards`` needs, and those that some read where they are given and none needs."""
    rewards = list(rewards)
    needed = list(dict.fromkeys(name for reward in rewards for name in reward.columns))
    optional = dict.fromkeys(name for reward in rewards for name in reward.optional_columns)
    return needed, [name for name in optional if name not in needed]


def columns_for(reward: ReadsColumns, columns: Mapping[str, Any] | None) -> dict[str, Any]:
    """Those of ``columns`` that ``reward`` reads, in its order: what is remembered must not depend on others."""
    present = columns or {}
    return {name: present[name] for name in (*reward.columns, *reward.optional_columns) if name in present}


def references_of(name: str, inputs: Inputs) -> Sequence[Sequence[str]]:
    """The references, one or more a candidate. Raises RewardError: none, another number, or what is not text."""
    candidates, references = inputs.candidates, inputs.references
    if references is None:
        raise RewardError(f"{name} compares with references; give references=[[text, ...], ...], one list a candidate")
    if isinstance(references, str) or any(isinstance(item, str) for item in references):
        raise RewardError(f"{name}: references must hold a list of texts for each candidate, not plain texts")
    if len(references) != len(candidates):
        raise RewardError(f"{name}: {len(candidates)} candidates but {len(references)} lists of references")
    for position, listed in enumerate(references):
        if not isinstance(listed, Iterable) or isinstance(listed, Mapping):
            raise RewardError(f"{name}: item {position} has the references {listed!r}; give a list, [] if it has none")
        wrong = [text for text in listed if not isinstance(text, str)]
        if wrong:
            raise RewardError(
                f"{name}: item {position} has the reference {wrong[0]!r}, which is not text; leave it out"
            )
    return references


Scorable: TypeAlias = "tuple[int, str, list[str]]"  # a row, its candidate, the references that can be scored


def scorable(name: str, inputs: Inputs, unscorable: Unscorable) -> tuple[NDArray[np.float64], list[Scorable]]:
    """The scores ``(n,)`` so far, NaN or 0 (the floor), and what is left to score."""
    import numpy as np

    scores, items = np.full(len(inputs.candidates), np.nan), []
    for row, (candidate, texts) in enumerate(zip(inputs.candidates, references_of(name, inputs), strict=True)):
        usable = [text for text in texts if unscorable(text) is None]
        if usable:
            scores[row] = 0.0
            if unscorable(candidate) is None:
                items.append((row, candidate, usable))
    return scores, items


def score_items(
    name: str, inputs: Inputs, unscorable: Unscorable, best: Callable[[str, list[str]], float]
) -> NDArray[np.float64]:
    """One score a candidate, ``(n,)``: NaN, 0 (the floor), or ``best(candidate, references that can be scored)``."""
    scores, items = scorable(name, inputs, unscorable)
    for row, candidate, usable in items:
        scores[row] = best(candidate, usable)
    return scores


def signature(name: str, **fields: object) -> str:
    """``name|field:value|...|version:1`` in the manner of sacreBLEU; booleans as yes / no."""
    shown = {key: ("yes" if value else "no") if isinstance(value, bool) else value for key, value in fields.items()}
    return "|".join([name, *(f"{key}:{value}" for key, value in shown.items()), f"version:{VERSION}"])


# sacreBLEU's letters for its own fields, and letters for ours. A field without one keeps its name.
LETTERS = {
    "nrefs": "#", "case": "c", "eff": "e", "tok": "tok", "smooth": "s", "version": "v",
    "direction": "d", "stemmer": "st", "tokenizer": "tok", "tokenize": "tok", "split": "sp", "sentences": "ss",
    "encoder": "enc", "layer": "l", "special_tokens": "tk", "window": "w", "centering": "cen", "library": "lib",
    "temperature": "t", "iterations": "it", "entropy": "ent", "normalize": "n", "vectors": "vec", "stopwords": "sw",
    "solver": "ot", "sentence_weights": "wt", "scale": "x", "order": "o",
    "smooth_value": "sv", "sacrebleu": "sb", "stages": "sg", "alpha": "a", "beta": "b", "gamma": "g",
}  # fmt: skip


def short_signature(text: str) -> str:
    """A signature with short names of its fields, as sacreBLEU's short form; every value stays."""
    return re.sub(r"(?<=[|\[])(\w+):", lambda field: f"{LETTERS.get(field[1], field[1])}:", text)


def headings(rewards: Mapping[str, Any]) -> dict[str, str]:
    """Label -> heading of each reward's column; the label where two would have the same heading."""
    shown = {label: getattr(reward, "heading", reward.name) for label, reward in rewards.items()}
    texts = list(shown.values())
    return {label: text if texts.count(text) == 1 else label for label, text in shown.items()}


@cache  # a look-up costs milliseconds, and caches ask for signatures at each call
def library(package: str) -> str:
    """The installed version of a library, for signatures; reads package metadata, imports nothing.

    Raises Unavailable where it is not installed.
    """
    try:
        return f"{package}-{version(package)}"
    except PackageNotFoundError as error:
        raise Unavailable(missing_package(error) or f"the package {package} is not installed") from error
