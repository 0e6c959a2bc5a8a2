"""What a user asks of `rlsum generate`: how to decode, which sample to take, what to read."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rewards.references import Lists
from rlsum.errors import UserError, option

if TYPE_CHECKING:
    from rlsum.generation.choosing import SampleChoice
    from rlsum.models.decoding import Decoding

# options of one method alone
SEARCHING, DRAWING = ("beam", "length_penalty", "early_stopping"), ("temperature", "top_k", "top_p")


@dataclass(frozen=True)
class Generating:
    """How to decode and what to read. None: as the run did, or for a pretrained model as its own files say.

    ``beam`` (1: greedy), ``max_length``, ``min_length`` in tokens, ``length_penalty`` (rank by log p / length ** it),
    ``early_stopping`` (when a beam is done) and ``block_ngrams`` (0: off) are of the search; ``temperature``, ``top_k``
    (0: all), ``top_p`` and ``seed`` of samples. ``best_of`` takes, of so many samples, the best ``by`` a reward that
    reads no references; ``mbr`` the one of ``samples`` with the best mean reward against the others. ``prefix``,
    ``line_break``, ``max_source`` and ``global_attention`` are for a pretrained model without a run.
    """

    beam: int | None = None
    max_length: int | None = None
    min_length: int | None = None
    length_penalty: float | None = None
    early_stopping: bool | Literal["true", "false", "never"] | None = None
    block_ngrams: int | None = None
    method: Literal["beam", "sample"] | None = None
    best_of: int | None = None
    by: str | None = None
    mbr: str | None = None
    samples: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 1
    prefix: str | None = None
    line_break: str | None = None
    max_source: int | None = None
    global_attention: Literal["none", "first"] | None = None
    split: str = "test"
    id_column: str | None = None
    source_column: str | None = None
    reference_column: str | None = None
    reference_lists: Lists | None = None
    limit: int | None = None
    system: str | None = None
    batch_size: int = 16
    device: str | None = None

    def given(self, *names: str) -> dict[str, Any]:
        """Those of the options ``names`` that are not None."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def decoding_of(trained: Decoding, how: Generating, sampled: bool = False) -> Decoding:
    """Beam search (greedy if the beam is 1), or one sample an article if ``sampled``.

    Options that ``how`` leaves open are those of ``trained``. Raises UserError if the lengths exclude each other, if a
    number is out of range, or for an option of the other method.
    """
    for name in SEARCHING if sampled else DRAWING:
        if (value := getattr(how, name)) is not None:
            other, method = ("sampling", "beam") if sampled else ("beam search", "sample")
            raise UserError(f"{option(name, value)}: not with {other}; use {option('method', method)}")
    if how.length_penalty is not None and not math.isfinite(how.length_penalty):
        raise UserError(f"{option('length_penalty', how.length_penalty)}: must be a finite number; 1 is usual")
    if how.temperature is not None and not 0 < how.temperature < math.inf:
        raise UserError(
            f"{option('temperature', how.temperature)}: must be a finite number above 0; 1 is the model's distribution"
        )
    if how.top_p is not None and not 0 < how.top_p <= 1:
        raise UserError(f"{option('top_p', how.top_p)}: must be above 0 and at most 1, which keeps all tokens")
    if str(how.early_stopping).lower() not in ("none", "true", "false", "never"):
        raise UserError(
            f"{option('early_stopping', how.early_stopping)}: must be true, false or never, as in transformers"
        )
    names = (*SEARCHING, *DRAWING, "max_length", "min_length", "block_ngrams")
    options = {**asdict(trained), **how.given(*names)}
    shortest, longest = options["min_length"], options["max_length"]
    if shortest >= longest:
        fix = f"must be smaller than the maximum of {longest}; raise {option('max_length')}"
        raise UserError(f"{option('min_length', shortest)}: {fix}")
    decoding = replace(trained, **options)
    return replace(decoding, method="sample", samples=1) if sampled else decoding.searching()


def choice_of(how: Generating, language: str | None = None) -> SampleChoice | None:
    """The choice among samples that the options ask for, of texts in a language."""
    method, best_of, by, mbr, samples = how.method, how.best_of, how.by, how.mbr, how.samples
    if best_of is not None and mbr is not None:
        raise UserError(f"{option('best_of', best_of)} and {option('mbr', mbr)} exclude each other; give one")
    needs = (("best_of", "by", "REWARD"), ("by", "best_of", "N"), ("mbr", "samples", "N"), ("samples", "mbr", "REWARD"))
    for name, other, what in needs:
        if (value := getattr(how, name)) is not None and getattr(how, other) is None:
            raise UserError(f"{option(name, value)}: needs {option(other, what)}; add it")
    spec, count = (by, best_of) if mbr is None else (mbr, samples)
    if spec is None or count is None:
        return None
    if method == "beam":
        raise UserError(
            f"{option('method', 'beam')}: a reward chooses among samples; leave it out, or use "
            f"{option('method', 'sample')}"
        )
    import rewards
    from rlsum.generation.choosing import SampleChoice

    return SampleChoice("best-of" if mbr is None else "mbr", rewards.from_spec(spec, language), count)


def check_own(how: Generating, folder: Path) -> None:
    """Raise UserError for an option that the configuration of a run settles."""
    for name, value in how.given("prefix", "line_break", "max_source", "global_attention").items():
        raise UserError(f"{option(name, value)}: set by the configuration of the run in {folder}; leave it out")
