"""What a user asks of `rlsum generate`: how to decode, which sample to take, what to read and to write."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from rewards.references import Lists
from rlsum.errors import UserError, option
from rlsum.models.decoding import Decoding, Limits, Search, Warping
from rlsum.objective import STRICT
from rlsum.scoring.shards import WHOLE, Shard
from rlsum.sections import left_open, names_of

if TYPE_CHECKING:
    from rlsum.generation.choosing import SampleChoice

DECODING = (Search, Limits, Warping)  # whose options are options here


@dataclass(frozen=True, config=STRICT)
class Picking:
    """Which of several samples of an article is its summary."""

    best_of: int | None = Field(default=None, ge=1, title="N")
    """of N samples of each article, the best by ``by``"""
    by: str | None = Field(default=None, title="REWARD")
    """with ``best_of``: it reads no references"""
    mbr: str | None = Field(default=None, title="REWARD")
    """of ``samples``, the one with the best mean reward against the others"""
    samples: int | None = Field(default=None, ge=2, title="N")
    """with ``mbr``: samples an article"""


@dataclass(frozen=True, config=STRICT)
class Generating(Picking, left_open(*DECODING)):  # type: ignore[misc]
    """How to decode, what to read and write. None: as the run did, or for a pretrained model as its own files say."""

    ELSE: ClassVar = "; default: the run's"

    method: Literal["beam", "sample"] | None = None
    """beam search, or a sample of each article; default: beam"""
    seed: int = Field(default=1, ge=0)
    """seed of samples"""
    prompt: str | None = None
    """what a language model is asked, with {article} in it; default: for a summary; not with a run"""
    prefix: str | None = None
    """text before every article; default: the model's; not with a run"""
    line_break: str | None = None
    """end of a line in summaries; default: `<n>` or a space; not with a run"""
    max_source: int | None = Field(default=None, ge=1)
    """most tokens of an article; default: the model's limit; not with a run"""
    global_attention: Literal["none", "first"] | None = None
    """tokens with global attention; default: first for LED; not with a run"""
    split: str = "test"
    """split to read, if INPUT has splits"""
    id_column: str | None = None
    """column of the ids; default: the run's"""
    source_column: str | None = None
    """column of the articles; default: the run's"""
    reference_column: str | None = None
    """column of the summaries; default: the run's, if INPUT has it"""
    reference_lists: Lists | None = None
    """what a list of texts in a column of references is, where its name does not say so"""
    limit: int | None = Field(default=None, ge=1)
    """read only the first articles"""
    system: str | None = None
    """name of the system in the records; default: the run's"""
    batch_size: int = Field(default=16, ge=1)
    """articles decoded together"""
    device: str | None = None
    """device, such as cpu or cuda; default: cuda if available"""
    shard: str | None = Field(default=None, title="I/N")
    """write one of N shards, such as 3/8; all/8 puts the eight together"""
    overwrite: bool = False
    """replace an existing OUT.jsonl, or what a stopped job with other options has written"""

    @property
    def written(self) -> Shard:
        """The shard that is written, the whole file by default. Raises UserError."""
        return WHOLE if self.shard is None else Shard.parse(self.shard)

    def given(self, *names: str) -> dict[str, Any]:
        """Those of the options ``names`` that are not None."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def decoding_of(trained: Decoding, how: Generating, sampled: bool = False) -> Decoding:
    """Beam search (greedy if the beam is 1), or one sample an article if ``sampled``.

    Options that ``how`` leaves open are those of ``trained``. Raises UserError for an option of the other method, or
    lengths that exclude each other.
    """
    unfit, other, method = (Search, "sampling", "beam") if sampled else (Warping, "beam search", "sample")
    for name, value in how.given(*names_of(unfit)).items():
        raise UserError(f"{option(name, value)}: not with {other}; use {option('method', method)}")
    options = {**asdict(trained), **how.given(*names_of(*DECODING))}
    shortest, longest = options["min_length"], options["max_length"]
    if shortest >= longest:
        fix = f"must be smaller than the maximum of {longest}; raise {option('max_length')}"
        raise UserError(f"{option('min_length', shortest)}: {fix}")
    decoding = replace(trained, **options)
    return replace(decoding, method="sample", samples=1) if sampled else decoding.searching()


def choice_of(how: Generating, language: str | None = None, clean: bool = False) -> SampleChoice | None:
    """The choice among samples that the options ask for, of texts in a language; ``clean``: of clean texts."""
    method, best_of, by, mbr, samples = how.method, how.best_of, how.by, how.mbr, how.samples
    if best_of is not None and mbr is not None:
        raise UserError(f"{option('best_of', best_of)} and {option('mbr', mbr)} exclude each other; give one")
    needs = (("best_of", "by", "REWARD"), ("by", "best_of", "N"), ("mbr", "samples", "N"), ("samples", "mbr", "REWARD"))
    for name, partner, what in needs:
        if (value := getattr(how, name)) is not None and getattr(how, partner) is None:
            raise UserError(f"{option(name, value)}: needs {option(partner, what)}; add it")
    spec, count = (by, best_of) if mbr is None else (mbr, samples)
    if spec is None or count is None:
        return None
    if method == "beam":
        raise UserError(
            f"{option('method', 'beam')}: a reward chooses among samples; leave it out, or use "
            f"{option('method', 'sample')}"
        )
    import rewards
    from rewards.wrappers.cleaned import all_cleaned
    from rlsum.generation.choosing import SampleChoice

    reward = rewards.from_spec(spec, language)
    reward = all_cleaned({"": reward})[""] if clean else reward
    return SampleChoice("best-of" if mbr is None else "mbr", reward, count)


def check_own(how: Generating, folder: Path) -> None:
    """Raise UserError for an option that the configuration of a run settles."""
    for name, value in how.given("prompt", "prefix", "line_break", "max_source", "global_attention").items():
        raise UserError(f"{option(name, value)}: set by the configuration of the run in {folder}; leave it out")
