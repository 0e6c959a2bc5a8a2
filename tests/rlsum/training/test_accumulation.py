"""However the articles of an update are divided into batches, the update is the same."""

from contextlib import nullcontext

import numpy as np
import pytest
import tiny
import torch

from rlsum.errors import UserError


@pytest.mark.parametrize("kind", ["mle", "mixed"])
def test_four_times_two_accumulated_is_eight(tmp_path, kind):
    """Eight articles an epoch, so both see the same ones in every update. Equal rewards: samples play no part."""

    def weights(size, accumulate):
        run = tmp_path / f"{size}x{accumulate}"
        config = tiny.config(run, kind, batch_size=size, accumulate=accumulate, steps=3, learning_rate=1e-3)
        trainer = tiny.trainer(
            config, train=tiny.stories(8), reward=lambda c, r=None, s=None, columns=None: np.zeros(len(c))
        )
        trainer.metrics = {"reward": lambda c, r=None, s=None, columns=None: np.zeros(len(c))}
        tiny.calm(trainer)
        with pytest.raises(UserError, match="the reward trained nothing") if kind == "mixed" else nullcontext():
            trainer.fit()
        return trainer.model.state_dict()

    once, four = weights(8, 1), weights(2, 4)
    start = tiny.trainer(tiny.config(tmp_path / "s")).model.state_dict()
    for name in once:
        torch.testing.assert_close(four[name], once[name], atol=1e-6, rtol=0, msg=name)
        assert not torch.equal(once[name], start[name])


@pytest.mark.parametrize("name", tiny.OBJECTIVES)
def test_however_an_update_is_divided_it_is_the_same(tmp_path, name):
    """Eleven articles, eight an update: the last of an epoch has three, and is divided unevenly. Plain descent, because
    Adam makes a whole step of a gradient that is nearly rounding. What is sampled depends on the article alone."""
    objective = tiny.OBJECTIVES[name]

    def fitted(size, accumulate):
        steps = 2 * objective.get("updates_per_sample", 1)
        options = {"batch_size": size, "accumulate": accumulate, "steps": steps, "clip": 1e9, "row_noise": True}
        kind = objective.get("kind", "mle")
        trainer = tiny.trainer(
            tiny.config(tmp_path / f"{size}x{accumulate}", kind, objective=objective, **options), train=tiny.stories(11)
        )

        def descend():
            with torch.no_grad():
                for parameter in trainer.model.parameters():
                    if parameter.grad is not None:
                        parameter.sub_(0.5 * parameter.grad)

        trainer.optimizer.step = descend
        trainer.fit()
        return trainer.model.state_dict()

    once, start = fitted(8, 1), tiny.trainer(tiny.config(tmp_path / "s")).model.state_dict()
    for size, accumulate in ((1, 8), (4, 2)):
        for key, tensor in fitted(size, accumulate).items():
            torch.testing.assert_close(tensor, once[key], atol=1e-5, rtol=0, msg=f"{size}x{accumulate} {key}")
    assert max((once[key] - start[key]).abs().max() for key in once) > 1e-2
