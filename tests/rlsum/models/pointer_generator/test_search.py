"""Greedy decoding, sampling and beam search against exhaustive enumeration and the model's own scores."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest
import tiny
import torch
from scipy import stats

from rlsum.data.vocabulary import BOS, EOS, PAD, UNK
from rlsum.models import drawing, execution
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.drawing import draw, most_probable
from rlsum.models.pointer_generator import search
from rlsum.models.sampling import NEVER, Drawn, NextWords

SEEDS = [1, 2, 4]


def enumerate_sequences(model, batch, longest, usable, sampling=None):
    """Every sequence of usable ids that ends or is ``longest`` long -> its log-probability; for one article."""
    bodies = {length: list(itertools.product(usable, repeat=length)) for length in range(longest + 1)}
    complete = [[(*body, EOS) for body in bodies[length]] for length in range(longest)] + [bodies[longest]]
    found = {}
    for sequences in complete:  # several targets of one article are scored in one pass
        ids = torch.tensor(sequences)
        with torch.no_grad():
            scores = model(batch, ids, sampling and Drawn.all(ids, sampling)).log_prob.sum(-1)
        found |= dict(zip(sequences, scores.tolist(), strict=True))
    return found


# ---- greedy ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@torch.no_grad()
def test_greedy_takes_the_most_probable_word_at_every_step(seed):
    model, batch = tiny.copier(seed=seed), tiny.batch()
    tokens = model.generate(batch, Decoding(max_length=8))
    for row in range(len(batch)):
        alone = tiny.selected(batch, [row])
        for t, chosen in enumerate(tokens.ids[row].tolist()):
            if chosen == PAD:
                break
            candidates = [i for i in range(len(model.vocabulary) + len(batch.unknown[row])) if i not in (PAD, UNK, BOS)]
            prefixes = torch.tensor([[*tokens.ids[row, :t].tolist(), candidate] for candidate in candidates])
            scores = model(alone, prefixes).log_prob[:, t]
            assert chosen == candidates[int(scores.argmax())]


def scripted(*scripts):
    """A chooser that ignores probabilities and reads each row's next id from a script."""

    def choose(words, rows, ids):
        chosen = torch.tensor([script[ids.shape[1]] for script in scripts])[rows]
        return chosen, words.p.gather(1, chosen.unsqueeze(1)).squeeze(1).log()

    return choose


@torch.no_grad()
def test_nothing_after_the_end_counts():
    model, batch = tiny.copier(), tiny.batch(tiny.PAIRS[:2])
    encoded = model.encode(batch)
    first = search.rollout(model, encoded, scripted([4, EOS, 5, 6, 7], [4, 5, 6, 7, 8]), 5)
    second = search.rollout(model, encoded, scripted([4, EOS, 8, EOS, 9], [4, 5, 6, 7, 8]), 5)
    assert first.ids.tolist() == [[4, EOS, PAD, PAD, PAD], [4, 5, 6, 7, 8]]
    assert torch.equal(first.ids, second.ids)
    assert torch.equal(first.log_prob, second.log_prob)
    assert first.log_prob[0, 2:].abs().sum() == 0


@torch.no_grad()
def test_decoding_stops_when_all_rows_have_ended():
    model, batch = tiny.copier(), tiny.batch(tiny.PAIRS[:2])
    chooser = scripted([4, EOS, 5, 5], [EOS, 5, 5, 5])
    assert search.rollout(model, model.encode(batch), chooser, 4).ids.shape == (2, 2)


# ---- beam ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_length": 4},
        {"block_ngrams": 1},
        {"block_ngrams": 2, "min_length": 3},
        {"block_ngrams": 3},
        {"length_penalty": 0.0},
        {"max_length": 1},
    ],
    ids=str,
)
@torch.no_grad()
def test_a_beam_of_one_is_greedy(seed, options):
    model, batch = tiny.copier(seed=seed, coverage=True), tiny.batch(tiny.ARTICLES)
    decoding = Decoding(**{"max_length": 8, **options})
    greedy, beam = model.generate(batch, decoding), model.generate(batch, replace(decoding, method="beam", beam=1))
    assert torch.equal(greedy.ids, beam.ids)
    torch.testing.assert_close(greedy.log_prob, beam.log_prob, atol=1e-5, rtol=0)


