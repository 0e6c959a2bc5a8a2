"""The training loop, for every objective, on any number of processes through accelerate.

Everything that varies from update to update (batch, learning rate, gamma, random numbers) is a pure function of the
seed and the update's number, so a resumed run needs only weights, optimiser state and that number.
"""

from __future__ import annotations

import copy
import json
import random
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from signal import Signals
from typing import Any

import datasets
import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType
from torch import Tensor

from rewards.base import Reward
from rlsum.config import Config
from rlsum.data.batch import Batch, BatchPlan
from rlsum.data.counts import token_counts, training_lengths
from rlsum.errors import TrainingError
from rlsum.files import write_atomically
from rlsum.models.summarizer import Model
from rlsum.records import to_json
from rlsum.training import checkpoint
from rlsum.training.checkpoint import Progress
from rlsum.training.log import signs
from rlsum.training.log.lines import TrainingLog
from rlsum.training.log.monitor import SAMPLES, TRAINED, Monitor, peak_memory
from rlsum.training.log.numbers import FIELDS as FIELDS  # all of them: every module that declares some is loaded
from rlsum.training.log.numbers import Field, Greatest, Logged, Mean, Numbers, declare
from rlsum.training.log.numbers import field_of as field_of
from rlsum.training.optimizers import optimizer_of
from rlsum.training.parallel import sharding
from rlsum.training.parallel.interruption import Interruption, StoppedValidation
from rlsum.training.parallel.launch import slow_precision
from rlsum.training.parallel.processes import Processes, lost_process_as_error
from rlsum.training.rollout import Rollout
from rlsum.training.steps import BufferedStep, Step
from rlsum.training.validation import Choice, Validation, training_samples, validate

declare(
    Field("gradient_norm", "norm of the gradient before clipping"),
    Field("learning_rate", "learning rate of the updates"),
    Field("skipped_updates", "share of updates that are not made: their gradient overflowed (fp16)"),
)


