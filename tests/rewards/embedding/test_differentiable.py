from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import rewards
from rewards.embedding.comparison import Comparison
from rewards.embedding.differentiable import check_differentiable, similarities
from rewards.encoding.encoder import load_apart

CANDIDATES = ["the cat sleeps", "", "a red house falls .", "mayor", "storm runs red " * 9]
REFERENCES = [["the dog sleeps", "a cat ."], ["a storm"], ["a storm"], ["the mayor", ""], ["storm runs", "a river"]]
SPECS = (
    "sbert",
    "sbert(normalize=none, centering=batch)",
    "cka",
    "cka(centering=batch, layer=1)",
    "bertscore",
    "bertscore(direction=recall, centering=batch)",
    "trwmd(centering=sentence)",
    "trwmd(temperature=0)",
    "trwmd(direction=precision, entropy=true)",
    "twmd",
    "twmd(centering=batch, layer=1-3)",
    "twmd(centering=dimension, iterations=3, direction=recall, special_tokens=all)",
)


def made(spec: str, encoder: Path) -> Comparison:
    name, _, inside = spec.partition("(")
    reward = rewards.from_spec(f"{name}(encoder={encoder}{', ' + inside if inside else ')'}")
    assert isinstance(reward, Comparison)
    return reward


@pytest.mark.parametrize("spec", SPECS)
def test_what_is_trained_is_what_is_scored(tiny_encoder: Path, spec: str) -> None:
    reward = made(spec, tiny_encoder)
    encoder = load_apart(reward.space.source)
    found = similarities(reward, encoder, CANDIDATES, REFERENCES)
    np.testing.assert_allclose(found.detach(), reward(CANDIDATES, REFERENCES), atol=1e-5)
    found.sum().backward()
    gradients = [weight.grad for weight in encoder.model.parameters() if weight.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert any(gradient.abs().max() > 1e-6 for gradient in gradients)


def test_the_gradient_is_the_slope(tiny_encoder: Path) -> None:
    """Along a random direction of all weights, in double precision, against a central difference."""
    reward = made("twmd(centering=batch, temperature=0.3)", tiny_encoder)
    encoder = load_apart(reward.space.source)
    encoder.model.double()
    encoder.layers = _Double(encoder.layers)  # type: ignore[assignment]
    texts = [CANDIDATES[0], CANDIDATES[2]], [["the dog sleeps"], ["a storm"]]
    weights = [weight for name, weight in encoder.model.named_parameters() if not name.startswith("pooler.")]
    torch.manual_seed(1)
    direction = [torch.randn_like(weight) for weight in weights]
    gradients = torch.autograd.grad(similarities(reward, encoder, *texts).sum(), weights)
    slope = sum((gradient * way).sum() for gradient, way in zip(gradients, direction, strict=True))

    def moved(step: float) -> float:
        with torch.no_grad():
            for weight, way in zip(weights, direction, strict=True):
                weight += step * way
            value = float(similarities(reward, encoder, *texts).sum())
            for weight, way in zip(weights, direction, strict=True):
                weight -= step * way
        return value

    assert float(slope) == pytest.approx((moved(1e-5) - moved(-1e-5)) / 2e-5, rel=1e-4)


class _Double:
    """The layers of an encoder in double precision."""

    def __init__(self, layers: object) -> None:
        self.last = layers.last  # type: ignore[attr-defined]

    def join(self, hidden: list[torch.Tensor]) -> torch.Tensor:
        return hidden[self.last]


def test_undefined_and_floor(tiny_encoder: Path) -> None:
    reward = made("cka", tiny_encoder)
    encoder = load_apart(reward.space.source)
    found = similarities(reward, encoder, ["", "cat", "cat"], [["cat"], [" "], []])
    np.testing.assert_array_equal(found.detach(), [0.0, np.nan, np.nan])
    assert similarities(reward, encoder, [], []).shape == (0,)


def test_runs_of_32_share_their_means(tiny_encoder: Path) -> None:
    reward = made("sbert(centering=batch)", tiny_encoder)
    texts = [
        f"{first} {second}" for first in ("cat", "dog", "river", "storm", "mayor") for second in CANDIDATES[2].split()
    ]
    candidates, references = texts + texts, [[text] for text in reversed(texts + texts)]
    found = similarities(reward, load_apart(reward.space.source), candidates, references)
    np.testing.assert_allclose(found.detach(), reward(candidates, references), atol=1e-5)


@pytest.mark.parametrize("spec", ["moverscore", "twmd(temperature=0)", "moverscore(variant=v2)"])
def test_exact_transport_is_refused(tiny_encoder: Path, spec: str) -> None:
    with pytest.raises(rewards.RewardError, match=r"no gradient; use twmd with a temperature above 0"):
        check_differentiable(made(spec, tiny_encoder))


def test_other_families_are_refused() -> None:
    with pytest.raises(rewards.RewardError, match="rouge-l has no gradient; use sbert, cka"):
        check_differentiable(rewards.load("rouge-l"))


def test_training_touches_no_other_reward(tiny_encoder: Path) -> None:
    reward = made("sbert", tiny_encoder)
    apart = load_apart(reward.space.source)
    assert apart.model is not reward.space.source.load().model
    assert apart.name == reward.space.source.load().name
