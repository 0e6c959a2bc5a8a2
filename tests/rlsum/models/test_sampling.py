"""Samples are scored under the distribution that drew them, for every option and all kinds of model."""

import itertools
import math
from dataclasses import replace
from functools import partial

import pytest
import tiny
import torch
from kinds import TINY, seq2seq

from rlsum.data.vocabulary import EOS, PAD, UNK
from rlsum.models import sampling
from rlsum.models.constraints import Constraints, Forbidden
from rlsum.models.decoding import Decoding, Limits, Sampling, Warping
from rlsum.models.sampling import BLOCKED, Drawn, log_policy
from rlsum.models.summarizer import DrawsAndScores
from rlsum.sections import names_of

NOTHING = Forbidden(ends=(0,), never=(), early=False)


def test_every_option_has_a_case():
    options = {*names_of(Limits, Warping)} - {"max_length"}
    assert {name for cut in tiny.CUTS.values() for name in cut} == options


def tokens_of(row, ends=(EOS,)):
    row = [token for token in row.tolist() if token not in (PAD, -100)]
    return row[:-1] if row and row[-1] in ends else row


MODELS = {name: kind.made for name, kind in TINY.items()} | {"bart": partial(seq2seq, architecture="bart")}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("cut", tiny.CUTS)
def test_drawn_and_scored_agree(cut, kind, tmp_path):
    model, batch = MODELS[kind](tmp_path)
    rules = Sampling(**tiny.CUTS[cut], max_length=8)
    torch.manual_seed(4)
    samples, greedy = model.self_critical(batch, 6, rules)
    model.train()
    scored = model(batch, samples.ids, Drawn.all(samples.ids, rules)).log_prob
    torch.testing.assert_close(scored, samples.log_prob, atol=1e-5, rtol=0)
    for row in [*samples.ids, *greedy.ids]:
        check_limits(row, rules, batch.ends)
        assert UNK not in row or kind != "pointer-generator"


def check_limits(row, limits, ends):
    words, n = tokens_of(row, ends), limits.block_ngrams
    assert len(words) >= limits.min_length or len(words) == 0
    ngrams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)] if n else []
    assert len(set(ngrams)) == len(ngrams)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("cut", [name for name, cut in tiny.CUTS.items() if {*cut} & {*names_of(Limits)}])
def test_greedy_texts_and_those_of_a_search_keep_the_limits(cut, kind, tmp_path):
    model, batch = MODELS[kind](tmp_path)
    for method in ("greedy", "beam"):
        decoding = Decoding(method=method, beam=3, max_length=8, **tiny.CUTS[cut])
        for row in model.generate(batch, decoding).ids:
            check_limits(row, decoding, batch.ends)


