"""Models, batches and corpora small enough that a test of training takes milliseconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from portable import draw_normal

from rlsum import config as configs
from rlsum.config import Config
from rlsum.data.batch import Batch, collate
from rlsum.data.vocabulary import EOS, PAD, Vocabulary
from rlsum.models.constraints import Constraints
from rlsum.models.pointer_generator.encoder import BidirectionalEncoder
from rlsum.models.pointer_generator.model import PointerGenerator
from rlsum.models.pointer_generator.options import PointerGeneratorConfig
from rlsum.objective import Objective
from rlsum.training import checkpoint
from rlsum.training.estimators import ESTIMATORS
from rlsum.training.parallel.processes import Processes
from rlsum.training.reward_losses import REWARD_LOSSES
from rlsum.training.start.origin import Origin, keeps_start, start_scorer
from rlsum.training.steps import training_step
from rlsum.training.trainer import Trainer
from rlsum.training.validation import Choice

WORDS = ("ash", "birch", "cedar", "elm", "fir", "oak")

# (article, summary): words out of the vocabulary are capitalised; some are copied, one (Nowhere) cannot be
PAIRS = (
    ("Quercus oak elm Quercus Acer fir ash birch", "Quercus elm Acer oak"),
    ("Tilia", "Tilia Tilia Nowhere"),
    ("cedar Zelkova cedar", ""),
    ("fir ash oak Zelkova Quercus", "ash Quercus fir fir Zelkova"),
)
EMPTY = ("", "ash Nowhere")
ARTICLES = (*PAIRS, EMPTY)
SIZES = [
    pytest.param({}, id="plain"),
    pytest.param({"coverage": True}, id="coverage"),
    pytest.param({"encoder_layers": 2, "decoder_layers": 2, "coverage": True}, id="two-layers"),
]

# options that change what is drawn
CUTS = {
    "plain": {},
    "temperature": {"temperature": 0.7},
    "hot": {"temperature": 1.5},
    "top_k": {"top_k": 4},
    "top_p": {"top_p": 0.8},
    "min_length": {"min_length": 5},
    "block_ngrams": {"block_ngrams": 2},
    "all": {"temperature": 1.2, "top_k": 9, "top_p": 0.9, "min_length": 4, "block_ngrams": 1},
}


def vocabulary(words=WORDS) -> Vocabulary:
    return Vocabulary.of_counts(Counter(words), size=100)


def rows(pairs) -> dict:
    """Columns as a corpus has them."""
    return {
        "id": [str(i) for i in range(len(pairs))],
        "source": [source for source, _ in pairs],
        "references": [[reference] for _, reference in pairs],
        "src_tokens": [source.split() for source, _ in pairs],
        "tgt_tokens": [reference.split() for _, reference in pairs],
        "tgt_whole": [True for _ in pairs],
    }


def batch(pairs=PAIRS, words=WORDS) -> Batch:
    return collate(rows(pairs), vocabulary(words))


def selected(whole: Batch, chosen) -> Batch:
    """Those rows of a batch, in the order given, with repetitions."""
    picked = {}
    for name in (field.name for field in fields(whole) if field.name not in ("pad", "ends")):
        value = getattr(whole, name)
        picked[name] = value[list(chosen)] if isinstance(value, torch.Tensor) else tuple(value[i] for i in chosen)
    return replace(whole, **picked)


def constraints(limits, texts: int, ends=(EOS,), never=()) -> Constraints:
    """Those of so many texts of one article."""
    return Constraints(limits, replace(batch(PAIRS[:1]), ends=ends), torch.zeros(texts, dtype=torch.long), never)


def model(seed=1, std=0.4, words=WORDS, **sizes) -> PointerGenerator:
    """A model whose weights are large enough that its distributions are far from uniform."""
    torch.manual_seed(seed)
    built = PointerGenerator(PointerGeneratorConfig(**{"embedding": 6, "hidden": 8, **sizes}), vocabulary(words))
    draw_normal(((parameter, std) for parameter in built.parameters()), seed)
    with torch.no_grad():
        built.embed.weight[PAD].zero_()
    return built.eval()


def copier(**options) -> PointerGenerator:
    """A model that copies about as often as it generates, and ends soon enough."""
    built = model(std=0.8, **options)
    with torch.no_grad():
        built.gate.bias.fill_(0.0)
        built.word_out.bias[EOS] = 2.0
    return built


def library_lstm(encoder: BidirectionalEncoder) -> torch.nn.LSTM:
    """The same weights in torch's own bidirectional LSTM."""
    first, layers = encoder.forwards[0], len(encoder.forwards)
    lstm = torch.nn.LSTM(first.input_size, first.hidden_size, layers, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for layer in range(layers):
            for suffix, directions in (("", encoder.forwards), ("_reverse", encoder.backwards)):
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    getattr(lstm, f"{name}_l{layer}{suffix}").copy_(getattr(directions[layer], f"{name}_l0"))
    return lstm


def decoder_distributions(model, batch, target):
    """Distributions (B, T, V') that decoding would use along a target."""
    encoded = model.encode(batch)
    state, found = model.start(encoded), []
    for word in model.embed(model._inputs(target)).unbind(1):
        out, state = model.step(encoded, state, word)
        found.append(model.words(encoded, out).p(model.word_columns()))
    return torch.stack(found, 1)


def words_of(row):
    """The ids of a row before its end."""
    row = row.tolist()
    return row[: row.index(EOS)] if EOS in row else [token for token in row if token != PAD]


def gradients(module: torch.nn.Module, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    """Gradient of a loss by parameter, zeros where a parameter plays no part."""
    names, parameters = zip(*module.named_parameters(), strict=True)
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    pairs = zip(names, parameters, found, strict=True)
    return {name: torch.zeros_like(p) if g is None else g for name, p, g in pairs}


@dataclass(frozen=True)
class OneOfTwo(Processes):
    """One of two processes, with what the other one gathered."""

    other: Sequence = ()

    def gather_all(self, value):
        return [value, self.other] if self.rank == 0 else [self.other, value]


# ---- whole runs ---------------------------------------------------------------------------------------------------


OBJECTIVES: dict[str, dict] = {
    **{name: {"kind": "mixed", "estimator": name, "samples": 2} for name in ESTIMATORS},
    **{kind: {"kind": kind, "samples": 3} for kind in REWARD_LOSSES if kind != "mixed"},
    "mle": {},
    "mle-sum": {"length": "sum"},
    "self-critical": {"kind": "mixed"},
    "rloo": {"kind": "mixed", "estimator": "rloo", "length": "sum", "normalisation": "sum", "samples": 3},
    "token": {"kind": "mixed", "normalisation": "token", "samples": 2},
    "grpo": {"kind": "mixed", "estimator": "grpo", "samples": 3, "kl": 0.5},
    "dr-grpo": {"kind": "mixed", "estimator": "dr-grpo", "samples": 3, "clip": 0.2, "updates_per_sample": 2},
    "reinforce++": {"kind": "mixed", "estimator": "reinforce++", "normalisation": "sequence"},
    "dapo": {
        "kind": "mixed", "estimator": "grpo", "samples": 2, "normalisation": "token", "skip_zero_groups": True,
        "clip": 0.2, "clip_high": 0.3, "updates_per_sample": 2,
    },
    "gspo": {
        "kind": "mixed", "estimator": "grpo", "samples": 2, "normalisation": "sequence", "ratio": "sequence",
        "clip": 0.1, "updates_per_sample": 2,
    },
    "ranking": {"kind": "ranking", "samples": 3, "margin": 0.5},
    "minimum-risk": {"kind": "minimum-risk", "samples": 3, "reward_scale": 5.0},
}  # fmt: skip


class Overlap:
    """Share of the reference's words that the candidate has: a reward that costs nothing."""

    name = signature = "overlap"
    columns = optional_columns = ()

    def __call__(self, candidates, references=None, sources=None, columns=None) -> np.ndarray:
        pairs = zip(candidates, references, strict=True)
        return np.array([len({*c.split()} & {*r[0].split()}) / max(1, len({*r[0].split()})) for c, r in pairs])


def stories(count, first=0) -> list[tuple[str, str]]:
    """Articles of several lengths with a name each, and summaries that tell the name and the last word."""
    pairs = []
    for i in range(first, first + count):
        words = [WORDS[(i * j + j) % len(WORDS)] for j in range(1, 4 + i % 5)]
        pairs.append((" ".join([*words, f"Name{i}"]), f"Name{i} {words[-1]}"))
    return pairs


def objective(kind="mixed", **options) -> Objective:
    """An objective of two samples an article, with a reward."""
    return Objective(kind, "rouge-l", **{"samples": 2, **options})


def config(run, kind="mle", *, model=None, objective=None, decoding=None, sampling=None, **training) -> Config:
    """A configuration of a tiny run; its data stand nowhere (see ``trainer``)."""
    defaults = {"steps": 6, "batch_size": 4, "learning_rate": 0.02, "validate_every": 2, "log_every": 2}
    reward = {} if kind == "mle" else {"reward": "overlap"}
    values = {
        "run": str(run),
        "data": {"train": "none", "valid": "none"},
        "model": {"embedding": 6, "hidden": 8, **(model or {})},
        "objective": {"kind": kind, **reward, **(objective or {})},
        "training": {"tracker": None, "sample_outputs": 1, **defaults, **training},
        "decoding": {"max_length": 5, **(decoding or {})},
        "sampling": sampling or {},
    }
    return configs.check(values, "test")


def save_copier(run: Path, **decoding) -> Path:
    """The folder of a run whose best checkpoint is ``copier()``."""
    model = copier()
    checkpoint.create(run / "best", config(run, model={"dropout": 0.0}, decoding=decoding), model, {})
    checkpoint.save_weights(run / "best", model, {})
    return run


def trainer(config: Config, *, train=None, valid=None, reward=None, resume=False) -> Trainer:
    """What build.trainer makes of a configuration, but from pairs in memory and a reward object."""
    import datasets
    from accelerate import Accelerator

    run, reward = Path(config.run), reward or Overlap()
    run.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(config.training.seed)
    built = PointerGenerator(config.model, vocabulary())
    mixed = config.objective.rewarded
    if keeps_start(config) and not resume:
        checkpoint.save_start(run, built)
    start = start_scorer(config, built, Origin(resumed=resume), torch.device("cpu"))
    result = Trainer(
        config=config,
        accelerator=Accelerator(cpu=True, mixed_precision=config.training.mixed_precision),
        model=built,
        train_rows=datasets.Dataset.from_dict(rows(train or stories(10))),
        valid_rows=datasets.Dataset.from_dict(rows(valid or stories(5, first=100))),
        step=training_step(config, built, reward if mixed else None, start),
        choice=Choice(str(config.chooses_by), config.objective.coverage_weight),
        metrics={"overlap": Overlap(), **({"reward": reward} if mixed else {})},
        signatures={"overlap": "overlap"},
    )
    if resume:
        result.resume()
    return result


def stop(trainer: Trainer, step: int) -> None:
    """Fit a run that is interrupted before update ``step``."""
    update = trainer.update

    def stopping():
        if trainer.progress.step == step:
            raise KeyboardInterrupt
        update()

    trainer.update = stopping
    with pytest.raises(KeyboardInterrupt):
        trainer.fit()


def calm(trainer: Trainer) -> None:
    """Let Adam make small steps of small gradients, before the first update.

    By itself it makes a whole step of a gradient that is nothing but rounding, so that sums in another order end up
    elsewhere.
    """
    for group in trainer.optimizer.param_groups:
        group["eps"] = 1e-3


def fit(run, values, kind="mle", **training):
    """A run whose validations have the given values, and where its best checkpoint is from."""
    name = "reward" if kind == "mixed" else "nll"
    fitted = trainer(config(run, kind, validate_every=1, steps=len(values) - 1, **training))
    given, measure = iter(values), fitted.measure

    def measured():
        result = measure()
        return replace(result, values={**result.values, name: next(given)})

    fitted.measure = measured
    progress = fitted.fit()
    return progress, checkpoint.read_weights(run / "best")[1]["step"]
