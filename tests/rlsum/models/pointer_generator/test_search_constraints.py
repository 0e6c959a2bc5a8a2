"""What searches and samples may not choose: lengths, blocked n-grams, words that nothing is left of."""

from dataclasses import replace

import pytest
import tiny
import torch

from rlsum.data.vocabulary import BOS, EOS, PAD, UNK
from rlsum.models.decoding import Decoding, Sampling

SEEDS = [1, 2, 4]


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
@pytest.mark.parametrize(("least", "most"), [(0, 3), (2, 6), (5, 6), (7, 8)])
@torch.no_grad()
def test_lengths_are_within_their_limits(method, least, most):
    batch = tiny.batch(tiny.ARTICLES)
    decoding = Decoding(method=method, min_length=least, max_length=most, samples=4, beam=3)
    for seed in SEEDS:
        ids = tiny.copier(seed=seed).generate(batch, decoding).ids
        assert ids.shape[1] <= most
        for row in ids:
            assert len(tiny.words_of(row)) >= least
            assert UNK not in row or method == "sample"
            assert BOS not in row


def repeats(row, n):
    grams = [tuple(row[i : i + n]) for i in range(len(row) - n + 1)]
    return len(grams) - len(set(grams))


@pytest.mark.parametrize("method", ["greedy", "beam"])
@pytest.mark.parametrize("n", [1, 2, 3])
@torch.no_grad()
def test_no_ngram_repeats_once_blocked(method, n):
    free = blocked = 0
    for seed in SEEDS:
        model, batch = tiny.copier(seed=seed), tiny.batch(tiny.ARTICLES)
        decoding = Decoding(method=method, beam=3, max_length=10)
        free += sum(repeats(tiny.words_of(row), n) for row in model.generate(batch, decoding).ids)
        tokens = model.generate(batch, replace(decoding, block_ngrams=n))
        blocked += sum(repeats(tiny.words_of(row), n) for row in tokens.ids)
        torch.testing.assert_close(model(batch, tokens.ids).log_prob, tokens.log_prob, atol=1e-5, rtol=0)
    assert blocked == 0
    assert free > 0


@pytest.mark.parametrize(
    ("history", "n", "expected"),
    [
        ([5, 6, 5], 2, [6]),
        ([5, 6, 7, 5, 6], 3, [7]),
        ([5, 6, 5, 7, 5], 2, [6, 7]),
        ([5, 6], 3, []),
        ([5], 2, []),
        ([], 1, []),
        ([5, 6], 1, [5, 6]),
        ([5, 5], 2, [5]),
        ([5, 5, 5], 3, [5]),
    ],
)
def test_completions_by_hand(history, n, expected):
    both = torch.tensor([[7] * len(history), history], dtype=torch.long)  # another row changes nothing
    both, constraints, t = both.view(2, -1), tiny.constraints(Sampling(block_ngrams=n), 2), len(history)
    longer = torch.cat([both, torch.full((2, 2), 8)], 1)  # what comes later changes nothing
    within = constraints.within(longer, torch.arange(longer.numel()))
    last = torch.tensor([t, 2 * t + 2])  # behind the history of either text
    alone = next(own.select(torch.tensor([t])) for rows, own in within.split(t + 2, longer.numel()) if rows.start)
    for forbidden in (constraints.after(both), within.select(last), alone):
        marked = forbidden.mark(torch.zeros(2 if forbidden is not alone else 1, 9), 1.0)
        assert marked[-1].nonzero().flatten().tolist() == expected


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
@torch.no_grad()
def test_constraints_that_leave_no_word_never_produce_an_impossible_one(method):
    """Six words and at least nine tokens, none twice: the length gives way, not the vocabulary."""
    model, batch = tiny.copier(), tiny.batch([*tiny.PAIRS[1:3], tiny.EMPTY])
    decoding = Decoding(method=method, beam=3, min_length=11, max_length=12, block_ngrams=1)
    tokens = model.generate(batch, decoding)
    for row, ids in enumerate(tokens.ids):
        possible = {EOS, UNK, *range(4, len(model.vocabulary)), *batch.src_extended[row].tolist()} - {PAD}
        ended = ids.tolist().index(EOS) + 1 if EOS in ids else len(ids)
        assert set(ids[:ended].tolist()) <= possible
        assert (ids[ended:] == PAD).all()
    assert tokens.log_prob.min() > -1e6
    model.to_text(batch, tokens)


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
@torch.no_grad()
def test_an_article_whose_only_word_is_used_up_ends(method):
    model, batch = tiny.model(), tiny.batch([tiny.PAIRS[1], tiny.PAIRS[0]])
    model.gate.bias.fill_(-2e9)  # nothing but copying, not even the end
    tokens = model.generate(batch, Decoding(method=method, beam=2, max_length=5, block_ngrams=1))
    assert model.to_text(batch, tokens)[0] == "Tilia"
