"""One update's loss: its sign, its zero, its equality with likelihood, and its gradient by finite differences."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import tiny
import torch
import torch.nn.functional as F

from rlsum.data.vocabulary import EOS, PAD
from rlsum.models.decoding import Sampling
from rlsum.models.pointer_generator.model import PointerGenerator
from rlsum.models.pointer_generator.options import PointerGeneratorConfig
from rlsum.models.sampling import Drawn
from rlsum.models.summarizer import Tokens
from rlsum.objective import Objective
from rlsum.training.estimators import Credit
from rlsum.training.losses import target_lengths
from rlsum.training.reward_losses import policy_gradient
from rlsum.training.update import MixedStep, MLEStep, interleave

OAK = tiny.vocabulary().index["oak"]
ELM = tiny.vocabulary().index["elm"]


@dataclass
class Table:
    """A reward by text; remembers what it was asked."""

    values: dict = field(default_factory=dict)
    default: float = 0.0
    name: str = "table"
    signature: str = "table"
    calls: list = field(default_factory=list)

    def __call__(self, candidates, references=None, sources=None, columns=None):
        self.calls.append((list(candidates), list(references), list(sources)))
        return np.array([self.values.get(text, self.default) for text in candidates], dtype=np.float64)


@dataclass
class Scripted:
    """A decoder whose samples and baseline are given; texts are the model's."""

    model: object
    samples: torch.Tensor
    greedy: torch.Tensor

    def self_critical(self, batch, samples, sampling, noise=None):
        return tuple(Tokens(ids, torch.zeros(ids.shape)) for ids in (self.samples, self.greedy))

    def to_text(self, batch, tokens):
        return self.model.to_text(batch, tokens)


def step(reward, gamma=1.0, samples=1, scale=1.0, length="mean", coverage_weight=0.0, max_length=8, on_samples=False):
    """A self-critical step as a function of (model, policy, batch)."""
    objective = tiny.objective(
        normalisation={"mean": "sequence", "sum": "sum"}[length], length=length, reward_scale=scale, gamma=gamma,
        samples=samples, coverage_on_samples=on_samples,
    )  # fmt: skip
    mle, credit = MLEStep(objective, coverage_weight), Credit(objective, max_length)

    def result(model, policy, batch):
        mixed = MixedStep(policy, reward, objective, 1, Sampling(max_length=max_length), policy_gradient, mle, credit)
        return mixed(0, model, batch)

    return result


def descend(model, loss, rate=0.005):
    with torch.no_grad():
        for name, gradient in tiny.gradients(model, loss).items():
            model.get_parameter(name).sub_(rate * gradient)


# ---- the sign -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", ["sum", "mean"])
@pytest.mark.parametrize(("sample_reward", "gains"), [(1.0, True), (0.0, False)])
def test_a_sample_that_beats_greedy_gains_probability_and_a_worse_one_loses_it(sample_reward, gains, length):
    model, batch = tiny.copier(), tiny.batch(tiny.PAIRS[:1])
    size = len(model.vocabulary)
    sample, greedy = torch.tensor([[OAK, size + 1, EOS]]), torch.tensor([[ELM, EOS, PAD]])
    reward = Table({"oak Acer": sample_reward, "elm": 0.5})
    before = model(batch, sample).log_prob.sum().item()
    result = step(reward, length=length)(model, Scripted(model, sample, greedy), batch)
    descend(model, result.loss)
    after = model(batch, sample).log_prob.sum().item()
    assert (after > before + 1e-4) if gains else (after < before - 1e-4)
    assert result.log["reward"] == sample_reward
    assert result.log["baseline_reward"] == 0.5


# ---- zero ---------------------------------------------------------------------------------------------------------


