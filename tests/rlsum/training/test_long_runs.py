"""A thousand updates of decoding, scoring and learning in half precision stay finite."""

import math

import pytest
import tiny
import torch
from left import log_of

UPDATES = 1000
OBJECTIVES = {
    "self-critical": {"kind": "mixed", "gamma": 0.97},
    "grpo": {"kind": "mixed", "estimator": "grpo", "samples": 2, "kl": 0.05, "gamma": 1.0},
    "dr-grpo": {
        "kind": "mixed", "estimator": "dr-grpo", "samples": 2, "clip": 0.2, "updates_per_sample": 2, "gamma": 0.97,
    },
    "ranking": {"kind": "ranking", "samples": 2},
}  # fmt: skip


def all_finite(trainer, run):
    """Train; every number of every update, and every weight at the end."""
    assert trainer.fit().step == UPDATES
    losses = [row["loss"] for row in log_of(run, "train")]
    assert len(losses) == UPDATES
    assert all(loss is not None and math.isfinite(loss) for loss in losses)
    assert all(p.dtype == torch.float32 and p.isfinite().all() for p in trainer.model.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_pointer_generator_in_bf16(tmp_path, fresh_precision, name):
    objective = OBJECTIVES[name]
    training = {"steps": UPDATES, "validate_every": UPDATES, "log_every": 1, "mixed_precision": "bf16"}
    config = tiny.config(tmp_path / "r", objective["kind"], objective=objective, model={"coverage": True}, **training)
    all_finite(tiny.trainer(config), tmp_path / "r")


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_pointer_generator_in_fp16_with_a_scaled_loss(tmp_path, name):
    """Runs in fp16 need a GPU, but its numbers torch has on the processor, too. Overflows lower the scale, as there."""
    objective = OBJECTIVES[name]
    trainer = tiny.trainer(tiny.config(tmp_path / "r", objective["kind"], objective=objective, steps=UPDATES))
    scaler, model, skipped = torch.amp.GradScaler("cpu"), trainer.model, 0
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for number in range(UPDATES):
        torch.manual_seed(number)
        (batch,) = trainer._batches(trainer.plan.at(number // trainer.config.objective.updates_per_sample), 4)
        with torch.autocast("cpu", dtype=torch.float16):
            loss = trainer.step(number, model, batch).loss
        assert loss.isfinite()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        skipped += not norm.isfinite()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    assert skipped < UPDATES / 20
    assert all(p.isfinite().all() for p in model.parameters())