@dataclass
class Trainer:
    """A run: ``fit`` trains until the last update or early stopping and leaves the best weights in ``run/best``.

    step        loss of a batch, see ``steps.training_step``
    choice      what the best checkpoint maximises
    metrics     rewards to report in validation, by name
    signatures  of the rewards, stored with the checkpoint
    held        released when ``fit`` ends: the lock of the run folder
    stopped     the signal that ended ``fit`` before the run was finished
    """

    config: Config
    accelerator: Accelerator
    model: Model
    train_rows: datasets.Dataset
    valid_rows: datasets.Dataset
    step: Step
    choice: Choice
    metrics: Mapping[str, Reward]
    signatures: Mapping[str, str]
    progress: Progress = field(default_factory=Progress)
    held: AbstractContextManager[object] = field(default_factory=nullcontext)
    stopped: Signals | None = None

    def __post_init__(self) -> None:
        training = self.config.training
        self.run = Path(self.config.run)
        self.processes = Processes.of(self.accelerator)
        self.sharded = self.accelerator.distributed_type == DistributedType.FSDP
        trained = copy.deepcopy(self.model) if self.sharded else self.model
        optimizer = optimizer_of(training, trained.parameters())
        self.wrapped, self.optimizer = self.accelerator.prepare(trained, optimizer)
        self.model.to(self.accelerator.device)
        lengths = training_lengths(self.train_rows)
        self._valid_lengths = token_counts(self.valid_rows, "src_tokens")
        articles = training.batch_size * training.accumulate * self.processes.world_size  # of an update
        self.plan = BatchPlan(lengths, articles, training.seed)
        self.log = TrainingLog(self.processes)
        self.interruption = Interruption()
        self._asked = False  # whether any process has been asked to stop
        self._drawn: tuple[Batch, Rollout] | None = None  # the first batch of the last update, if it has samples
        self._samples: list[dict[str, Any]] = []  # some of it, to be written with the validation
        reward = self.signatures.get("reward", "")  # holds the signatures of the rewards that it is made of
        inner = {name: getattr(self.metrics[name], "reward", self.metrics[name]) for name in self.signatures}
        self._untrained = [name for name, metric in inner.items() if metric.signature not in reward]

    def resume(self) -> None:
        """Continue from the state in the run folder."""
        self.progress = checkpoint.load_state(self.run, self.model, self.optimizer)
        if self.sharded:
            sharding.scatter(self.model, self.wrapped)
        if self.accelerator.scaler is not None and self.progress.scaler is not None:
            self.accelerator.scaler.load_state_dict(self.progress.scaler)
        if self.progress.unwritten is not None:
            self.log.resume(self.progress.unwritten["log"])
            self._samples = self.progress.unwritten["samples"]
            self.progress.unwritten = None

    def fit(self) -> Progress:
        """Train to the end, or until a signal: see ``Interruption``.

        Raises TrainingError when a loss or a gradient is not finite, when the run has trained nothing, or diverged (see
        ``signs.failure``), or when a trainer of another precision has been made.
        """
        steps, precision = self.config.training.steps, self.config.training.mixed_precision
        if precision != (newer := self.accelerator.mixed_precision):  # accelerate has one in a process
            raise TrainingError(
                f"training.mixed_precision={precision}: a trainer with {newer} was made after this one; let one finish "
                "before the next is made"
            )
        advice = f"resume the run with as many processes: rlsum train --resume {self.run}"
        monitored = Monitor(self.run, self.accelerator, self.progress.step, steps)
        with self.held, lost_process_as_error(advice), monitored as monitor, self.interruption:
            for warning in filter(None, (slow_precision(self.accelerator), self.config.training.warning)):
                monitor.say(f"{self.config.run} warning: {warning}")
            try:
                self._train(monitor, steps)
            except StoppedValidation:
                self.progress.due = self._asked = True
            if self._asked and (self.progress.due or (self.progress.step < steps and not self.progress.finished)):
                self._stop(monitor)
            else:
                self._finish(monitor)
        return self.progress

    def _train(self, monitor: Monitor, steps: int) -> None:
        """Updates and validations until the run is finished or asked to stop."""
        if self.accelerator.is_main_process and self.progress.step < steps and not self.progress.finished:
            (self.run / checkpoint.RESULT).unlink(missing_ok=True)  # of a run that is trained on
        if self.progress.step == 0 and self.progress.best is None:
            monitor.forget_after(-1)  # a run that was killed before its first state begins anew
            if self.accelerator.is_main_process:
                checkpoint.create(self.run / "best", self.config, self.model, self.signatures)
            self._validate(monitor)  # the start is a candidate for the best, too
        elif self.progress.due:
            self._validate(monitor)
        while self.progress.step < steps and not self.progress.finished and not self._may_stop():
            self.update()
            self.progress.step += 1
            validates = self.progress.step % self.config.training.validate_every == 0 or self.progress.step == steps
            if validates or self.progress.step % self.config.training.log_every == 0:
                line = self.log.flush()
                self.progress.had_gradient |= line.get("gradient_norm", 0.0) > 0
                if "zero_groups" in line and self.config.objective.control != "constant":  # whose rewards say nothing
                    self.progress.had_advantage = bool(self.progress.had_advantage) or line["zero_groups"] < 1
                monitor.train(self.progress.step, line)
            if validates:
                self._validate(monitor)

    def _may_stop(self) -> bool:
        """Whether to stop here: not between updates that share samples, which the state does not hold."""
        return self._asked and self.progress.step % self.config.objective.updates_per_sample == 0

    def _stop(self, monitor: Monitor) -> None:
        """Save the state before the run is finished, and say how to continue."""
        self.stopped = self.interruption.signal or Signals.SIGTERM  # another process has the signal
        self.progress.unwritten = {"log": self.log.unwritten(), "samples": self._samples}
        if self.progress.due and self.progress.step == 0:  # best/ has no weights yet, and resuming needs its model
            checkpoint.save_weights(self.run / "best", self.model, {"step": 0})
        self._save_state(self.run)
        monitor.say(
            f"{self.config.run}: stopped by {self.stopped.name} after update {self.progress.step}; continue with: "
            f"rlsum train --resume {shlex.quote(str(self.run))}"
        )

    def _finish(self, monitor: Monitor) -> None:
        """Write result.json, which only a finished run has. Raises TrainingError if it has trained nothing."""
        progress, name, history = self.progress, self.config.run, self._history(monitor)
        failed = self.processes.gather_all(signs.failure(history))[0]  # which has the log
        if self.accelerator.is_main_process:
            result = {key: value for key, value in asdict(progress).items() if key != "unwritten"} | {"failed": failed}
            write_atomically(self.run / checkpoint.RESULT, json.dumps(result, indent=2).encode())
        best = self.run / "best"
        gone = "" if (best / checkpoint.WEIGHTS).is_file() else ", from which they were removed"
        monitor.say(f"{name}: {progress.step} updates, best after {progress.best_step}, weights in {best}{gone}")
        if progress.step and not progress.best_step:
            monitor.say(f"{name}: no validation was better than the start, so best/ holds the weights of the start")
        for sentence in signs.summary(history):
            monitor.say(f"{self.run.name} warning: {sentence}")
        if failed is not None:
            raise TrainingError(f"{name}: {failed}")

    def _history(self, monitor: Monitor) -> signs.History:
        return signs.History(monitor.logged("train"), monitor.logged("valid"), self.progress, self._untrained)

    # ---- one update -----------------------------------------------------------------------------------------------

    def update(self) -> None:
        """One optimiser step from the next batches, which the log counts; ``fit`` counts it in ``progress``."""
        training, number = self.config.training, self.progress.step
        torch.manual_seed(hash((training.seed, number, self.processes.rank)) % 2**63)
        for group in self.optimizer.param_groups:
            group["lr"] = training.rate_at(number)
        self.wrapped.train()
        self.model.train()  # another object where weights are sharded
        rows = self.plan.at(number // self.config.objective.updates_per_sample)  # of all processes
        loss, log = self._backward(rows)
        if not torch.isfinite(loss):
            self._refuse("loss", loss.item(), rows)
        norm = self.accelerator.clip_grad_norm_(self.wrapped.parameters(), training.clip)
        # in fp16 the gradient scaler skips such an update by itself and lowers the scale
        if training.mixed_precision != "fp16" and not torch.isfinite(norm):
            self._refuse("gradient norm", float(norm), rows)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.sharded:
            sharding.gather(self.model, self.wrapped)
        applied = bool(torch.isfinite(norm))
        numbers: dict[str, Logged] = {
            "gradient_norm": Mean(float(norm), 1) if applied else Mean(0, 0),
            "learning_rate": Mean(training.rate_at(number), 1),
            "memory_gib": Greatest(peak_memory(self.accelerator.device)),
        }
        if training.mixed_precision == "fp16":
            numbers["skipped_updates"] = Mean(not applied, 1)
        self.log.add([*log, numbers])

    def _backward(self, rows: Sequence[int]) -> tuple[Tensor, list[Numbers]]:
        """Add up gradients of the batches; returns the sum of their losses over all processes, and this one's log."""
        training, number, share = self.config.training, self.progress.step, self.processes.share(rows)
        batches = self._batches(share, training.batch_size)
        rollouts: Sequence[Rollout | None] = [None] * len(batches)
        if isinstance(self.step, BufferedStep):
            decoded = batches if training.decode_batch is None else self._batches(share, training.decode_batch)
            with self.accelerator.autocast():
                rollouts = self.step.prepare(number, batches, decoded)
        total, log = torch.zeros((), device=self.accelerator.device), []
        mean_share = len(rows) / self.processes.world_size  # gradients are means over processes
        for i, (batch, rollout) in enumerate(zip(batches, rollouts, strict=True)):
            last = i == len(batches) - 1
            with nullcontext() if last else self.accelerator.no_sync(self.wrapped), self.accelerator.autocast():
                result = self.step(number, self.wrapped, batch, rollout)
            self.accelerator.backward(result.loss / (mean_share / len(batch)))  # every article counts the same
            total += result.loss.detach()
            log.append(result.log)
            if i == 0:
                self._drawn = None if result.rollout is None else (batch, result.rollout)
        if not batches:  # fewer articles than processes at the end of an epoch; the others still wait for gradients
            (batch,) = self._batches(rows[:1], 1)
            with self.accelerator.autocast():
                zero = 0.0 * self.wrapped(batch, batch.target).log_prob.sum()
            self.accelerator.backward(zero)
        asked = total.new_tensor(float(self.interruption.signal is not None))
        total, asked = self.accelerator.reduce(torch.stack([total, asked]), "sum")  # not finite where any loss is not
        self._asked = bool(asked)
        return total, log

    def _batches(self, rows: Sequence[int], size: int) -> list[Batch]:
        batches = (self.train_rows[rows[start : start + size]] for start in range(0, len(rows), size))
        return [self.model.collate(batch).to(self.accelerator.device) for batch in batches]

    def _refuse(self, what: str, value: float, rows: list[int]) -> None:
        """Save the batch and the state, then raise TrainingError for a number that is not finite."""
        folder = self.run / f"failed-at-{self.progress.step}"
        if self.accelerator.is_main_process:
            folder.mkdir(parents=True, exist_ok=True)
            columns = self.train_rows.select_columns(["id", "source", "references"])
            batch = json.dumps([columns[row] for row in rows], ensure_ascii=False, indent=1).encode()
            write_atomically(folder / "batch.json", batch)
        self._save_state(folder)
        again = "Resuming would repeat it;" if self.accelerator.device.type == "cpu" else "If resuming repeats it,"
        raise TrainingError(
            f"{what} is {value} in update {self.progress.step}; the batch and the state before it are in {folder}. "
            f"{again} start a new run from the best weights with a lower rate: rlsum train CONFIG "
            f"--init {self.run} run=NEW training.learning_rate={self.config.training.learning_rate / 2:g}"
        )

    # ---- validation -----------------------------------------------------------------------------------------------

    def _validate(self, monitor: Monitor) -> None:
        """Validate, keep the best weights, count validations without gain, save the state."""
        training, progress = self.config.training, self.progress
        if self._drawn is not None:
            self._samples = training_samples(self.model, *self._drawn, training.sample_outputs)
        result = self.measure()
        value = self.choice(result.values)
        for name in ("reward", self.choice.name):
            if name in self.metrics:
                result.check_defined(name, self.metrics[name])
        better = progress.validated(value, training)
        monitor.valid(progress.step, result.values, better)
        shown = [json.loads(to_json(output)) for output in result.shown(training.sample_outputs)]
        monitor.append(SAMPLES, progress.step, shown)
        if self._samples:
            monitor.append(TRAINED, progress.step, self._samples)
        self._samples = []
        for sentence in signs.news(self._history(monitor)):
            monitor.say(f"{self.run.name} warning: {sentence}")
        if better and self.accelerator.is_main_process:
            about = {"step": progress.step, **result.values}
            checkpoint.save_weights(self.run / "best", self.model, about)
        self._save_state(self.run)
        self.log.restart_clock()  # the seconds of validation do not count

    def _save_state(self, folder: Path) -> None:
        if self.accelerator.scaler is not None:
            self.progress.scaler = self.accelerator.scaler.state_dict()
        moments = checkpoint.moments_of(self.optimizer)  # a sharded model: of all processes together
        if self.accelerator.is_main_process:
            checkpoint.save_state(folder, self.model, moments, self.progress)
        self.accelerator.wait_for_everyone()

    def measure(self) -> Validation:
        """The likelihood of all validation articles; the rewards of those that are decoded."""
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
                training.seed,
                self.processes,
            )

    def _valid_batches(self, rows: range | list[int]) -> Iterator[Batch]:
        """This process's share of batches of similar length; scores do not depend on what shares a batch."""
        by_length = sorted(rows, key=lambda row: self._valid_lengths[row])
        size = self.config.training.batch_size
        size = 2 * size if size > 1 else 1  # no gradients to keep; a model may have to read articles one by one
        for start in self.processes.share(range(0, len(by_length), size)):
            if self.interruption.signal is not None and self.processes.world_size == 1:
                raise StoppedValidation  # several processes gather their results: they end the validation
            yield self.model.collate(self.valid_rows[by_length[start : start + size]]).to(self.accelerator.device)
