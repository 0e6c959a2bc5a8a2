import json
import random
from dataclasses import replace

import choix
import headed
import numpy as np
import pytest
import torch
from encoders import WORDS
from scipy.optimize import minimize

import rewards
from rewards.specs import as_spec
from rlsum.errors import UserError
from rlsum.metric_fitting.fitting_votes import check_preference, fit_votes, score_gaps
from rlsum.metric_fitting.options import FitOptions
from rlsum.metric_fitting.preference import Voting, log_probs
from rlsum.metric_fitting.votes import JudgedVote, agreement

OPTIONS = FitOptions(epochs=6, batch_size=32, learning_rate=3e-3)


def test_probabilities_are_davidson_s():
    """exp(s) / D and nu exp((s1 + s2) / 2) / D with s = (0.3, 1.1), nu = 0.5."""
    terms = np.exp([0.3, np.log(0.5) + 0.7, 1.1])
    found = log_probs(torch.tensor([0.8], dtype=torch.float64), torch.tensor(0.5, dtype=torch.float64).log())
    np.testing.assert_allclose(found.exp().numpy()[0], terms / terms.sum(), rtol=1e-12)


def drawn(ties, seed=0, count=400):
    """Votes on six texts with known strengths, which are longer the later: (votes, first, second)."""
    rng, strengths = np.random.default_rng(seed), np.array([-1.0, 0.5, 0.0, 1.2, -0.4, 0.7])
    texts = ["word " * number for number in (3, 1, 4, 2, 6, 5)]
    rows = []
    for _ in range(count):
        first, second = rng.choice(6, 2, replace=False)
        gap = strengths[second] - strengths[first]
        weight = np.exp([-gap / 2, np.log(ties) if ties else -np.inf, gap / 2])
        choice = int(rng.choice(3, p=weight / weight.sum())) - 1
        rows.append((JudgedVote("x", ("a",), (texts[first], texts[second]), "ann", choice), first, second))
    return rows


def fitted(rows, by_length):
    """The strengths of six texts (mean 0) under our likelihood, and its `Voting`."""
    voting = Voting([row[0] for row in rows], by_length, "votes")
    strengths = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    learned = [strengths, *(value for values, _ in voting.rates for value in values)]
    optimizer = torch.optim.LBFGS(learned, max_iter=500, tolerance_grad=1e-12, line_search_fn="strong_wolfe")
    first, second = ([row[side] for row in rows] for side in (1, 2))

    def step():
        optimizer.zero_grad()
        pull = 0.01 * strengths.square().sum() if by_length else 0
        loss = pull - voting.log_likelihood(strengths[second] - strengths[first], [row[0] for row in rows])
        loss.backward()
        return loss

    optimizer.step(step)
    return (strengths - strengths.mean()).detach().numpy(), voting


def test_without_ties_strengths_are_those_of_choix():
    rows = drawn(ties=0)
    wins = [(first, second) if vote.choice < 0 else (second, first) for vote, first, second in rows]
    expected = choix.ilsr_pairwise(6, wins, max_iter=10_000, tol=1e-10)
    strengths, voting = fitted(rows, by_length=False)
    np.testing.assert_allclose(strengths, expected - expected.mean(), atol=2e-3)
    assert voting.to_json()["ties"] < 1e-3


@pytest.mark.parametrize("by_length", [False, True])
def test_with_ties_and_length_it_is_what_a_general_optimiser_finds(by_length):
    """Davidson's likelihood written out; with length the strengths are pulled to 0, as both cannot be told apart."""
    rows = drawn(ties=0.8)
    longer = np.array([vote.longer for vote, _, _ in rows])
    unit = np.sqrt(np.mean(longer**2))

    def loss(values):
        scores, ties, slope = values[:6], np.exp(values[6]), values[7] * by_length
        total = 0.0
        for (vote, first, second), words in zip(rows, longer, strict=True):
            one, other = np.exp(scores[first]), np.exp(scores[second] + slope * words / unit)
            whole = one + other + ties * np.sqrt(one * other)
            total -= np.log([one, ties * np.sqrt(one * other), other][vote.choice + 1] / whole)
        return total / len(rows) + 0.01 * by_length * (scores**2).sum()

    found = minimize(loss, np.zeros(8), method="BFGS", options={"gtol": 1e-7})
    strengths, voting = fitted(rows, by_length)
    np.testing.assert_allclose(strengths, found.x[:6] - found.x[:6].mean(), atol=1e-4)
    assert voting.to_json()["ties"] == pytest.approx(np.exp(found.x[6]), abs=1e-4)
    assert voting.to_json()["length"] == pytest.approx(found.x[7] / unit * by_length, abs=1e-4)


def test_at_the_start_length_has_what_length_explains():
    """Three of four votes for the longer text by two words: log 3 for two words, as by hand."""
    rows = [JudgedVote("x", ("a",), ("b", "b b b"), "ann", choice) for choice in (1, 1, 1, -1)]
    voting = Voting(rows, True, "votes")
    voting.start(rows)
    assert voting.to_json()["length"] == pytest.approx(np.log(3) / 2, rel=0.01)