@pytest.mark.parametrize("penalty", [-1.0, 0.0, 0.6, 2.0])
@pytest.mark.parametrize("least", [0, 2])
@pytest.mark.parametrize("seed", SEEDS)
@torch.no_grad()
def test_a_beam_as_wide_as_the_language_finds_the_best_sequence(seed, least, penalty):
    words = ("ash", "elm")
    model = tiny.copier(seed=seed, words=words)
    batch = tiny.batch([("Quercus elm Quercus", "ash")], words=words)
    size = len(model.vocabulary)
    every = enumerate_sequences(model, batch, 3, usable=[4, 5, size])
    ranks = {seq: p / len(seq) ** penalty for seq, p in every.items() if len(seq) > least}
    best = max(ranks, key=ranks.get)  # ended, or cut off at three words
    # a width of 27 holds all sequences of three of three words
    decoding = Decoding(method="beam", beam=27, max_length=3, min_length=least, length_penalty=penalty)
    tokens = model.generate(batch, decoding)
    assert tokens.ids[0].tolist() == list(best)
    assert tokens.log_prob.sum().item() == pytest.approx(every[best], abs=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
@torch.no_grad()
def test_the_beams_score_is_the_models_and_beats_greedy_where_greedy_ended(seed):
    model, batch = tiny.copier(seed=seed), tiny.batch(tiny.ARTICLES)
    wide = Decoding(method="beam", beam=60, max_length=6, length_penalty=0.0)
    tokens, greedy = model.generate(batch, wide), model.generate(batch, Decoding(max_length=6))
    scored = model(batch, tokens.ids).log_prob
    torch.testing.assert_close(scored, tokens.log_prob, atol=1e-5, rtol=0)
    for row in range(len(batch)):
        if EOS in greedy.ids[row]:
            assert tokens.log_prob[row].sum() >= greedy.log_prob[row].sum() - 1e-5


@pytest.mark.parametrize("seed", range(8))
@torch.no_grad()
def test_an_article_that_is_done_collects_no_more_while_others_go_on(seed):
    """A strong length penalty would prefer the longer hypotheses that only company gives time for."""
    model, batch = tiny.copier(seed=seed), tiny.batch([*tiny.ARTICLES, *tiny.stories(6)])
    decoding = Decoding(method="beam", beam=2, max_length=12, length_penalty=3.0)
    together = model.to_text(batch, model.generate(batch, decoding))
    alone = [tiny.selected(batch, [row]) for row in range(len(batch))]
    assert [model.to_text(one, model.generate(one, decoding))[0] for one in alone] == together


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@torch.no_grad()
def test_an_unlikely_end_does_not_beat_what_was_cut_off(penalty):
    """An end is so improbable that only a wide beam holds it; greedy decoding is the better text by the beam's rank."""
    seen = 0
    for seed in range(8):
        model, batch = tiny.copier(seed=seed), tiny.batch(tiny.ARTICLES)
        model.word_out.bias[EOS] -= 4
        greedy = model.generate(batch, Decoding(max_length=5))
        wide = Decoding(method="beam", beam=40, max_length=5, length_penalty=penalty)
        tokens = model.generate(batch, wide)
        torch.testing.assert_close(model(batch, tokens.ids).log_prob, tokens.log_prob, atol=1e-5, rtol=0)
        for row in (greedy.ids != EOS).all(-1).nonzero().flatten().tolist():
            lengths = [int((ids[row] != PAD).sum()) for ids in (tokens.ids, greedy.ids)]
            ranks = [one.log_prob[row].sum() / n**penalty for one, n in zip((tokens, greedy), lengths, strict=True)]
            assert ranks[0] >= ranks[1] - 1e-5
            seen += 1
    assert seen > 10


@torch.no_grad()
def test_a_beam_that_never_ends_gives_its_best_open_hypothesis():
    model, batch = tiny.model(), tiny.batch([tiny.PAIRS[1]])
    model.word_out.bias[EOS] = -1e4
    tokens = model.generate(batch, Decoding(method="beam", beam=4, max_length=5))
    assert EOS not in tokens.ids
    assert tokens.ids.shape == (1, 5)
    torch.testing.assert_close(model(batch, tokens.ids).log_prob, tokens.log_prob, atol=1e-5, rtol=0)


# ---- sampling --------------------------------------------------------------------------------------------------------


def chi_square_p(counts, probabilities):
    """p-value that counts come from probabilities; rare outcomes are pooled."""
    total = sum(counts.values())
    assert set(counts) <= set(probabilities), "an outcome of probability zero"
    common = [key for key, p in probabilities.items() if p * total >= 5]
    observed = [counts[key] for key in common]
    expected = [probabilities[key] * total for key in common]
    rest = total - sum(expected)
    if rest >= 5:
        observed, expected = [*observed, total - sum(observed)], [*expected, rest]
    scale = sum(observed) / sum(expected)
    return stats.chisquare(observed, [e * scale for e in expected]).pvalue


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_first_words_are_drawn_from_the_tempered_distribution(temperature):
    model, batch = tiny.copier(seed=4), tiny.batch([tiny.PAIRS[0]])
    size = len(model.vocabulary) + 2
    ids = torch.tensor([[i] for i in range(size) if i not in (PAD, UNK, BOS)])
    with torch.no_grad():
        log_p = model(batch, ids).log_prob.squeeze(1)
    probabilities = dict(zip(ids.squeeze(1).tolist(), (log_p / temperature).softmax(0).tolist(), strict=True))
    torch.manual_seed(11)
    decoding = Decoding(method="sample", samples=20_000, temperature=temperature, max_length=1)
    drawn = Counter(model.generate(batch, decoding).ids.squeeze(1).tolist())
    assert chi_square_p(drawn, probabilities) > 0.001
    if temperature != 1.0:
        plain = dict(zip(ids.squeeze(1).tolist(), log_p.softmax(0).tolist(), strict=True))
        assert chi_square_p(drawn, plain) < 1e-6, "the temperature made no difference"


def test_whole_sequences_are_drawn_with_the_models_probabilities():
    words = ("ash", "elm")
    model, batch = tiny.copier(seed=2, words=words), tiny.batch([("Quercus elm", "ash")], words=words)
    every = enumerate_sequences(model, batch, 2, usable=[4, 5, len(model.vocabulary)], sampling=Sampling())
    probabilities = {seq: torch.tensor(p).exp().item() for seq, p in every.items()}
    assert sum(probabilities.values()) == pytest.approx(1, abs=1e-4)
    torch.manual_seed(3)
    ids = model.generate(batch, Decoding(method="sample", samples=20_000, max_length=2)).ids
    drawn = Counter(tuple(token for token in row if token != PAD) for row in ids.tolist())
    assert chi_square_p(drawn, probabilities) > 0.001


def test_self_critical_greedy_is_greedy_and_samples_are_ordered_by_article():
    model, batch = tiny.copier(), tiny.batch()
    torch.manual_seed(0)
    samples, greedy = model.self_critical(batch, 50, Sampling(max_length=7))
    alone = model.generate(batch, Decoding(max_length=7))
    width = alone.ids.shape[1]
    assert torch.equal(greedy.ids[:, :width], alone.ids)
    assert (greedy.ids[:, width:] == PAD).all()
    size = len(model.vocabulary)
    for row, ids in enumerate(samples.ids.view(len(batch), 50, -1)):
        assert ids.max() < size + max(1, len(batch.unknown[row]))
        copied = {token for token in ids.flatten().tolist() if token >= size}
        assert copied <= set(batch.src_extended[row].tolist())
    assert len({tuple(ids) for ids in samples.ids[:50].tolist()}) > 10, "samples of one article are alike"


@pytest.mark.parametrize("steps", [2, 3, 100])
def test_rare_looks_for_ended_rows_change_no_text(steps, monkeypatch):
    model, batch = tiny.copier(), tiny.batch(tiny.ARTICLES)
    noise = torch.rand(3 * len(batch), 9, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    expected = model.self_critical(batch, 3, Sampling(max_length=9), noise)
    monkeypatch.setattr(execution, "ON_CPU", execution.ON_CPU._replace(steps_between_looks=steps))
    for found, own in zip(model.self_critical(batch, 3, Sampling(max_length=9), noise), expected, strict=True):
        assert torch.equal(found.ids, own.ids)
        torch.testing.assert_close(found.log_prob, own.log_prob)
    assert any((tokens.ids == EOS).any() for tokens in expected)


def test_words_of_probability_zero_are_never_drawn():
    p = torch.zeros(1000, 5)
    p[:, 2] = 1.0
    for temperature in (0.1, 1.0, 100.0):
        sampling = Sampling(temperature=temperature)
        choose = search.sampler(sampling, tiny.constraints(sampling, 1000, never=(UNK,)))
        words = NextWords(p.clone(), lambda rows: p[rows].log().clamp(min=NEVER))
        ids, log_prob = choose(words, torch.arange(1000), torch.empty((1000, 0), dtype=torch.long))
        assert set(ids.tolist()) == {2}
        assert log_prob.abs().max() < 1e-6


@pytest.mark.parametrize("size", [1, 5, 12, 13])
def test_draws_and_maxima_by_blocks_are_those_of_whole_rows(size, monkeypatch):
    monkeypatch.setattr(drawing, "BLOCK", 4)
    p = torch.rand(200, size, dtype=torch.float64).masked_fill(torch.rand(200, size) < 0.4, 0.0)
    p[:, -1] += 1e-3
    uniform = torch.cat([torch.rand(199, 1, dtype=torch.float64), torch.full((1, 1), 1 - 2.0**-53)])
    ids, log_prob = draw(p, uniform)
    expected = torch.searchsorted(p.cumsum(-1), uniform * p.sum(-1, keepdim=True), right=True).squeeze(1)
    assert torch.equal(ids[:-1], expected[:-1])
    assert (p[torch.arange(200), ids] > 0).all()
    torch.testing.assert_close(log_prob, (p[torch.arange(200), ids] / p.sum(-1)).log())
    assert torch.equal(most_probable(p), p.argmax(-1))
    none = p[:0]
    assert len(most_probable(none)) == len(draw(none, uniform[:0])[0]) == 0
