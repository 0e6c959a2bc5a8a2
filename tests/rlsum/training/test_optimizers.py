"""The optimisers against other implementations of the same formulas, and their choice."""

import pytest
import torch

from rlsum.config import Training
from rlsum.errors import TrainingError
from rlsum.training.optimizers import optimizer_of

SHAPES = [(7, 5), (5,), (3, 4, 2)]


def weights():
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(shape)) for shape in SHAPES]


def moved(make, updates=5):
    """Weights after updates with the same gradients."""
    parameters = weights()
    optimizer = make(parameters)
    torch.manual_seed(1)
    for _ in range(updates):
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        optimizer.step()
    return [parameter.detach() for parameter in parameters]


def ours(updates=5, **options):
    return moved(lambda parameters: optimizer_of(Training(steps=updates, **options), parameters), updates)


def test_adafactor_is_that_of_transformers_with_steps_relative_to_the_weights():
    from transformers import Adafactor

    options = {"lr": 0.05, "scale_parameter": True, "relative_step": False, "warmup_init": False}
    expected = moved(lambda parameters: Adafactor(parameters, **options))
    for found, wanted, start in zip(ours(optimizer="adafactor", learning_rate=0.05), expected, weights(), strict=True):
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
        assert (found - start).abs().max() > 0.1


def test_adafactor_keeps_rows_and_columns_alone():
    parameters = weights()
    optimizer = optimizer_of(Training(steps=1, optimizer="adafactor"), parameters)
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    sizes = [sum(value.numel() for value in optimizer.state[parameter].values()) for parameter in parameters]
    assert sizes == [7 + 5 + 1, 5 + 1, 3 * 4 + 3 * 2 + 1]  # and the number of updates


def test_weights_decay_beside_the_moments():
    plain = ours(updates=1, optimizer="adam", learning_rate=0.1)
    assert all(map(torch.equal, ours(updates=1, optimizer="adamw", learning_rate=0.1), plain))
    decayed = ours(updates=1, optimizer="adamw", learning_rate=0.1, weight_decay=0.5)
    for found, without, start in zip(decayed, plain, weights(), strict=True):
        torch.testing.assert_close(found, without - 0.1 * 0.5 * start.detach())


def test_adam_has_no_decay():
    with pytest.raises(ValueError, match=r"weight_decay=0.1: not with optimizer=adam; use optimizer=adamw"):
        Training(steps=1, weight_decay=0.1)


def test_a_model_of_which_no_weight_is_trained_is_refused():
    frozen = [torch.nn.Parameter(torch.ones(2), requires_grad=False)]
    with pytest.raises(TrainingError, match="no weight of the model is trained"):
        optimizer_of(Training(steps=1), frozen)