def test_judges_may_count_the_same_or_differ_in_how_well_they_tell_texts_apart():
    rows = [
        JudgedVote("x", ("a",), ("b", "c"), judge, choice) for judge, choice in (("ann", 1), ("bo", -1), ("bo", -1))
    ]
    gap = torch.full((3,), 2.0, dtype=torch.float64)
    ann, bo = (log_probs(torch.tensor([2.0]), torch.tensor(0.0))[0, place].item() for place in (2, 0))
    assert Voting(rows, False, "votes").log_likelihood(gap, rows).item() == pytest.approx((ann + 2 * bo) / 3)
    assert Voting(rows, False, "equal").log_likelihood(gap, rows).item() == pytest.approx((ann + bo) / 2)
    random_judges = Voting(rows, False, "random")
    with torch.no_grad():
        random_judges.judges += torch.tensor([0.0, -np.inf])
    assert random_judges.log_likelihood(gap, rows).item() == pytest.approx((ann + 2 * np.log(1 / 3)) / 3)


def kept_words(articles, seed, judges=("ann", "bo", "click")):
    """Votes for the text that keeps more of an article's words; the last judge clicks on the second text."""
    draw, rows = random.Random(seed), []
    for _ in range(articles):
        words = draw.sample(WORDS, 4)
        texts = {
            kept: " ".join([*draw.sample(words, kept), *draw.choices(("a", "the"), k=5 - kept)])
            for kept in (0, 1, 3, 4)
        }
        pair = draw.sample(sorted(texts), 2)
        choice = int(np.sign(pair[1] - pair[0]))
        rows += [
            JudgedVote(" ".join(words), (" ".join(words),), (texts[pair[0]], texts[pair[1]]), judge,
                       1 if judge == "click" else choice)
            for judge in judges
        ]  # fmt: skip
    return rows


def learned(tmp_path, model, options=OPTIONS, by_length=False, train=None, valid=None):
    spec = as_spec(f"reward-model(model={model})")
    train, valid = train or kept_words(250, seed=1), valid or kept_words(40, seed=2, judges=("new",))
    return fit_votes(check_preference(spec), spec, train, valid, tmp_path / "m", options, by_length)


def test_a_reward_learns_from_votes_and_is_one_like_any_other(tiny_encoder, tmp_path):
    """Whose votes disagree by chance tells texts less apart; the values in the folder are those of the reward."""
    fit = learned(tmp_path, tiny_encoder, replace(OPTIONS, judges="random"))
    about = json.loads((tmp_path / "m" / "metric.json").read_text())
    assert about == json.loads(json.dumps(fit.about))
    assert about["validation"]["accuracy"]["mean"] > 0.85
    judges = about["votes"]["judges"]
    assert judges["click"] < 0.1 * min(judges["ann"], judges["bo"])
    assert [row["epoch"] for row in about["history"]][about["epoch"]] == about["epoch"]
    best = max(about["history"][1:], key=lambda row: row["log_likelihood"])
    assert about["epoch"] == best["epoch"]

    reward, valid = rewards.load("learned", path=str(tmp_path / "m")), kept_words(40, seed=2, judges=("new",))
    assert reward.signature == about["signature"]
    assert agreement(score_gaps(reward, valid), valid).to_json()["kendall"] == about["validation"]["kendall"]
    scores = reward(["cat dog house red", ""], sources=["cat dog house red"] * 2)
    assert scores[0] > scores[1] == about["metric"]["floor"]
    with pytest.raises(rewards.RewardError, match="corpus is no option of a reward learned from votes"):
        rewards.load("learned", path=str(tmp_path / "m"), corpus="c.txt")


def test_a_causal_model_learns_on_its_last_state_and_the_same_seed_gives_the_same(tmp_path):
    model = headed.causal(tmp_path / "llama")
    made = [
        learned(tmp_path / str(run), model, replace(OPTIONS, epochs=1, seed=seed), True, kept_words(20, 1)).about
        for run, seed in enumerate((1, 1, 2))
    ]
    assert made[0] == made[1]
    assert made[0]["signature"] != made[2]["signature"]
    assert made[0]["by_length"]


def test_nothing_is_learned_from_texts_that_the_reward_does_not_score(tiny_encoder, tmp_path, caplog):
    """13 words are 3/4 of 20 positions less three; a text of 14 could be read beside a short article."""
    rows, valid = kept_words(6, seed=1), kept_words(2, 9)
    rows += [replace(row, texts=("cat " * 13, row.texts[1])) for row in rows[:2]]
    unread, unread_valid = (
        [replace(row, texts=texts) for row in pool[:2] for texts in (("cat " * 14, "dog"), ("dog", " "))]
        for pool in (rows, valid)
    )
    fits = [
        learned(tmp_path / name, tiny_encoder, replace(OPTIONS, epochs=1), train=[*more, *rows], valid=[*other, *valid])
        for name, more, other in (("a", [], []), ("b", unread, unread_valid))
    ]
    assert fits[0].about == fits[1].about
    assert f"training: left out 4 of {len(rows) + 4} votes" in caplog.text
    reward = rewards.load("learned", path=str(tmp_path / "b" / "m"))
    assert not np.isnan(score_gaps(reward, rows)).any()
    assert np.isnan(score_gaps(reward, unread[::2])).all()


def test_what_cannot_be_learned_from_is_told_before_anything_starts(tiny_encoder, tmp_path):
    rows = kept_words(5, seed=1)
    for train, valid, message in (
        (rows, rows[:3], "1 articles are in training and in validation"),
        ([replace(row, choice=0) for row in rows], kept_words(2, 9), "training: no vote prefers a text"),
        (
            [replace(row, texts=("cat " * 30, "dog")) for row in rows],
            kept_words(2, 9),
            "training: no vote prefers a text .15 of 15 votes left out, empty or too long to score.",
        ),
    ):
        with pytest.raises((UserError, rewards.RewardError), match=message):
            learned(tmp_path, tiny_encoder, train=train, valid=valid)
    assert not (tmp_path / "m").exists()
