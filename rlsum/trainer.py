"""The one training loop, for every objective, on any number of processes through accelerate.

Everything that varies from update to update (batch, learning rate, gamma, random numbers) is a pure function of the
seed and the update's number, so a resumed run needs only weights, optimiser and that number.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from accelerate import Accelerator

from rlsum import checkpoint
from rlsum.checkpoint import Progress
from rlsum.config import Config
from rlsum.data.batch import Batch, BatchPlan, training_lengths
from rlsum.errors import UserError
from rlsum.monitor import Monitor
from rlsum.steps import StepResult
from rlsum.validation import Validation, validate

if TYPE_CHECKING:
    import datasets

    from rewards.base import Reward
    from rlsum.models.kinds import Model

Step = Callable[[int, torch.nn.Module, Batch], StepResult]  # update number, model as accelerate wraps it, batch


class TrainingError(UserError):
    """Training cannot go on; the message says what happened and where the evidence lies."""


@dataclass
class Trainer:
    """A run: ``fit`` trains until the last update or early stopping and leaves the best weights in ``run/best``.

    select     validation values -> the number that the best checkpoint maximises
    metrics    rewards to report in validation, by name
    signatures of the rewards, stored with the checkpoint
    held       let go when ``fit`` ends: the claim on the run folder
    """

    config: Config
    accelerator: Accelerator
    model: Model
    train_rows: datasets.Dataset
    valid_rows: datasets.Dataset
    step: Step
    select: Callable[[Mapping[str, float]], float]
    metrics: Mapping[str, Reward]
    signatures: Mapping[str, str]
    progress: Progress = field(default_factory=Progress)
    held: AbstractContextManager[object] = field(default_factory=nullcontext)

    def __post_init__(self) -> None:
        """Place the model and make its optimiser."""
        training = self.config.training
        self.run = Path(self.config.run)
        optimizer = torch.optim.Adam(self.model.parameters(), lr=training.learning_rate, fused=True)
        self.wrapped, self.optimizer = self.accelerator.prepare(self.model, optimizer)
        lengths = training_lengths(self.train_rows)
        self._valid_lengths = [len(tokens) for tokens in self.valid_rows["src_tokens"]]
        together = training.batch_size * training.accumulate * self.accelerator.num_processes
        self.plan = BatchPlan(lengths, together, training.seed)  # of whole updates, however they are divided
        self._log: dict[str, list[float]] = {}  # since the last line of the log, which holds their means
        self._tokens, self._since = 0.0, time.perf_counter()

    def resume(self) -> None:
        """Continue where the run folder's state stands."""
        self.progress = checkpoint.load_state(self.run, self.model, self.optimizer)
        if self.accelerator.scaler is not None and self.progress.scaler is not None:
            self.accelerator.scaler.load_state_dict(self.progress.scaler)

    def fit(self) -> Progress:
        """Train to the end. Raises TrainingError when a loss or a gradient is not finite."""
        steps = self.config.training.steps
        with self.held, Monitor(self.run, self.accelerator, self.progress.step, steps) as monitor:
            if self.progress.step == 0 and self.progress.best is None:
                monitor.forget_after(-1)  # a run that was killed before its first state begins anew
                if self.accelerator.is_main_process:
                    checkpoint.create(self.run / "best", self.config, self.model, self.signatures)
                self._validate(monitor)  # the start is a candidate for the best, too
            while self.progress.step < steps and not self.progress.finished:
                self._update()
                self.progress.step += 1
                validates = self.progress.step % self.config.training.validate_every == 0 or self.progress.step == steps
                # a log line before every validation: a run resumed from there has nothing half-logged to remember
                if validates or self.progress.step % self.config.training.log_every == 0:
                    monitor.train(self.progress.step, self._flush_log())
                if validates:
                    self._validate(monitor)
            self._finish(monitor)
        return self.progress

    def _finish(self, monitor: Monitor) -> None:
        """Leave the outcome in result.json, which only a finished run has."""
        progress, name = self.progress, self.config.run
        if self.accelerator.is_main_process:
            checkpoint.write_atomically(self.run / checkpoint.RESULT, json.dumps(asdict(progress), indent=2).encode())
        monitor.say(f"{name}: {progress.step} updates, best after {progress.best_step}, weights in {self.run / 'best'}")

    # ---- one update -----------------------------------------------------------------------------------------------

    def _update(self) -> None:
        training, number = self.config.training, self.progress.step
        torch.manual_seed(hash((training.seed, number, self.accelerator.process_index)) % 2**63)
        for group in self.optimizer.param_groups:
            group["lr"] = training.rate_at(number)
        self.wrapped.train()
        batches = self._batches(number // self.config.objective.updates_per_sample)
        articles = sum(len(batch) for batch in batches)
        for i, batch in enumerate(batches):
            last = i == len(batches) - 1
            with nullcontext() if last else self.accelerator.no_sync(self.wrapped), self.accelerator.autocast():
                result = self.step(number, self.wrapped, batch)
            if not torch.isfinite(result.loss):
                self._refuse("loss", result.loss.item(), batches)
            self.accelerator.backward(result.loss / (articles / len(batch)))  # every article counts the same
            self._remember(result.log)
        norm = self.accelerator.clip_grad_norm_(self.wrapped.parameters(), training.clip)
        # in fp16 the gradient scaler skips such an update by itself and lowers the scale
        if training.mixed_precision != "fp16" and not torch.isfinite(norm):
            self._refuse("gradient norm", float(norm), batches)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self._remember({"gradient_norm": float(norm), "learning_rate": training.rate_at(number)})

    def _batches(self, number: int) -> list[Batch]:
        """The articles of an update that are this process's, ``batch_size`` at a time."""
        together, size = self.plan.at(number), self.config.training.batch_size
        # where an epoch's last batch is smaller than the number of processes, every process still takes part
        rows = together[self.accelerator.process_index :: self.accelerator.num_processes] or together[:1]
        parts = [rows[start : start + size] for start in range(0, len(rows), size)]
        return [self.model.collate(self.train_rows[part]).to(self.accelerator.device) for part in parts]

    def _remember(self, log: Mapping[str, float]) -> None:
        self._tokens += log.get("tokens", 0.0)
        for name, value in log.items():
            if name != "tokens" and not math.isnan(value):
                self._log.setdefault(name, []).append(value)

    def _flush_log(self) -> dict[str, float]:
        now = time.perf_counter()
        log = {name: sum(values) / len(values) for name, values in self._log.items()}
        log["tokens_per_second"] = self._tokens / (now - self._since)
        self._log, self._tokens, self._since = {}, 0.0, now
        return log

    def _refuse(self, what: str, value: float, batches: list[Batch]) -> None:
        """Save the evidence of a non-finite number, and stop."""
        folder = self.run / f"failed-at-{self.progress.step}"
        folder.mkdir(parents=True, exist_ok=True)
        rows = [
            {"id": i, "source": source, "references": references}
            for batch in batches
            for i, source, references in zip(batch.ids, batch.sources, batch.references, strict=True)
        ]
        checkpoint.write_atomically(folder / "batch.json", json.dumps(rows, ensure_ascii=False, indent=1).encode())
        checkpoint.save_state(folder, self.model, self.optimizer, self.progress)
        raise TrainingError(
            f"{what} is {value} in update {self.progress.step}; the batch and the state before it are in {folder}. "
            f"Resuming would repeat it; start a new run from the best weights with a lower rate: rlsum train CONFIG "
            f"--init {self.run} run=NEW training.learning_rate={self.config.training.learning_rate / 2:g}"
        )

    # ---- validation -----------------------------------------------------------------------------------------------

    def _validate(self, monitor: Monitor) -> None:
        """Measure, keep the best, count validations without gain, save the state."""
        training, progress = self.config.training, self.progress
        result = self._measure()
        value = self.select(result.values)
        if self.config.objective.rewarded and math.isnan(value):
            self._refuse_undefined(result)
        better = progress.best is None or value > progress.best
        if better:
            progress.best = value if math.isfinite(value) else None
            progress.best_step, progress.without_gain = progress.step, 0
        else:
            progress.without_gain += 1
            progress.finished = training.patience is not None and progress.without_gain >= training.patience
        monitor.valid(progress.step, result.values, better)
        monitor.samples(progress.step, result.outputs[: training.sample_outputs])
        if self.accelerator.scaler is not None:
            progress.scaler = self.accelerator.scaler.state_dict()
        if self.accelerator.is_main_process:
            if better:
                about = {"step": progress.step, **result.values}
                checkpoint.save_weights(self.run / "best", self.model, about)
            checkpoint.save_state(self.run, self.model, self.optimizer, progress)
        self.accelerator.wait_for_everyone()
        self._since = time.perf_counter()  # validation is no training time

    def _refuse_undefined(self, result: Validation) -> None:
        """A reward without a value cannot choose the best, and gives no gradient."""
        first = result.outputs[0]
        reason = self.metrics["reward"].undefined(first.candidate, first.references)
        raise TrainingError(
            f"the reward is undefined on all {len(result.outputs)} validation articles ({reason}); "
            "`rlsum score` shows it text by text"
        )

    def _measure(self) -> Validation:
        training = self.config.training
        size = len(self.valid_rows)
        shown = sorted(random.Random(training.seed).sample(range(size), min(training.validate_decoded, size)))
        self.model.eval()
        with self.accelerator.autocast():
            return validate(
                self.model,
                self._valid_batches(range(size)),
                self._valid_batches(shown),
                self.config.decoding,
                self.metrics,
                self.run.name,
            )

    def _valid_batches(self, rows: range | list[int]) -> Iterator[Batch]:
        """Batches of similar length; scores do not depend on the company (see the tests of padding)."""
        by_length = sorted(rows, key=lambda row: self._valid_lengths[row])
        size = 2 * self.config.training.batch_size  # no gradients to keep
        for start in range(0, len(by_length), size):
            yield self.model.collate(self.valid_rows[by_length[start : start + size]]).to(self.accelerator.device)
