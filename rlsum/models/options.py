"""What the options of every kind of model answer, free of torch so that a configuration is checked quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=STRICT)
class ModelConfig:
    """The ``model`` section of a configuration. Each kind has its own, a row of ``rlsum.models.kinds``."""

    own_tokenizer: ClassVar[bool] = False
    """whether models of this kind read texts with a tokenizer of their own"""

    if TYPE_CHECKING:

        @property
        def kind(self) -> str:
            """The name of the kind: the last field of each section, so that it may be left out."""

        @property
        def clean(self) -> bool:
            """Whether its texts are scored without what is no part of them: an option of kinds that answer a prompt."""

    else:
        clean = False

    def continued(self) -> ModelConfig:
        """The section of a run that starts from the checkpoint of a run with this one."""
        return self
