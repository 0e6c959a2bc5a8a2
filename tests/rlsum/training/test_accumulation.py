"""However the articles of an update are divided into batches, the update is the same."""

import numpy as np
import pytest
import tiny
import torch

from rlsum.data.vocabulary import PAD
from rlsum.models.summarizer import Tokens


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
        trainer.fit()
        return trainer.model.state_dict()

    once, twice, four = weights(8, 1), weights(4, 2), weights(2, 4)
    start = tiny.trainer(tiny.config(tmp_path / "s")).model.state_dict()
    for name in once:
        torch.testing.assert_close(twice[name], once[name], atol=1e-6, rtol=0, msg=name)
        torch.testing.assert_close(four[name], once[name], atol=1e-6, rtol=0, msg=name)
        assert not torch.equal(once[name], start[name])


def draws_by_article(model):
    """Let what is sampled for an article depend on the article alone, not on what was drawn before."""

    def together(batch, draw):
        drawn = []
        for row in range(len(batch)):
            torch.manual_seed(int(batch.ids[row]))
            drawn.append(draw(batch.select([row])))
        return [padded([tokens[part] for tokens in drawn]) for part in range(len(drawn[0]))]

    def padded(parts):
        width = max(tokens.ids.shape[1] for tokens in parts)
        pad = [(tokens, (0, width - tokens.ids.shape[1])) for tokens in parts]
        ids = torch.cat([torch.nn.functional.pad(tokens.ids, by, value=PAD) for tokens, by in pad])
        return Tokens(ids, torch.cat([torch.nn.functional.pad(tokens.log_prob, by) for tokens, by in pad]))

    both, alone = model.self_critical, model.sample
    model.self_critical = lambda batch, *options: together(batch, lambda article: both(article, *options))
    model.sample = lambda batch, *options: together(batch, lambda article: (alone(article, *options),))[0]


@pytest.mark.parametrize("name", tiny.OBJECTIVES)
def test_however_an_update_is_divided_it_is_the_same(tmp_path, name):
    """Eleven articles, eight an update: the last of an epoch has three, and is divided unevenly. Plain descent, because
    Adam makes a whole step of a gradient that is nearly rounding."""
    objective = tiny.OBJECTIVES[name]

    def fitted(size, accumulate):
        options = {"batch_size": size, "accumulate": accumulate, "steps": 4, "log_every": 1, "clip": 1e9}
        kind = objective.get("kind", "mle")
        trainer = tiny.trainer(
            tiny.config(tmp_path / f"{size}x{accumulate}", kind, objective=objective, **options), train=tiny.stories(11)
        )
        draws_by_article(trainer.model)

        def descend():
            with torch.no_grad():
                for parameter in trainer.model.parameters():
                    if parameter.grad is not None:
                        parameter.sub_(0.5 * parameter.grad)

        trainer.optimizer.step = descend
        trainer.fit()
        return trainer.model.state_dict()

    once, start = fitted(8, 1), tiny.trainer(tiny.config(tmp_path / "s")).model.state_dict()
    for size, accumulate in ((1, 8), (4, 2), (2, 4)):
        for key, tensor in fitted(size, accumulate).items():
            torch.testing.assert_close(tensor, once[key], atol=1e-5, rtol=0, msg=f"{size}x{accumulate} {key}")
    assert max((once[key] - start[key]).abs().max() for key in once) > 1e-2