def test_with_equal_rewards_the_mixed_gradient_is_the_share_of_likelihood():
    model, batch = tiny.copier(), tiny.batch()
    mixed = tiny.gradients(model, step(Table(default=0.3), gamma=0.75)(model, model, batch).loss)
    share = tiny.gradients(model, 0.25 * MLEStep(Objective())(model, batch).loss)
    torch.testing.assert_close(mixed, share, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("coverage", [False, True])
def test_gamma_zero_is_likelihood_to_the_bit(coverage):
    model, batch, reward = tiny.copier(coverage=coverage), tiny.batch(), Table()
    torch.manual_seed(7)
    untouched = torch.rand(3)
    torch.manual_seed(7)
    mixed = step(reward, gamma=0.0, coverage_weight=0.7)(model, model, batch)
    mle = MLEStep(Objective(), coverage_weight=0.7)(model, batch)
    assert torch.equal(torch.rand(3), untouched), "random numbers were drawn that the control would not draw"
    assert reward.calls == []
    assert torch.equal(mixed.loss, mle.loss)
    assert mixed.log == {**mle.log, "gamma": 0.0}
    ours, theirs = (tiny.gradients(model, result.loss) for result in (mixed, mle))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def test_an_undefined_reward_takes_its_sample_out_and_is_counted():
    model, batch = tiny.copier(), tiny.batch(tiny.PAIRS[:1])
    samples, greedy = torch.tensor([[OAK, EOS], [ELM, EOS]]), torch.tensor([[EOS]])

    def gradient_of(values):
        result = step(Table(values), samples=2)(model, Scripted(model, samples, greedy), batch)
        return result, tiny.gradients(model, result.loss)

    with_nan, gradients = gradient_of({"oak": float("nan"), "elm": 1.0})
    _, without = gradient_of({"oak": 0.0, "elm": 1.0})
    assert with_nan.log["undefined_rewards"] == 0.5
    assert with_nan.log["reward"] == 1.0
    torch.testing.assert_close(gradients, without, rtol=0, atol=0)
    nothing, zeros = gradient_of({"": float("nan"), "elm": 1.0})
    assert nothing.log["undefined_rewards"] == 1
    assert all(g.abs().max() == 0 for g in zeros.values())


# ---- what belongs to what -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.6, 1.0])
@pytest.mark.parametrize("on_samples", [False, True])
@pytest.mark.parametrize("length", ["sum", "mean"])
def test_the_loss_is_equations_7_and_8_and_the_whole_coverage_computed_sample_by_sample(gamma, on_samples, length):
    model, batch, k = tiny.copier(coverage=True), tiny.batch(tiny.PAIRS[:3]), 2
    torch.manual_seed(3)
    samples, greedy = model.self_critical(batch, k, Sampling(max_length=6))
    texts = model.to_text(batch, samples) + model.to_text(batch, greedy)
    values = {text: 0.1 + 0.17 * i % 0.9 for i, text in enumerate(dict.fromkeys(texts))}
    reward = Table(values)
    found = step(reward, gamma, k, 3.0, length, coverage_weight=0.5, on_samples=on_samples)(
        model, Scripted(model, samples.ids, greedy.ids), batch
    )

    def of_text(values, ids):
        return values.sum() / ((ids != PAD).sum() if length == "mean" else 1)

    rl, mle, coverage, sample_coverage = [], [], [], []
    for row in range(len(batch)):
        alone = tiny.selected(batch, [row])
        scored = model(alone, alone.target)
        mle.append(-of_text(scored.log_prob, alone.target))
        coverage.append(of_text(scored.coverage, alone.target))
        for i in range(row * k, row * k + k):
            advantage = 3.0 * (values[texts[i]] - values[texts[len(batch) * k + row]])
            ids, drawn = samples.ids[i], Drawn.all(samples.ids[i : i + 1], Sampling())
            scored = model(alone, samples.ids[i : i + 1], drawn)
            rl.append(-advantage * of_text(scored.log_prob, ids))
            sample_coverage.append(of_text(scored.coverage, ids))
    rl, mle, coverage, sample_coverage = (torch.stack(x).mean() for x in (rl, mle, coverage, sample_coverage))
    expected = gamma * rl + (1 - gamma) * mle + 0.5 * (coverage + on_samples * sample_coverage)
    torch.testing.assert_close(found.loss, expected, atol=1e-4, rtol=1e-5)
    assert found.log["coverage"] == pytest.approx(coverage.item(), rel=1e-4)
    assert found.log.get("sample_coverage", sample_coverage.item()) == pytest.approx(sample_coverage.item(), rel=1e-4)
    assert min(coverage.item(), sample_coverage.item()) > 0.01
    assert len(set(values.values())) > 4
    assert len(reward.calls) == 1, "one call scores samples and baseline together"


def test_every_text_is_scored_against_its_own_article():
    batch = tiny.batch(tiny.PAIRS[:2])
    model = tiny.copier()
    samples = torch.tensor([[4, EOS], [5, EOS], [6, EOS], [7, EOS]])
    greedy, reward = torch.tensor([[8, EOS], [9, EOS]]), Table()
    step(reward, samples=2)(model, Scripted(model, samples, greedy), batch)
    ((candidates, references, sources),) = reward.calls
    assert candidates == ["ash", "birch", "cedar", "elm", "fir", "oak"]
    rows = [0, 0, 1, 1, 0, 1]
    assert references == [batch.references[row] for row in rows]
    assert sources == [batch.sources[row] for row in rows]


def test_interleaving_by_hand():
    samples = torch.tensor([[4, 3], [5, 3], [6, 3], [7, 3]])
    target = torch.tensor([[8, 9, 3], [8, 3, 0]])
    expected = [[4, 3, 0], [5, 3, 0], [8, 9, 3], [6, 3, 0], [7, 3, 0], [8, 3, 0]]
    assert interleave(samples, target, 2).tolist() == expected
    assert interleave(target, samples[:2], 1).tolist() == [[8, 9, 3], [4, 3, 0], [8, 3, 0], [5, 3, 0]]
    assert target_lengths(torch.tensor(expected)).tolist() == [2, 2, 3, 2, 2, 2]


def test_the_decoding_of_a_step_takes_no_gradient_and_the_log_says_what_was_cut_off():
    model, batch = tiny.copier(), tiny.batch(tiny.PAIRS[:2])
    samples, greedy = torch.tensor([[4, 5, 6], [4, EOS, PAD]]), torch.tensor([[EOS], [EOS]])
    log = step(Table())(model, Scripted(model, samples, greedy), batch).log
    assert log["sample_cut_off"] == 0.5
    assert log["sample_length"] == 2.5
    assert log["gamma"] == 1.0


# ---- padding and parameters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("length", ["sum", "mean"])
def test_more_padding_changes_neither_loss_nor_gradient(gamma, length):
    model, batch = tiny.copier(coverage=True), tiny.batch(tiny.PAIRS[:2])
    samples, greedy = torch.tensor([[OAK, ELM, EOS], [ELM, EOS, PAD]]), torch.tensor([[EOS], [EOS]])
    wide = replace(
        batch,
        target=F.pad(batch.target, (0, 9)),
        src=F.pad(batch.src, (0, 4)),
        src_extended=F.pad(batch.src_extended, (0, 4)),
    )
    reward = Table({"oak elm": 1.0, "elm": -0.5})
    losses = [
        step(reward, gamma, length=length)(model, Scripted(model, F.pad(samples, (0, extra)), greedy), given).loss
        for given, extra in ((batch, 0), (wide, 0), (batch, 5), (wide, 12))
    ]
    first = tiny.gradients(model, losses[0])
    for loss in losses[1:]:
        torch.testing.assert_close(loss, losses[0], atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(tiny.gradients(model, loss), first, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("coverage", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_every_parameter_moves_in_one_step(gamma, coverage, layers, dropout):
    torch.manual_seed(1)
    sizes = {"coverage": coverage, "encoder_layers": layers, "decoder_layers": layers, "dropout": dropout}
    config = PointerGeneratorConfig(embedding=6, hidden=8, **sizes)
    model, batch = PointerGenerator(config, tiny.vocabulary()).train(), tiny.batch()
    texts = iter(range(10_000))

    def reward(candidates, references=None, sources=None, columns=None):
        return np.array([next(texts) % 7 / 7 for _ in candidates])

    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    step(reward, gamma, samples=2)(model, model, batch).loss.backward()
    optimizer.step()
    unmoved = [name for name, parameter in model.named_parameters() if torch.equal(parameter, before[name])]
    assert unmoved == []


@pytest.mark.parametrize("coverage", [False, True])
@pytest.mark.parametrize("length", ["sum", "mean"])
def test_the_mixed_gradient_is_that_of_finite_differences(coverage, length, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)  # the model's float32 steps in float64
    model, batch = tiny.copier(coverage=coverage).double(), tiny.batch()
    torch.manual_seed(0)
    samples, greedy = model.self_critical(batch, 2, Sampling(max_length=6))
    texts = model.to_text(batch, samples) + model.to_text(batch, greedy)
    # values that float32 holds exactly, since advantages are float32
    reward = Table({text: (i % 8) / 8 for i, text in enumerate(dict.fromkeys(texts))})
    scripted, mixed = Scripted(model, samples.ids, greedy.ids), step(reward, 0.5, samples=2, scale=4.0, length=length)

    def loss():
        return mixed(model, scripted, batch).loss

    gradients = tiny.gradients(model, loss())
    assert mixed(model, scripted, batch).log["advantage_std"] > 0.1
    generator = torch.Generator().manual_seed(0)
    for name, gradient in gradients.items():
        parameter, flat = model.get_parameter(name), gradient.flatten()
        for place in torch.randperm(flat.numel(), generator=generator)[:2].tolist():
            if name == "embed.weight" and place < parameter.shape[1]:
                continue  # the padding's embedding is held at zero
            value = parameter.data.view(-1)[place].item()
            sides = []
            for shift in (1e-5, -1e-5):
                parameter.data.view(-1)[place] = value + shift
                sides.append(loss().item())
            parameter.data.view(-1)[place] = value
            slope = (sides[0] - sides[1]) / 2e-5
            assert flat[place].item() == pytest.approx(slope, abs=1e-6, rel=1e-5), name


# ---- samples scored while they are drawn ----------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.6, 1.0])
@pytest.mark.parametrize("coverage", [False, True])
@pytest.mark.parametrize("estimator", ["self-critical", "rloo"])
def test_scoring_while_drawing_changes_neither_loss_nor_gradient_nor_log(gamma, coverage, estimator):
    model, batch = tiny.copier(coverage=coverage), tiny.batch()
    results = []
    for together in (False, True):
        objective = tiny.objective(
            estimator=estimator, normalisation="sequence", clip=0.2, kl=0.1, gamma=gamma, samples=3,
            coverage_on_samples=coverage,
        )  # fmt: skip
        mixed = MixedStep(
            model, tiny.Overlap(), objective, 1, Sampling(max_length=8), policy_gradient,
            MLEStep(objective, 0.7 * coverage), Credit(objective, 8), start=model, score_while_drawing=together,
        )  # fmt: skip
        torch.manual_seed(3)
        (rollout,) = mixed.rollouts(0, [batch])
        assert (rollout.scored is not None) == together
        result = mixed.loss(0, model, batch, rollout)
        assert result.rollout.scored is None, "what is kept of an update must not keep its graph"
        log = {name: value for name, value in result.log.items() if name != "reward_share"}
        results.append((log, tiny.gradients(model, result.loss)))
    (log, gradients), (other_log, others) = results
    assert log == pytest.approx(other_log, abs=1e-5)
    torch.testing.assert_close(others, gradients, atol=1e-5, rtol=1e-4)


def test_an_update_of_several_batches_keeps_no_graph():
    """All rollouts of an update are made before its first loss: their graphs would be in memory together."""
    model, batch = tiny.copier(), tiny.batch()
    objective = tiny.objective(estimator="rloo", gamma=1.0)
    mixed = MixedStep(
        model, tiny.Overlap(), objective, 1, Sampling(max_length=8), policy_gradient, MLEStep(objective),
        Credit(objective, 8), score_while_drawing=True,
    )  # fmt: skip
    assert [part.scored for part in mixed.rollouts(0, [batch, batch])] == [None, None]
