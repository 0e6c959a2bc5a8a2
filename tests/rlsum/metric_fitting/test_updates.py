import pytest
import torch
from judged import judged

import rewards
from rlsum.errors import UserError
from rlsum.judgments.records import Judgment
from rlsum.metric_fitting.examples import Scale, examples
from rlsum.metric_fitting.options import FitOptions
from rlsum.metric_fitting.updates import Trainee, rate

AS_IT_IS = Scale(0.0, 1.0)


def trainee(encoder, spec="twmd(centering=batch", judgments=None, scale=AS_IT_IS, **options):
    reward = rewards.from_spec(f"{spec}{',' if '(' in spec else '('} encoder={encoder})")
    options = FitOptions(**{"learning_rate": 1e-3, "batch_size": 8, **options})
    return Trainee(reward, examples(judgments or judged(24), "overall"), scale, options)


def test_the_loss_is_that_of_the_reward_against_scaled_scores(tiny_encoder):
    learning = trainee(tiny_encoder, "cka", scale=Scale(-1.0, 2.0))
    chosen = [5, 0, 7]
    texts = [learning.examples[place] for place in chosen]
    scores = learning.reward([each.candidate for each in texts], [each.references for each in texts])
    wanted = [(each.human + 1) / 2 for each in texts]
    expected = sum((score - target) ** 2 for score, target in zip(scores, wanted, strict=True)) / 3
    assert learning.loss(chosen).item() == pytest.approx(expected, abs=1e-6)


def test_the_rate_rises_and_falls_in_straight_lines():
    rates = [rate(update, 20) for update in range(20)]
    assert rates[:3] == [0.5, 1.0, pytest.approx(1.0)]
    assert rates[-1] == pytest.approx(1 / 18)
    assert rates[2:] == sorted(rates[2:], reverse=True)
    assert rate(0, 1) == 1.0


@pytest.mark.parametrize("spec", ["sbert", "cka", "bertscore", "trwmd", "twmd(centering=batch"])
def test_updates_bring_the_loss_down(tiny_encoder, spec):
    learning = trainee(tiny_encoder, spec, epochs=4)
    everything = range(len(learning.examples))
    before = learning.loss(everything).item()
    losses = [loss for epoch in (1, 2, 3, 4) for loss in learning.epoch(epoch)]
    assert len(losses) == 12
    assert learning.loss(everything).item() < 0.8 * before


def test_an_epoch_takes_every_example_once_in_an_order_of_its_own(tiny_encoder, monkeypatch):
    learning = trainee(tiny_encoder, batch_size=10)
    batches = []
    monkeypatch.setattr(learning, "_update", lambda update, chosen: batches.append((update, chosen)) or 0.0)
    list(learning.epoch(1))
    list(learning.epoch(2))
    assert [update for update, _ in batches] == [0, 1, 2, 3, 4, 5]
    assert [len(chosen) for _, chosen in batches] == [8] * 6
    orders = [[place for _, chosen in part for place in chosen] for part in (batches[:3], batches[3:])]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(24))
    assert orders[0] != orders[1]


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_loss_that_is_not_finite_stops_it(tiny_encoder):
    learning = trainee(tiny_encoder, scale=Scale(0.0, 1e-300))
    with pytest.raises(UserError, match=r"update 1 is not finite .*; give a lower --learning-rate"):
        list(learning.epoch(1))


def test_weights_that_are_not_finite_stop_it(tiny_encoder):
    learning = trainee(tiny_encoder)
    with torch.no_grad():
        learning.encoder.model.embeddings.LayerNorm.weight.fill_(float("inf"))
    with pytest.raises(UserError, match=r"update 1: encoder .* not finite.* give a lower --learning-rate"):
        list(learning.epoch(1))


def test_a_judgment_that_has_no_score_stops_it(tiny_encoder):
    one = Judgment("x1", "ours", "cat runs", ("dog",), scores={"overall": 1.0})
    learning = trainee(tiny_encoder, "twmd(centering=sentence", [*judged(3), one])
    with pytest.raises(UserError, match="judgment 'x1' of system 'ours' has no score: its reference has one token"):
        learning.loss([3])


@pytest.mark.parametrize("wrong", [{"learning_rate": 0.0}, {"learning_rate": float("nan")}, {"epochs": 0}])
def test_options_that_make_no_sense(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FitOptions(**wrong)
