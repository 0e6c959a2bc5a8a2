"""The one training loop, for every objective, on any number of processes through accelerate.

Everything that varies from update to update (batch, learning rate, gamma, random numbers) is a pure function of the
seed and the update's number, so a resumed run needs only weights, optimiser and that number.
"""

from __future__ import annotations

import copy
import json
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType

from rlsum.config import Config
from rlsum.data.batch import Batch, BatchPlan, training_lengths
from rlsum.errors import UserError
from rlsum.files import write_atomically
from rlsum.training import checkpoint
from rlsum.training.checkpoint import Progress
from rlsum.training.monitor import Monitor, peak_memory
from rlsum.training.optimizers import optimizer_of
from rlsum.training.parallel import sharding
from rlsum.training.parallel.log_averaging import averaged
from rlsum.training.parallel.processes import Processes, lost_process_as_error
from rlsum.training.rewarded import Rewarded, Step
from rlsum.training.validation import Validation, validate

if TYPE_CHECKING:
    import datasets

    from rewards.base import Reward
    from rlsum.models.seq2seq import Model


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
        self.processes = Processes.of(self.accelerator)
        self.sharded = self.accelerator.distributed_type == DistributedType.FSDP
        trained = copy.deepcopy(self.model) if self.sharded else self.model
        optimizer = optimizer_of(training, trained.parameters())
        self.wrapped, self.optimizer = self.accelerator.prepare(trained, optimizer)
        self.model.to(self.accelerator.device)
        lengths = training_lengths(self.train_rows)
        self._valid_lengths = [len(tokens) for tokens in self.valid_rows["src_tokens"]]
        together = training.batch_size * training.accumulate * self.processes.world_size
        self.plan = BatchPlan(lengths, together, training.seed)  # of whole updates, however they are divided
        self._log: list[list[tuple[int, Mapping[str, float]]]] = []  # of the updates since the last line of the log
        self._since = time.perf_counter()

    def resume(self) -> None:
        """Continue where the run folder's state stands."""
        self.progress = checkpoint.load_state(self.run, self.model, self.optimizer)
        if self.sharded:
            sharding.scatter(self.model, self.wrapped)
        if self.accelerator.scaler is not None and self.progress.scaler is not None:
            self.accelerator.scaler.load_state_dict(self.progress.scaler)

    def fit(self) -> Progress:
        """Train to the end. Raises TrainingError when a loss or a gradient is not finite."""
        steps = self.config.training.steps
        again = f"resume the run with as many processes: rlsum train --resume {self.run}"
        monitored = Monitor(self.run, self.accelerator, self.progress.step, steps)
        with self.held, lost_process_as_error(again), monitored as monitor:
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
            write_atomically(self.run / checkpoint.RESULT, json.dumps(asdict(progress), indent=2).encode())
        monitor.say(f"{name}: {progress.step} updates, best after {progress.best_step}, weights in {self.run / 'best'}")

    # ---- one update -----------------------------------------------------------------------------------------------

    def _update(self) -> None:
        training, number = self.config.training, self.progress.step
        torch.manual_seed(hash((training.seed, number, self.processes.rank)) % 2**63)
        for group in self.optimizer.param_groups:
            group["lr"] = training.rate_at(number)
        self.wrapped.train()
        self.model.train()  # another one where weights are sharded
        together = self.plan.at(number // self.config.objective.updates_per_sample)
        mine = self.processes.share(together)
        # where an epoch's last batch is smaller than the number of processes, every process still takes part
        batches = self._batches(mine or together[:1], training.batch_size)
        if training.decode_batch is not None and isinstance(self.step, Rewarded):
            with self.accelerator.autocast():
                self.step.prepare(number, self._batches(mine or together[:1], training.decode_batch), batches)
        share = len(together) / self.processes.world_size  # what a process has on average, and gradients are averages
        total, log = torch.zeros((), device=self.accelerator.device), []
        for i, batch in enumerate(batches):
            last = i == len(batches) - 1
            with nullcontext() if last else self.accelerator.no_sync(self.wrapped), self.accelerator.autocast():
                result = self.step(number, self.wrapped, batch)
            # every article counts the same, and one that only takes part counts nothing
            self.accelerator.backward(result.loss / (share / len(batch)) if mine else 0.0 * result.loss)
            total += result.loss.detach()
            log.append((len(batch) if mine else 0, result.log))
        total = self.accelerator.reduce(total, "sum")  # not finite where any is not
        if not torch.isfinite(total):
            self._refuse("loss", total.item(), together)
        norm = self.accelerator.clip_grad_norm_(self.wrapped.parameters(), training.clip)
        # in fp16 the gradient scaler skips such an update by itself and lowers the scale
        if training.mixed_precision != "fp16" and not torch.isfinite(norm):
            self._refuse("gradient norm", float(norm), together)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.sharded:
            sharding.gather(self.model, self.wrapped)
        every = {"gradient_norm": float(norm), "learning_rate": training.rate_at(number)}
        self._log.append([(articles, {**values, **every}) for articles, values in log])

    def _batches(self, rows: Sequence[int], size: int) -> list[Batch]:
        """Articles, ``size`` at a time."""
        parts = [rows[start : start + size] for start in range(0, len(rows), size)]
        return [self.model.collate(self.train_rows[part]).to(self.accelerator.device) for part in parts]

    def _flush_log(self) -> dict[str, float]:
        """Means over the updates since the last line, of all processes."""
        everyone = self.processes.gather_all(self._log)
        updates = [
            averaged([batch for batches in update for batch in batches]) for update in zip(*everyone, strict=True)
        ]
        now = time.perf_counter()
        tokens = sum(update.pop("tokens", 0.0) for update in updates)
        names = dict.fromkeys(name for update in updates for name in update)
        log = {}
        for name in names:
            values = [update[name] for update in updates if name in update]
            log[name] = sum(values) / len(values)
        log["tokens_per_second"] = tokens / (now - self._since)
        log["updates_per_second"] = len(updates) / (now - self._since)
        log["memory_gib"] = peak_memory(self.accelerator.device)
        self._log, self._since = [], now
        return log

    def _refuse(self, what: str, value: float, rows: list[int]) -> None:
        """Save the evidence of a non-finite number, and stop."""
        folder = self.run / f"failed-at-{self.progress.step}"
        if self.accelerator.is_main_process:
            folder.mkdir(parents=True, exist_ok=True)
            columns = self.train_rows.select_columns(["id", "source", "references"])
            batch = json.dumps([columns[row] for row in rows], ensure_ascii=False, indent=1).encode()
            write_atomically(folder / "batch.json", batch)
        self._save_state(folder)
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
        if better and self.accelerator.is_main_process:
            about = {"step": progress.step, **result.values}
            checkpoint.save_weights(self.run / "best", self.model, about)
        self._save_state(self.run)
        self._since = time.perf_counter()  # validation is no training time

    def _save_state(self, folder: Path) -> None:
        moments = checkpoint.moments_of(self.optimizer)  # of a sharded model everyone has a part
        if self.accelerator.is_main_process:
            checkpoint.save_state(folder, self.model, moments, self.progress)
        self.accelerator.wait_for_everyone()

    def _refuse_undefined(self, result: Validation) -> None:
        """A reward without a value cannot choose the best, and gives no gradient."""
        first = result.outputs[0]
        reason = self.metrics["reward"].undefined(first.candidate, first.references, first.source)
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
                self.processes,
            )

    def _valid_batches(self, rows: range | list[int]) -> Iterator[Batch]:
        """This process's batches of similar length; scores do not depend on the company (see the tests of padding)."""
        by_length = sorted(rows, key=lambda row: self._valid_lengths[row])
        size = 2 * self.config.training.batch_size  # no gradients to keep
        for start in self.processes.share(range(0, len(by_length), size)):
            yield self.model.collate(self.valid_rows[by_length[start : start + size]]).to(self.accelerator.device)
