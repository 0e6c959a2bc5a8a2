"""What the log of a run says: signs that a reward is gained at the cost of something else, and why a run has failed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlsum.training.checkpoint import Progress

RISE = 0.01  # of the reward at the start: a smaller rise is none
FALL = 0.02  # of a metric at the start: a smaller fall is none
LENGTHS = 0.1  # of the length at the start: a smaller change is none
REPETITION = 0.01  # of all trigrams: a smaller rise is none
DIVERGED = 1e3  # nats a token: no model that is learning gives its references a probability of e^-1000 a token
WORSE = 2.0  # a sign is announced again when it has become this many times as large

Values = Mapping[str, float | None]  # of one validation, or of one line of training, as in metrics.jsonl


@dataclass(frozen=True)
class History:
    """A run so far: its lines of training, its validations, how far it has come, the metrics that it is not trained on.

    A process that does not write the log has neither lines nor validations.
    """

    lines: Sequence[Values]
    validations: Sequence[Values]
    progress: Progress
    metrics: Sequence[str] = ()


@dataclass(frozen=True)
class Sign:
    """Something that moved with the reward: its name, how far in units of its threshold (1 or more), a sentence."""

    name: str
    size: float
    sentence: str


def signs(start: Values, now: Values, metrics: Sequence[str]) -> list[Sign]:
    """What moved with the reward between two validations.

    These are signs if the reward rose: one of ``metrics`` (those that are not trained on) fell, the length moved in
    either direction, repetition rose. An undefined value is no sign.
    """
    if not _share(start, now, "reward") >= RISE:
        return []
    moves = [(name, -_share(start, now, name) / FALL, f"{name} fell") for name in metrics]
    moves.append(("length", abs(_share(start, now, "length")) / LENGTHS, "length moved"))
    moves.append(("repetition", _change(start, now, "repetition") / REPETITION, "repetition rose"))
    rose = f"the reward rose{_between(start, now, 'reward')}"
    return [
        Sign(name, size, f"{rose}, while {moved}{_between(start, now, name)}")
        for name, size, moved in moves
        if size >= 1
    ]


def news(run: History) -> list[str]:
    """Sentences on what first moved in the last validation, or moved much further than when it was last announced.

    A function of the whole history, so that a resumed run repeats nothing.
    """
    announced: dict[str, float] = {}
    new: list[Sign] = []
    for now in run.validations[1:]:
        found = signs(run.validations[0], now, run.metrics)
        new = [sign for sign in found if sign.size >= WORSE * announced.get(sign.name, 0.0)]
        announced |= {sign.name: sign.size for sign in new}
    return [sign.sentence for sign in new]


def summary(run: History) -> list[str]:
    """Every sign of a run, each at the validation where it was largest; and whether it has diverged."""
    worst: dict[str, tuple[float, str]] = {}
    for now in run.validations[1:]:
        for sign in signs(run.validations[0], now, run.metrics):
            if sign.size > worst.get(sign.name, (0.0, ""))[0]:
                worst[sign.name] = sign.size, f"after {now['step']} updates {sign.sentence}"
    diverged = divergence(run.validations)
    return [sentence for _, sentence in worst.values()] + ([diverged] if diverged else [])


def failure(run: History) -> str | None:
    """Why a finished run has trained nothing, or nothing that can be used; None if it has."""
    progress, lines, validations = run.progress, run.lines, run.validations
    updates, rewarded = f"{progress.step:,} updates", [line for line in lines if "zero_groups" in line]
    if progress.step and not progress.had_gradient:
        if any(line.get("skipped_updates") for line in lines):
            return f"nothing was trained: the gradients of all {updates} overflowed in fp16; use bf16 or no"
        return f"nothing was trained: the gradients of all {updates} were 0{_unrewarded(rewarded)}"
    if progress.had_advantage is False:
        return f"the reward trained nothing in {updates}{_unrewarded(rewarded)}"
    if progress.step and progress.best is None:
        return "training.choose_by was undefined in every validation, so nothing chose the weights in best/"
    if diverged := divergence(validations):
        kept = [_value(values, "nll") for values in validations if values["step"] == progress.best_step]
        by_likelihood = [_value(line, "nll") for line in lines[-1:]]
        if progress.best_step == 0 or min([*kept, *by_likelihood], default=0.0) > DIVERGED:
            return f"{diverged}; start again with a lower training.learning_rate"
    return None


def divergence(validations: Sequence[Values]) -> str | None:
    """A sentence if the last of ``validations`` is beyond any model that learns, and the first is not."""
    if not validations:
        return None
    start, last = _value(validations[0], "nll"), _value(validations[-1], "nll")
    return f"the run has diverged: nll from {start:.4g} to {last:.4g}" if last > max(DIVERGED, start) else None


def _unrewarded(lines: Sequence[Values]) -> str:
    """What was wrong with the rewards of the lines, if they have any."""
    if not lines:
        return ""
    if all(line["undefined_rewards"] == 1 for line in lines):
        return ": no sample had a reward that could be compared; `rlsum score` shows the reason of each text"
    if all(line.get("sample_cut_off") == 1 for line in lines):
        return ": sampling.max_length cut every sample off; raise it"
    return ": the samples of each article had equal rewards, or none; training-samples.jsonl has some"


def _value(values: Values, name: str) -> float:
    value = values.get(name)
    return math.nan if value is None else value


def _change(start: Values, now: Values, name: str) -> float:
    return _value(now, name) - _value(start, name)


def _share(start: Values, now: Values, name: str) -> float:
    """The change as a share of the start; of a start of 0, without bound."""
    change, size = _change(start, now, name), abs(_value(start, name))
    return change / size if size else math.copysign(math.inf, change) if change else change


def _between(start: Values, now: Values, name: str) -> str:
    return f" from {_value(start, name):.4g} to {_value(now, name):.4g}"
