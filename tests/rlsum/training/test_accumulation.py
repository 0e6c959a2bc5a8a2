"""However the articles of an update are divided into batches, the update is the same."""

import pytest
import tiny
import torch


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
        torch.testing.assert_close(fitted(size, accumulate), once, atol=1e-5, rtol=0)
    assert max((once[key] - start[key]).abs().max() for key in once) > 1e-2
