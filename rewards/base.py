"""The Reward protocol, and how a name becomes one: the lazy table, entry points and ``module:attribute``."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol

from rewards.errors import EncoderMissing as EncoderMissing
from rewards.errors import RewardError as RewardError
from rewards.options import bind, nearest
from rewards.plain import Plain, WithoutColumns
from rewards.specs import Spec, as_spec, split_specs, with_parts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTRY_POINTS = "rlsum.rewards"

TABLE = {
    "rouge-1": "rewards.lexical.rouge:rouge_1",
    "rouge-2": "rewards.lexical.rouge:rouge_2",
    "rouge-3": "rewards.lexical.rouge:rouge_3",
    "rouge-l": "rewards.lexical.rouge:rouge_longest",
    "rouge-lsum": "rewards.lexical.rouge:rouge_longest_sum",
    "bleu": "rewards.lexical.bleu:Bleu",
    "bleu-star": "rewards.lexical.bleu:BleuStar",
    "meteor": "rewards.lexical.meteor:Meteor",
    "wms": "rewards.mover.metrics:wms",
    "sms": "rewards.mover.metrics:sms",
    "s+wms": "rewards.mover.metrics:swms",
    "sbert": "rewards.embedding.metrics:sbert",
    "cka": "rewards.embedding.metrics:cka",
    "moverscore": "rewards.embedding.metrics:moverscore",
    "bertscore": "rewards.embedding.metrics:bertscore",
    "trwmd": "rewards.embedding.metrics:trwmd",
    "twmd": "rewards.embedding.metrics:twmd",
    "bleu-neighbors": "rewards.lexical.neighbors:BleuNeighbors",
    "learned": "rewards.embedding.learned:learned",
    "weighted": "rewards.wrappers.combine:Weighted",
    "shuffled": "rewards.wrappers.combine:Shuffled",
    "length": "rewards.wrappers.shaping:Length",
    "repetition": "rewards.wrappers.shaping:Repetition",
    "cached": "rewards.wrappers.cached:Cached",
    "limited": "rewards.wrappers.limits:Limited",
}


class Reward(Protocol):
    """Scores texts. The same object is training reward, reported metric and command-line score.

    ``columns`` names the columns of a dataset that it needs, ``optional_columns`` those that it reads where they are
    given; it is given no others. ``rewards.scoring.BaseReward`` implements the protocol.
    """

    name: str
    columns: Sequence[str]
    optional_columns: Sequence[str]

    def __call__(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
        columns: Mapping[str, Sequence[Any]] | None = None,
    ) -> NDArray[np.float64]:
        """Score ``n`` candidates, each against its one or more references.

        ``columns`` holds one value per candidate under each name. Returns ``(n,)`` float64, higher is better, NaN where
        undefined. Raises RewardError for missing inputs or lengths that differ; never for what a text holds.
        """

    @property
    def signature(self) -> str:
        """Everything the score depends on: options, versions, hashes of vectors and encoders."""

    def undefined(
        self,
        candidate: str,
        references: Sequence[str] | None = None,
        source: str | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> str | None:
        """Why this item's score is NaN, to follow "item 3 is undefined: "; None where it is defined.

        The arguments are those of the call for this one item.
        """


def load(name: str, **options: Any) -> Reward:
    """``load("sms", vectors="v.txt.gz", normalize="unit")`` -> a reward.

    Options and the existence of files are checked at once; models and vectors load at the first call or signature.
    ``name`` is one of ``names()`` or ``module:attribute``: a class or function that builds a reward, a reward, or a
    plain function with the call signature of ``Reward``. Raises RewardError.
    """
    return from_spec(with_parts(name, options))


def from_spec(spec: str | Mapping[str, Any] | Spec) -> Reward:
    """A reward from its text ``'sms(vectors=v.txt.gz)'`` or mapping ``{"name": "sms", "vectors": "v.txt.gz"}``."""
    written = as_spec(spec)
    found = resolve(written.name)
    if is_reward(found):
        bind(written.name, _no_options, written.options)
        return complete(found) if _has_protocol(found) else Plain(written.name, found)
    reward = found(**bind(written.name, found, written.options))
    if not _has_protocol(reward):
        needed = "name, signature, undefined() and __call__()"
        raise RewardError(f"reward {written.name!r} built a {type(reward).__name__}, which lacks one of {needed}")
    return complete(reward)


def complete(reward: Any) -> Reward:
    """The reward itself, or a wrapper where its call takes no columns."""
    if "columns" not in inspect.signature(type(reward).__call__).parameters:
        return WithoutColumns(reward)
    if not (hasattr(reward, "columns") and hasattr(reward, "optional_columns")):
        raise RewardError(f"reward {reward.name!r} takes columns, so it needs the attributes columns, optional_columns")
    checked: Reward = reward
    return checked


def from_specs(specs: str | Sequence[str | Mapping[str, Any]]) -> dict[str, Reward]:
    """Several rewards in order, by label: the name, or the whole spec where two share a name.

    ``specs`` is ``'rouge-l,sms(vectors=v.txt.gz)'`` or a list of texts and mappings.
    """
    written = [as_spec(spec) for spec in (split_specs(specs) if isinstance(specs, str) else specs)]
    names = [spec.name for spec in written]
    labels = [spec.name if names.count(spec.name) == 1 else str(spec) for spec in written]
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise RewardError(f"the reward {twice[0]!r} is given twice; leave one out")
    return {label: from_spec(spec) for label, spec in zip(labels, written, strict=True)}


def check_spec(spec: str | Mapping[str, Any] | Spec) -> None:
    """Raise RewardError unless name and options are valid. Loads no model, reads no file: cheap."""
    written = as_spec(spec)
    found = resolve(written.name)
    build = _no_options if is_reward(found) else found
    arguments = inspect.signature(build).bind(**bind(written.name, build, written.options))
    check = getattr(found, "check_options", None)  # what an annotation cannot say, such as the parts of a sum
    if check is not None:
        arguments.apply_defaults()
        check(arguments.arguments)


def names() -> list[str]:
    """Every name that ``load`` knows: ours, then those of installed plug-ins."""
    return [*TABLE, *sorted(point.name for point in entry_points(group=ENTRY_POINTS) if point.name not in TABLE)]


def resolve(name: str) -> Any:
    """The class, function or object behind a name; imports its module and nothing heavy.

    Raises RewardError for an unknown name (with the nearest one) and for a module or attribute that is not there.
    """
    if name in TABLE:
        return _attribute(name, TABLE[name])
    if ":" in name:
        return _attribute(name, name)
    for point in entry_points(group=ENTRY_POINTS, name=name):
        return _attribute(name, point.value)
    known = names()
    raise RewardError(f"unknown reward {name!r}{nearest(name, known)}; known: {', '.join(known)}, or module:attribute")


def _attribute(name: str, place: str) -> Any:
    module_name, _, path = place.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        own = ":" in name and error.name == module_name.partition(".")[0]
        hint = "; where it lies in this folder, set PYTHONPATH=. before the command" if own else ""
        raise RewardError(f"reward {name!r}: cannot import {module_name!r} ({error}){hint}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise RewardError(f"reward {name!r}: {module_name} has no {path!r}{nearest(part, dir(found))}")
        found = getattr(found, part)
    if not callable(found):
        raise RewardError(f"reward {name!r}: {place} is a {type(found).__name__}, not a reward or a callable")
    return found


def is_reward(found: Any) -> bool:
    """A reward itself, or a plain function of candidates; anything else builds one."""
    if inspect.isclass(found):
        return False
    return _has_protocol(found) or next(iter(inspect.signature(found).parameters), None) == "candidates"


def _has_protocol(found: Any) -> bool:
    """Whether it has the parts of a Reward; isinstance would ask for the signature, which loads models."""
    return all(hasattr(type(found), part) for part in ("__call__", "signature", "undefined")) and hasattr(found, "name")


def _no_options() -> None:
    """A reward that is ready made takes none."""