@pytest.mark.parametrize("kind", TINY)
def test_a_constraint_knows_the_article_of_every_text(kind, tmp_path, monkeypatch):
    """One that forbids the words of the article needs no more than this, to draw, to search and to score."""

    def after(self, ids):
        words = self.batch.src_extended[self.article]
        return Forbidden(self.batch.ends, self.never, False, torch.ones_like(words, dtype=torch.bool), words)

    def within(self, target, place):
        forbidden, text = self.after(target), place // target.shape[1]
        return forbidden._replace(begun=forbidden.begun[text], text=text)

    for name, method in {"after": after, "within": within, "may_forbid": lambda self, t: True}.items():
        monkeypatch.setattr(Constraints, name, method)
    model, batch = MODELS[kind](tmp_path)
    limits = {"min_length": 1, "max_length": 8}
    samples, greedy = model.self_critical(batch, 6, rules := Sampling(**limits))
    searches = [model.generate(batch, Decoding(method=method, beam=3, **limits)) for method in ("greedy", "beam")]
    for tokens in (samples, greedy, *searches):
        for row, ids in enumerate(tokens.ids):
            of_article = {*batch.src_extended[row * len(batch) // len(tokens.ids)].tolist()}
            assert not of_article & {*tokens_of(ids, batch.ends)}
    scored = model(batch, samples.ids, Drawn.all(samples.ids, rules)).log_prob
    torch.testing.assert_close(scored, samples.log_prob, atol=1e-5, rtol=0)
    if isinstance(model, DrawsAndScores):
        drawn = model.draw_and_score(batch, 6, rules, None, greedy=True, references=True)
        torch.testing.assert_close(drawn.scores[0].log_prob, drawn.samples.log_prob, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", TINY)
def test_references_beside_samples_are_scored_under_the_models_own_distribution(kind, tmp_path):
    model, batch = MODELS[kind](tmp_path)
    for cut in ("plain", "all"):
        rules = Sampling(**tiny.CUTS[cut], max_length=8)
        samples = model.sample(batch, 1, rules).ids
        width = max(samples.shape[1], batch.target.shape[1])
        padded = [
            torch.nn.functional.pad(ids, (0, width - ids.shape[1]), value=batch.pad) for ids in (samples, batch.target)
        ]
        both = torch.stack(padded, 1).flatten(0, 1)
        is_sample = torch.arange(len(both)) % 2 == 0
        together = model(batch, both, Drawn(is_sample, rules)).log_prob
        torch.testing.assert_close(together[~is_sample], model(batch, padded[1]).log_prob, atol=1e-5, rtol=1e-5)
        alone = model(batch, padded[0], Drawn.all(padded[0], rules)).log_prob
        torch.testing.assert_close(together[is_sample], alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("cut", ["plain", "hot", "min_length", "block_ngrams"])
def test_the_policy_sums_to_one_over_all_short_texts(cut):
    """The probabilities of all texts, each scored by itself, add up to 1: the scored policy is a distribution."""
    words = ("ash", "elm")
    model, batch = tiny.copier(seed=2, words=words), tiny.batch([("Quercus elm", "ash")], words=words)
    usable, rules = [UNK, 4, 5, len(model.vocabulary)], Sampling(**tiny.CUTS[cut] | {"min_length": 1}, max_length=3)
    texts = [(*body, EOS) for n in (0, 1, 2) for body in itertools.product(usable, repeat=n)]
    texts += list(itertools.product(usable, repeat=3))
    total = 0.0
    for text in texts:
        ids = torch.tensor([text])
        with torch.no_grad():
            total += model(batch, ids, Drawn.all(ids, rules)).log_prob.sum().exp().item()
    assert total == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("cut", ["temperature", "hot", "min_length", "block_ngrams"])
def test_a_cut_that_cuts_nothing_changes_nothing(cut):
    """With top_k the distribution is computed step by step, without it for all steps at once."""
    model, batch = tiny.copier(seed=3, coverage=True), tiny.batch(tiny.ARTICLES)
    rules = Sampling(**tiny.CUTS[cut], max_length=8)
    torch.manual_seed(4)
    samples = model.sample(batch, 6, rules)
    found = []
    for each in (rules, replace(rules, top_k=1000)):
        torch.manual_seed(4)
        assert torch.equal(model.sample(batch, 6, each).ids, samples.ids)
        model.zero_grad()
        scored = model(batch, samples.ids, Drawn.all(samples.ids, each)).log_prob
        for _ in range(2):  # a graph may be used twice
            (scored * torch.linspace(-1, 1, scored.numel()).view_as(scored)).sum().backward(retain_graph=True)
        found.append({"log_prob": scored, **{name: each.grad for name, each in model.named_parameters()}})
    torch.testing.assert_close(*found, atol=2e-5, rtol=1e-4)


def test_the_options_by_hand():
    p = torch.tensor([[0.4, 0.3, 0.2, 0.1]])
    no_ids = torch.empty((1, 0), dtype=torch.long)

    def policy(ids=no_ids, never=(), **options):
        sampling = Sampling(**options)
        forbidden = tiny.constraints(sampling, 1, (3,), never).after(ids)
        return log_policy(p.log(), forbidden, sampling).exp()[0].tolist()

    assert policy() == pytest.approx([0.4, 0.3, 0.2, 0.1])
    assert policy(never=(0,)) == pytest.approx([0, 0.5, 1 / 3, 1 / 6])
    squares = [x**2 for x in (0.4, 0.3, 0.2, 0.1)]
    assert policy(temperature=0.5) == pytest.approx([x / sum(squares) for x in squares])
    assert policy(top_k=2) == pytest.approx([4 / 7, 3 / 7, 0, 0])
    assert policy(top_p=0.6) == pytest.approx([4 / 7, 3 / 7, 0, 0])  # .4 is not enough, .7 is
    assert policy(top_p=0.05) == pytest.approx([1, 0, 0, 0])  # the most probable is always left
    assert policy(min_length=1) == pytest.approx([4 / 9, 3 / 9, 2 / 9, 0])
    assert policy(torch.tensor([[0, 1, 0]]), block_ngrams=2) == pytest.approx([4 / 7, 0, 2 / 7, 1 / 7])
    # nothing is left but the end
    assert policy(torch.tensor([[0, 1, 2]]), block_ngrams=1, min_length=9) == [0, 0, 0, 1]
    assert policy(top_k=3, top_p=0.7) == pytest.approx([4 / 7, 3 / 7, 0, 0])  # .4 and .3 are .78 of what top_k has left
    assert policy(top_k=1, top_p=0.9) == pytest.approx([1, 0, 0, 0])


@pytest.mark.parametrize("options", [{"top_k": 1}, {"top_k": 2}, {"top_p": 0.5}, {"top_k": 3, "top_p": 0.5}], ids=str)
def test_rounding_does_not_decide_how_many_equal_tokens_are_kept(options):
    """Many unknown words in a row are read alike, and copied with equal probabilities."""
    log_p = torch.tensor([[0.3, 0.3, 0.3, 0.1]]).log()
    drawn = log_policy(log_p, NOTHING, Sampling(**options))[0]
    again = log_p + torch.tensor([[0.0, 1e-6, 2e-6, 0.0]])
    for token in (drawn > BLOCKED).nonzero().flatten():
        scored = log_policy(again, NOTHING, Sampling(**options), token.unsqueeze(0))[0]
        torch.testing.assert_close(scored[token], drawn[token], atol=1e-5, rtol=0)


@pytest.mark.parametrize("width", [1, 3, 100])
def test_the_nucleus_is_the_same_however_many_tokens_are_looked_at_first(width, monkeypatch):
    torch.manual_seed(0)
    log_p = (2 * torch.randn(20, 50)).log_softmax(-1)
    cut = Sampling(top_p=0.8)
    expected = log_policy(log_p, NOTHING, cut)
    monkeypatch.setattr(sampling, "NUCLEUS", width)
    assert torch.equal(log_policy(log_p, NOTHING, cut), expected)
    kept = expected > BLOCKED
    mass, smallest = (log_p.exp() * kept).sum(-1), log_p.masked_fill(~kept, math.inf).amin(-1).exp()
    assert (mass >= 0.8 - 1e-6).all()
    assert (mass - smallest < 0.8).all()


@pytest.mark.parametrize("kind", TINY)
def test_another_model_scores_what_it_would_have_cut(kind, tmp_path):
    """The start, which the KL penalty measures from, and a policy that has learned since: both stay finite."""
    model, batch = MODELS[kind](tmp_path)
    rules = Sampling(max_length=8, top_k=2)
    torch.manual_seed(4)
    ids = model.sample(batch, 6, rules).ids
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    scored = model(batch, ids, Drawn.all(ids, rules)).log_prob
    assert scored.min() > -100
    scored.sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters() if parameter.grad is not None)
    first = log_policy(torch.tensor([[0.6, 0.3, 0.1]]).log(), NOTHING, Sampling(top_k=1), torch.tensor([2]))
    torch.testing.assert_close(first.exp(), torch.tensor([[6 / 7, 0.0, 1 / 7]]))


def test_a_model_that_expects_little_but_the_unknown_word_agrees_with_itself():
    """p(UNK) of 1 - 1e-5: what is left keeps its digits."""
    model, batch = tiny.copier(), tiny.batch(tiny.PAIRS[:2])
    with torch.no_grad():
        model.gate.bias.fill_(20.0)
        model.word_out.bias[UNK] = 14.0
        samples = model.sample(batch, 5, Sampling(max_length=8))
        scored = model(batch, samples.ids, Drawn.all(samples.ids, Sampling(max_length=8))).log_prob
    torch.testing.assert_close(scored, samples.log_prob, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "options",
    [{"temperature": 0}, {"temperature": math.inf}, {"top_k": -1}, {"top_p": 0}, {"top_p": 1.1}, {"max_length": 0},
     {"min_length": 5, "max_length": 5}, {"block_ngrams": -1}],
    ids=str,
)  # fmt: skip
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Sampling(**options)


def test_decoding_samples_as_its_options_say():
    decoding = Decoding(method="sample", temperature=0.5, min_length=2, block_ngrams=3, max_length=9)
    assert decoding.sampling == Sampling(temperature=0.5, min_length=2, block_ngrams=3, max_length=9)
    assert Sampling(max_length=4).plain
    assert not decoding.sampling.plain
