"""The kinds of models, a row each. What differs between them is asked of a row, or of the module that it names."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import Discriminator, Tag

from rlsum.models.options import ModelConfig
from rlsum.models.pointer_generator.options import PointerGeneratorConfig
from rlsum.models.pretrained.options import CausalConfig, Seq2SeqConfig


class Kind(NamedTuple):
    """A kind of model.

    options  the dataclass of its ``model`` section, free of torch
    start    the module whose ``START`` checks, makes and loads it: a ``Start`` of ``rlsum.training.start.origin``
    """

    options: type[ModelConfig]
    start: str


DEFAULT = "pointer-generator"  # the kind of a section that names none
KINDS = {
    DEFAULT: Kind(PointerGeneratorConfig, "rlsum.training.start.pointer_generator"),
    "seq2seq": Kind(Seq2SeqConfig, "rlsum.training.start.seq2seq"),
    "causal": Kind(CausalConfig, "rlsum.training.start.causal"),
}


def kind_of(section: Any) -> str:
    """The kind that a ``model`` section names, a mapping or made; for anything else the default, which rejects it."""
    kind = section.get("kind") if isinstance(section, dict) else getattr(section, "kind", None)
    return kind or DEFAULT


if TYPE_CHECKING:
    ModelSection = ModelConfig
else:  # what pydantic makes of a mapping
    _SECTIONS = reduce(or_, (Annotated[kind.options, Tag(name)] for name, kind in KINDS.items()))
    ModelSection = Annotated[_SECTIONS, Discriminator(kind_of)]
