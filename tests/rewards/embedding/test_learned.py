from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from encoders import weights_of

import rewards
from rewards.embedding.learned import check_differentiable, check_learnable, learnable_options, similarities
from rewards.embedding.reward import EmbeddingReward
from rewards.encoding import loading as encoders
from rewards.encoding.loading import EncoderSource, load_apart
from rewards.specs import as_spec

PAIRS = (["the cat sleeps", "a red house falls .", ""], [["the dog sleeps"], ["a storm", "a house"], ["the mayor"]])
BATCH = {"name": "twmd", "centering": "batch", "layer": "2"}


@pytest.fixture
def folder(tiny_encoder: Path, tmp_path: Path) -> Path:
    return written(tiny_encoder, tmp_path / "metric", BATCH)


def written(encoder: Path, folder: Path, metric: dict) -> Path:
    shutil.copytree(encoder, folder)
    (folder / "metric.json").write_text(json.dumps({"metric": metric}))
    return folder


def test_it_is_the_metric_on_its_own_encoder(folder: Path) -> None:
    learned = rewards.load("learned", path=str(folder))
    plain = rewards.load("twmd", encoder=str(folder), layer=2, centering="batch")
    np.testing.assert_array_equal(learned(*PAIRS), plain(*PAIRS))
    assert learned.signature == f"learned-{plain.signature}"
    assert learned.name == "learned-twmd"
    assert learned.undefined("cat", [""]) == "its reference is empty"
    again = pickle.loads(pickle.dumps(learned))
    np.testing.assert_array_equal(again(*PAIRS), learned(*PAIRS))
    assert rewards.from_spec(f"learned(path={folder})").signature == learned.signature


