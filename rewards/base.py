"""The Reward protocol, and the lookup of rewards by name: in the table, entry points and as ``module:attribute``."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Annotated, Any, Protocol, get_args

from rewards.errors import EncoderMissing as EncoderMissing
from rewards.errors import RewardError as RewardError
from rewards.errors import Unavailable as Unavailable
from rewards.errors import missing_package
from rewards.options import bind, metadata, nearest, parameters
from rewards.plain import Plain
from rewards.scoring import BaseReward, ReadsColumns
from rewards.specs import TABLE, WEIGHED, Spec, as_spec, split_specs, with_parts
from rewards.text.languages import Code, check_language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENTRY_POINTS = "rlsum.rewards"
Function = Callable[..., Any]  # of candidates, or a class or function that builds a reward, or a reward
AnySpec = str | Mapping[str, Any] | Spec | Function
Specs = AnySpec | Sequence[AnySpec]


class Reward(ReadsColumns, Protocol):
    """Scores texts. The same object is training reward, reported metric and command-line score.

    ``columns`` names the columns of a dataset that it needs, ``optional_columns`` those that it reads where they are
    given. A call may hold other columns, which must not change a score. ``rewards.scoring.BaseReward`` implements the
    protocol and drops them.
    """

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
        """Why the item of these arguments is NaN, to follow "item 3 is undefined: "; None where it is defined."""


def load(name: str | Function, **options: Any) -> Reward:
    """``load("sms", vectors="v.txt.gz", normalize="unit")`` -> a reward.

    Options and the existence of files are checked at once. Models and vectors load at the first call or signature.
    ``name`` is one of ``names()`` or ``module:attribute``: a class or function that builds a reward, a reward, or a
    plain function whose first parameter is ``candidates`` (see ``Plain``); or this object itself. It may carry options,
    as on the command line: ``load("rouge-l(stemmer=false)")``. Raises RewardError.
    """
    written = Spec(name, {}) if isinstance(name, str) and "(" not in name else as_spec(name)
    return from_spec(replace(with_parts(written.name, {**written.options, **options}), given=written.given))


def from_spec(spec: AnySpec, language: str | None = None) -> Reward:
    """A reward from its text ``'sms(vectors=v.txt.gz)'``, mapping ``{"name": "sms", "vectors": "v.txt.gz"}`` or object.

    ``language``: the ISO 639-1 code of the texts; see ``in_language``.
    """
    if not inspect.isclass(spec) and _has_protocol(spec):
        return complete(spec)
    spec = in_language(spec, language)
    target = _target(spec)
    if is_reward(target):
        bind(spec.name, _no_options, spec.options)
        return complete(target) if _has_protocol(target) else Plain(spec.name, target)
    try:
        reward = target(**bind(spec.name, target, spec.options))
    except ModuleNotFoundError as error:
        if reason := missing_package(error):
            raise Unavailable(f"{spec.name}: {reason}") from error
        raise
    if not _has_protocol(reward):
        needed = "name, signature, undefined() and __call__()"
        raise RewardError(f"reward {spec.name!r} built a {type(reward).__name__}, which lacks one of {needed}")
    if isinstance(reward, BaseReward):
        with suppress(RewardError):  # a reward within it that was made by hand has no text
            reward.written = str(spec)
    return complete(reward)


def complete(reward: Any) -> Reward:
    """The reward itself. Raises RewardError where it cannot read columns as the protocol has them."""
    takes = "columns" in inspect.signature(type(reward).__call__).parameters
    if not (takes and hasattr(reward, "columns") and hasattr(reward, "optional_columns")):
        raise RewardError(
            f"reward {reward.name!r}: its call must take columns, and it needs the attributes columns and "
            "optional_columns; derive it from rewards.BaseReward, which has them"
        )
    checked: Reward = reward
    return checked


def from_specs(specs: Specs, language: str | None = None) -> dict[str, Reward]:
    """``'rouge-l,sms(vectors=v.txt.gz)'`` or a list -> rewards in order, by name, or by spec if two share a name."""
    return {label: from_spec(spec, language) for label, spec in labelled(specs).items()}


def in_language(spec: AnySpec, language: str | None) -> Spec:
    """A spec with the option ``language`` for every reward in it that reads words, unless it is given there.

    Raises RewardError for an unknown language.
    """
    spec = as_spec(spec)
    check_language(language)
    if language is None:
        return spec
    if spec.name in WEIGHED:
        return Spec(spec.name, {"parts": [[_inner(item, language), weight] for item, weight in spec.options["parts"]]})
    target = _target(spec)
    fields = {} if is_reward(target) else parameters(spec.name, target)
    options = dict(spec.options)
    for name, field in fields.items():
        if check_inner in metadata(field.annotation):
            options[name] = _inner(options.get(name, field.default), language)
    if "language" in fields and Code in get_args(fields["language"].annotation):
        options.setdefault("language", language)
    return Spec(spec.name, options, spec.given)


def _inner(inner: Any, language: str) -> Any:
    """A reward within another one; one that is made already stays as it is."""
    if not isinstance(inner, str | Mapping):
        return inner
    return in_language(inner, language).plain()


def labelled(specs: Specs) -> dict[str, Spec]:
    """The specs of ``from_specs`` by label; nothing is made. Raises RewardError where one is given twice."""
    several = split_specs(specs) if isinstance(specs, str) else specs
    parsed = [as_spec(spec) for spec in (several if isinstance(several, Sequence) else [several])]
    names = [spec.name for spec in parsed]
    labels = [spec.name if names.count(spec.name) == 1 else str(spec) for spec in parsed]
    repeated = [label for label in labels if labels.count(label) > 1]
    if repeated:
        raise RewardError(f"the reward {repeated[0]!r} is given twice; leave one out")
    return dict(zip(labels, parsed, strict=True))


def check_spec(spec: AnySpec, language: str | None = None) -> None:
    """Raise RewardError unless name and options are valid. Cheap: loads no model and reads no file."""
    spec = in_language(spec, language)
    target = _target(spec)
    build = _no_options if is_reward(target) else target
    options = bind(spec.name, build, spec.options)
    if hasattr(target, "options"):  # a dataclass, whose __post_init__ checks what an annotation cannot say
        target.options(**options)


def check_inner(inner: Any) -> None:
    """Raise RewardError unless name and options of a spec are valid; cheap. A reward is valid."""
    if isinstance(inner, str | Mapping):
        check_spec(inner)


Inner = Annotated[Any, check_inner]  # an option: a spec (text or mapping), a function or a reward


def names() -> list[str]:
    """Every name that ``load`` knows: those of this package, then those of installed plug-ins."""
    return [*TABLE, *sorted(point.name for point in entry_points(group=ENTRY_POINTS) if point.name not in TABLE)]


def resolve(name: str) -> Any:
    """The class, function or object of a name; imports its module. Raises RewardError, with the most similar name."""
    if name in TABLE:
        return _attribute(name, TABLE[name])
    if ":" in name:
        return _attribute(name, name)
    for point in entry_points(group=ENTRY_POINTS, name=name):
        return _attribute(name, point.value)
    known = names()
    raise RewardError(f"unknown reward {name!r}{nearest(name, known)}; known: {', '.join(known)}, or module:attribute")


def _target(spec: Spec) -> Any:
    return resolve(spec.name) if spec.given is None else spec.given


def _attribute(name: str, location: str) -> Any:
    module_name, _, path = location.partition(":")
    try:
        target: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if reason := missing_package(error):
            raise Unavailable(f"reward {name!r}: {reason}") from error
        is_missing = ":" in name and error.name == module_name.partition(".")[0]
        hint = "; if it is in this folder, set PYTHONPATH=. before the command" if is_missing else ""
        raise RewardError(f"reward {name!r}: cannot import {module_name!r} ({error}){hint}") from error
    for attribute in path.split("."):
        if not hasattr(target, attribute):
            file = getattr(target, "__file__", None)  # perhaps another than was meant; a bare folder has none
            where = f" ({file})" if file else ""
            if module_name == "__main__":
                fix = "call it from there, or put the function in a file of its own, found.py, and name it found:NAME"
                raise RewardError(f"reward {name!r}: a function of a script or notebook, not of this program; {fix}")
            raise RewardError(f"reward {name!r}: {module_name}{where} has no {path!r}{nearest(attribute, dir(target))}")
        target = getattr(target, attribute)
    if not callable(target):
        raise RewardError(f"reward {name!r}: {location} is a {type(target).__name__}, not a reward or a callable")
    return target


def is_reward(target: Any) -> bool:
    """Whether ``target`` is a reward or a plain function of candidates; anything else builds a reward."""
    if inspect.isclass(target):
        return False
    return _has_protocol(target) or next(iter(inspect.signature(target).parameters), None) == "candidates"


def _has_protocol(target: Any) -> bool:
    """Whether it has the attributes of a Reward. isinstance would read the signature, which loads models."""
    attributes = ("__call__", "signature", "undefined")
    return all(hasattr(type(target), attribute) for attribute in attributes) and hasattr(target, "name")


def _no_options() -> None:
    """The options of a reward that is already built."""
