"""What scores the texts of a run: its reward, the metrics of validation, the one that chooses the best weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import rewards
from rewards.base import Reward
from rewards.specs import as_spec
from rewards.wrappers.cleaned import all_cleaned
from rlsum.config import Config, ConfigError, RewardSpec
from rlsum.models.options import ModelConfig
from rlsum.records import check_column_names
from rlsum.training.validation import Choice, in_log


def check_rewards(config: Config) -> None:
    """Raise ConfigError for rewards that cannot be made, before anything is loaded."""
    faults: list[str] = []
    for spec in [*config.metrics, *([config.objective.reward] if config.objective.reward is not None else [])]:
        faults += _spec_faults(spec, f"{spec}", config.language)
    if config.training.choose_by is not None and config.chooses_by not in ("reward", "likelihood"):
        names = ", ".join(["reward", "likelihood", *(as_spec(spec).name for spec in config.metrics)])
        what = f"training.choose_by={config.chooses_by}: not one of {names}"
        faults += _spec_faults(config.chooses_by, what, config.language)
    if config.training.reward_workers and as_spec(config.objective.reward or "none").name == "limited":
        faults.append("  training.reward_workers: the reward is limited(...) already; set its workers= instead")
    if faults:
        raise ConfigError("rewards that cannot be used:\n" + "\n".join(faults))


def _spec_faults(spec: RewardSpec, what: str, language: str | None) -> Iterator[str]:
    try:
        rewards.check_spec(spec, language)
    except rewards.RewardError as error:
        yield f"  {what}: {error}"


def rewards_of(config: Config, section: ModelConfig | None = None) -> tuple[dict[str, Reward], Reward | None, Choice]:
    """The rewards of validation by name, with the training reward as ``reward``; the training reward; the choice.

    ``section``: of the model that is trained. It says whether they are of clean texts.
    """
    by, specs = config.chooses_by, list(config.metrics)
    fixed = by in ("reward", "likelihood")
    parsed = [as_spec(spec) for spec in specs]
    if not fixed and by not in [spec.name for spec in parsed] and as_spec(by) not in parsed:
        specs.append(by)
        parsed.append(as_spec(by))
    metrics = {in_log(label): metric for label, metric in rewards.from_specs(specs, config.language).items()}
    alike = [label for label, spec in zip(metrics, parsed, strict=True) if spec.name == by]
    if fixed or by in metrics:
        name = str(by)
    elif as_spec(by) in parsed:
        name = list(metrics)[parsed.index(as_spec(by))]
    elif len(alike) == 1:
        (name,) = alike
    else:
        raise ConfigError(f"training.choose_by={by}: several metrics have this name; write one of {', '.join(metrics)}")
    choice = Choice(name, config.objective.coverage_weight)
    if config.objective.rewarded:
        metrics["reward"] = rewards.from_spec(_reward_spec(config), config.language)
    if section is not None and section.clean:
        metrics = all_cleaned(metrics)
    return metrics, metrics["reward"] if config.objective.rewarded else None, choice


def check_columns(config: Config, metrics: Mapping[str, Reward]) -> None:
    """Raise ConfigError where a reward needs a column that ``data.columns`` does not name."""
    for metric in metrics.values():
        check_column_names(metric)
        for column in metric.columns:
            if column not in config.data.columns:
                raise ConfigError(
                    f"data.columns={list(config.data.columns)}: {metric.name} needs the column {column!r}; add it"
                )


def _reward_spec(config: Config) -> RewardSpec:
    """The training reward, computed in worker processes if the configuration asks for them."""
    spec, training = config.objective.reward, config.training
    assert spec is not None  # Objective has checked it
    if training.reward_workers == 0:
        return spec
    return {"name": "limited", "reward": spec, "seconds": training.reward_seconds, "workers": training.reward_workers}