def test_the_signature_follows_the_weights_and_the_metric(folder: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    signature = rewards.load("learned", path=str(folder)).signature
    metrics = ({"name": "trwmd", "layer": "2"}, {"name": "sbert", "layer": "2"}, {"name": "cka", "layer": "2"})
    others = [written(tiny_encoder, tmp_path / metric["name"], metric) for metric in metrics]
    assert len({signature, *(rewards.load("learned", path=str(path)).signature for path in others)}) == 4
    encoder = load_apart(EncoderSource(str(folder), 2))
    with torch.no_grad():
        encoder.model.embeddings.word_embeddings.weight[7] += 0.5
    changed = tmp_path / "changed"
    encoders.save(encoder, EncoderSource(str(folder), 2), changed)
    shutil.copy(folder / "metric.json", changed)
    assert rewards.load("learned", path=str(changed)).signature != signature


def test_an_encoder_is_saved_as_it_is(tiny_encoder: Path, tmp_path: Path) -> None:
    """After use, which sets the truncation of its tokenizer; without unused layers, so that others can load it."""
    from transformers import AutoModel

    source = EncoderSource(str(tiny_encoder), 2)
    encoder = load_apart(source)
    before = encoder(["the cat sleeps " * 9])[0]
    encoders.save(encoder, source, tmp_path / "saved")
    encoders.save(encoder, source, tmp_path / "twice")
    again = EncoderSource(str(tmp_path / "saved"), 2).load()
    assert torch.equal(again(["the cat sleeps " * 9])[0].vectors, before.vectors)
    assert AutoModel.from_pretrained(tmp_path / "saved").config.num_hidden_layers == 2
    assert EncoderSource(str(tmp_path / "twice"), 2).load().name == again.name


def test_missing_pooler_weights_are_saved_as_zeros(tiny_encoder: Path, tmp_path: Path) -> None:
    """They are drawn at random where a directory lacks them: the same training would have another hash each time."""
    bare = shutil.copytree(tiny_encoder, tmp_path / "bare")
    with weights_of(bare) as weights:
        for name in [name for name in weights if name.startswith("pooler.")]:
            del weights[name]
    names = set()
    for place in ("first", "second"):
        source = EncoderSource(str(bare), 2)
        encoders.save(load_apart(source), source, tmp_path / place)
        names.add(EncoderSource(str(tmp_path / place), 2).load().name)
    assert len(names) == 1


def test_a_corpus_mean_takes_the_place_of_the_batch(folder: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("the cat runs\na dog sleeps in the red garden .\n")
    learned = rewards.load("learned", path=str(folder), corpus=str(texts))
    assert "centering:corpus-" in learned.signature
    together = learned(*PAIRS)
    alone = [learned([text], [listed])[0] for text, listed in zip(*PAIRS, strict=True)]
    np.testing.assert_allclose(together, alone, atol=1e-6)
    other = written(tiny_encoder, tmp_path / "other", {"name": "sbert", "layer": "2"})
    with pytest.raises(rewards.RewardError, match="centering=batch"):
        rewards.load("learned", path=str(other), corpus=str(texts))


def test_it_can_be_rescaled(tiny_encoder: Path, tmp_path: Path) -> None:
    from rewards.embedding.rescaling import add_baseline, measure_baseline

    path = str(written(tiny_encoder, tmp_path / "metric", {"name": "bertscore", "layer": "2"}))
    raw = rewards.load("learned", path=path)
    found = measure_baseline(raw, ["the cat sleeps", "a storm", "the mayor runs"], pairs=10)
    add_baseline(tmp_path / "baseline.json", found)
    rescaled = rewards.load("learned", path=path, rescale=str(tmp_path / "baseline.json"))
    b = found.values["f1"]
    np.testing.assert_allclose(rescaled(*PAIRS), (raw(*PAIRS) - b) / (1 - b))


def test_folders_that_hold_no_metric(tiny_encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(rewards.RewardError, match=r"holds no metric\.json; give a folder written by rlsum fit-metric"):
        rewards.load("learned", path=str(tiny_encoder))
    broken = shutil.copytree(tiny_encoder, tmp_path / "broken")
    for content, part in (
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"metric": {}}', "cannot be read"),
        ('{"metric": {"name": "twin"}}', "unknown reward"),
        ('{"metric": {"name": "twmd", "warmth": 1}}', "warmth"),
        ('{"metric": {"name": "moverscore"}}', "no gradient"),
    ):
        (broken / "metric.json").write_text(content)
        with pytest.raises(rewards.RewardError, match=part):
            rewards.load("learned", path=str(broken))


@pytest.mark.parametrize(
    ("name", "inside", "part"),
    [
        ("twmd", "centering=corpus", r"train with centering=batch.*learned\(path=..., corpus=FILE\)"),
        ("twmd", "rescale=b.tsv", "rescale cannot be used in training"),
        ("bertscore", "idf=references", "idf cannot be used in training"),
        ("bertscore", "dtype=bfloat16", "dtype cannot be used in training"),
        ("moverscore", "centering=none", "exact transport has no gradient"),
        ("twmd", "temperature=0", "exact transport has no gradient"),
    ],
)
def test_what_cannot_be_trained_is_refused(tiny_encoder: Path, name: str, inside: str, part: str) -> None:
    with pytest.raises(rewards.RewardError, match=part):
        check_learnable(as_spec(f"{name}(encoder={tiny_encoder}, {inside})"))
    check_learnable(as_spec(f"bertscore(encoder={tiny_encoder}, idf=none, dtype=float32)"))


def test_what_is_kept_of_a_spec() -> None:
    spec = as_spec("twmd(encoder=minilm, device=cpu, centering=batch, layer=last)")
    assert learnable_options(spec, 6) == {"name": "twmd", "centering": "batch", "layer": "6"}


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


def made(spec: str, encoder: Path) -> EmbeddingReward:
    name, _, inside = spec.partition("(")
    reward = rewards.from_spec(f"{name}(encoder={encoder}{', ' + inside if inside else ')'}")
    assert isinstance(reward, EmbeddingReward)
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
    firsts = ("cat", "dog", "river", "storm", "mayor")
    texts = [f"{first} {second}" for first in firsts for second in CANDIDATES[2].split()]
    candidates, references = texts + texts, [[text] for text in reversed(texts + texts)]
    found = similarities(reward, load_apart(reward.space.source), candidates, references)
    np.testing.assert_allclose(found.detach(), reward(candidates, references), atol=1e-5)


def test_other_families_are_refused() -> None:
    with pytest.raises(rewards.RewardError, match="rouge-l has no gradient; use a contextual metric"):
        check_differentiable(rewards.load("rouge-l"))


def test_training_touches_no_other_reward(tiny_encoder: Path) -> None:
    reward = made("sbert", tiny_encoder)
    apart = load_apart(reward.space.source)
    assert apart.model is not reward.space.source.load().model
    assert apart.name == reward.space.source.load().name
