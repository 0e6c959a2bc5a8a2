"""The pointer-generator against a naive one in probability space, and everything its numbers must not depend on."""

from dataclasses import replace

import pytest
import tiny
import torch
import torch.nn.functional as F

from rlsum.data.vocabulary import BOS, EOS, PAD, UNK
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pointer_generator.network import NEVER
from rlsum.models.sampling import Drawn

ROOMY = Decoding(max_length=12)


# ---- an independent implementation -----------------------------------------------------------------------------------


def naive(model, article, unknown, target):
    """Distributions (T, V + unknown) and coverage penalties (T,) of one article (S,) of extended ids, in float64.

    See et al. 2017: equations 1 to 4 and 8 to 12, with loops and without logarithms.
    """
    size, layers, double = len(model.vocabulary), model.config.decoder_layers, torch.Tensor.double

    def linear(layer, x):
        return F.linear(x, double(layer.weight), None if layer.bias is None else double(layer.bias))

    words = double(model.embed.weight)[article.masked_fill(article >= size, UNK)]
    states, (h, _) = tiny.library_lstm(model.encoder).double()(words)  # (S, 2H)
    last = torch.cat([h[-2], h[-1]])
    h = [torch.relu(linear(model.reduce_h, last))] * layers
    c = [torch.relu(linear(model.reduce_c, last))] * layers
    context, spent, previous = torch.zeros_like(states[0]), torch.zeros(len(article)).double(), BOS
    distributions, penalties = [], []
    for word in target.tolist():
        x = linear(model.feed, torch.cat([double(model.embed.weight)[previous], context]))
        below = x
        for i, cell in enumerate(model.cells):
            gates = linear_pair(cell, below, h[i])
            c[i] = gates[1].sigmoid() * c[i] + gates[0].sigmoid() * gates[2].tanh()
            h[i] = below = gates[3].sigmoid() * c[i].tanh()
        state = torch.cat([h[-1], c[-1]])
        scores = []
        for i in range(len(article)):
            inner = linear(model.key, states[i]) + linear(model.query, state)
            if model.spent_weight is not None:
                inner = inner + spent[i] * double(model.spent_weight)
            scores.append((double(model.energy.weight)[0] * inner.tanh()).sum())
        attention = torch.stack(scores).softmax(0)
        context = attention @ states
        p_gen = linear(model.gate, torch.cat([context, state, x])).sigmoid()
        logits = linear(model.word_out, linear(model.hidden_out, torch.cat([h[-1], context])))
        logits[[PAD, BOS]] = -torch.inf
        p = torch.zeros(size + unknown).double()
        p[:size] = p_gen * logits.softmax(0)
        for i, word_id in enumerate(article.tolist()):
            p[word_id] = p[word_id] + (1 - p_gen[0]) * attention[i]
        distributions.append(p)
        penalties.append(torch.minimum(attention, spent).sum())
        spent = spent + attention
        previous = UNK if word >= size else word
    return torch.stack(distributions), torch.stack(penalties)


def naive_rows(model, batch):
    """The target of each article of a batch, its distributions and its penalties."""
    for row, words in enumerate(batch.unknown):
        target = batch.target[row][batch.target[row] != PAD]
        yield target, *naive(model, batch.src_extended[row, : batch.src_lengths[row]], len(words), target)


def linear_pair(cell, x, h):
    """The four gates i, f, g, o of an LSTM cell before their squashing."""
    w_x, w_h, b_x, b_h = (parameter.double() for parameter in cell.parameters())
    return (w_x @ x + b_x + w_h @ h + b_h).chunk(4)


@pytest.mark.parametrize("sizes", tiny.SIZES)
@torch.no_grad()
def test_log_probabilities_are_equation_9_computed_naively(sizes):
    model, batch = tiny.copier(**sizes), tiny.batch()
    scored = model(batch, batch.target)
    for row, (target, p, penalties) in enumerate(naive_rows(model, batch)):
        expected = p.gather(1, target.unsqueeze(1)).squeeze(1).log()
        torch.testing.assert_close(scored.log_prob[row, : len(target)].double(), expected, atol=1e-5, rtol=1e-5)
        if model.config.coverage:
            torch.testing.assert_close(scored.coverage[row, : len(target)].double(), penalties, atol=1e-5, rtol=1e-5)
        else:
            assert scored.coverage.abs().max() == 0
    assert (batch.target >= len(model.vocabulary)).any()
    assert (batch.target == UNK).any()


@pytest.mark.parametrize("sizes", tiny.SIZES)
@torch.no_grad()
def test_the_extended_distribution_is_equation_9_and_sums_to_one(sizes):
    model, batch = tiny.copier(**sizes), tiny.batch()
    found = tiny.decoder_distributions(model, batch, batch.target)
    torch.testing.assert_close(found.sum(-1), torch.ones(found.shape[:2]), atol=1e-5, rtol=0)
    for row, (target, p, _) in enumerate(naive_rows(model, batch)):
        own = found[row, : len(target), : p.shape[1]].double()
        torch.testing.assert_close(own, p, atol=1e-6, rtol=1e-4)
        assert found[row, : len(target), p.shape[1] :].sum() == 0, "words of other articles cannot be copied"
        assert found[row, :, [PAD, BOS]].sum() == 0


@torch.no_grad()
def test_attention_by_sigmoid_is_attention_by_tanh():
    model, batch = tiny.model(std=1.5, coverage=True), tiny.batch()
    encoded = model.encode(batch)
    seen, spent = torch.randn(len(batch), 2 * model.config.hidden), torch.rand(batch.src.shape) * 3
    found = model._attend(encoded, seen, spent).exp()
    inner = model.key(encoded.memory.states) + model.query(seen).unsqueeze(1) + spent.unsqueeze(-1) * model.spent_weight
    energy = model.energy(inner.tanh()).squeeze(-1).masked_fill(~encoded.mask, -torch.inf)
    torch.testing.assert_close(found, energy.softmax(-1), atol=1e-6, rtol=1e-4)
    assert found.max() > 0.9, "the case is too easy to tell a wrong attention"


# ---- decoding and scoring agree --------------------------------------------------------------------------------------


DRAWN_AS = {"sample": Sampling(), "hot": Sampling(temperature=2.0), "self_critical samples": Sampling()}


def decoded(model, batch, how):
    torch.manual_seed(5)
    if how.startswith("self_critical"):
        samples, greedy = model.self_critical(batch, 3, Sampling(max_length=12))
        return samples if how.endswith("samples") else greedy
    options = {"beam": {"beam": 4}, "sample": {"samples": 5}, "hot": {"samples": 3, "temperature": 2.0}}.get(how, {})
    method = {"hot": "sample"}.get(how, how)
    return model.generate(batch, replace(ROOMY, method=method, **options))


@pytest.mark.parametrize("how", ["greedy", "sample", "hot", "beam", "self_critical samples", "self_critical greedy"])
@pytest.mark.parametrize("sizes", tiny.SIZES)
@pytest.mark.parametrize("seed", [1, 2, 3])
@torch.no_grad()
def test_decoding_and_scoring_agree(how, sizes, seed):
    model, batch = tiny.copier(seed=seed, **sizes), tiny.batch(tiny.ARTICLES)
    tokens = decoded(model, batch, how)
    drawn = DRAWN_AS.get(how)
    scored = model(batch, tokens.ids, drawn and Drawn.all(tokens.ids, drawn)).log_prob
    torch.testing.assert_close(scored, tokens.log_prob, atol=1e-5, rtol=0)
    assert (tokens.log_prob[tokens.ids != PAD] < 0).all()


@torch.no_grad()
def test_the_cases_of_agreement_hold_copied_words_and_ends():
    batch = tiny.batch(tiny.ARTICLES)
    for how in ("greedy", "sample", "beam", "self_critical samples"):
        ids = torch.cat([F.pad(decoded(tiny.copier(seed=s), batch, how).ids, (0, 20))[:, :12] for s in (1, 2, 3)])
        assert (ids >= len(tiny.vocabulary())).any(), how
        assert (ids == EOS).any(), how


# ---- gradients -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", tiny.SIZES)
def test_gradients_are_those_of_finite_differences(sizes, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)  # the model's float32 steps in float64
    model, batch = tiny.copier(**sizes).double(), tiny.batch(tiny.ARTICLES)

    def loss():
        scored = model(batch, batch.target)
        return scored.log_prob.sum() + 0.5 * scored.coverage.sum()

    generator = torch.Generator().manual_seed(0)
    for name, gradient in tiny.gradients(model, loss()).items():
        parameter = model.get_parameter(name)
        direction = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        if name == "embed.weight":
            direction[PAD] = 0  # the padding's embedding is held at zero
        with torch.no_grad():
            parameter += 1e-5 * direction
            above = loss()
            parameter -= 2e-5 * direction
            below = loss()
            parameter += 1e-5 * direction
        slope = (above - below) / 2e-5
        torch.testing.assert_close((gradient * direction).sum(), slope, atol=1e-6, rtol=1e-5, msg=name)


def test_an_impossible_word_gives_a_finite_score_and_gradient():
    model, batch = tiny.copier(), tiny.batch([tiny.PAIRS[0], tiny.EMPTY])
    target = batch.target.clone()
    target[1, 0] = len(model.vocabulary)  # a copied word of an empty article
    scored = model(batch, target).log_prob
    assert scored.isfinite().all()
    assert scored[1, 0] <= NEVER / 2
    assert all(g.isfinite().all() for g in tiny.gradients(model, scored.sum()).values())


# ---- texts and initial state -----------------------------------------------------------------------------------------


def test_late_coverage_learns():
    model, batch = tiny.copier(coverage=True), tiny.batch()
    with torch.no_grad():
        model.spent_weight.zero_()
    assert tiny.gradients(model, model(batch, batch.target).coverage.sum())["spent_weight"].abs().min() > 0


def test_copied_words_come_out_in_their_own_articles_surface_form():
    model, batch = tiny.model(), tiny.batch([("Éa elm ①", ""), ("<pad> </s> oak", "")])
    size = len(model.vocabulary)
    ids = torch.tensor([[size, size + 1, model.vocabulary.index["elm"], EOS], [size + 1, size, EOS, PAD]])
    tokens = decoded(model, batch, "greedy")
    assert model.to_text(batch, replace(tokens, ids=ids)) == ["Éa ① elm", "</s> <pad>"]
    twice = torch.tensor([[size, EOS], [size + 1, EOS], [size, EOS], [EOS, PAD]])
    assert model.to_text(batch, replace(tokens, ids=twice)) == ["Éa", "①", "<pad>", ""]


def test_the_embedding_of_padding_is_zero_and_stays_so():
    from rlsum.models.pointer_generator.model import PointerGenerator

    model = PointerGenerator(tiny.model().config, tiny.vocabulary())
    batch = tiny.batch((*tiny.ARTICLES, ("Lone", "Lone")))
    model(batch, batch.target).log_prob.sum().backward()
    assert model.embed.weight[PAD].abs().sum() == 0
    assert model.embed.weight.grad[PAD].abs().sum() == 0


def test_generation_records_no_gradient():
    model, batch = tiny.model(), tiny.batch()
    for method in ("greedy", "sample", "beam"):
        assert not model.generate(batch, Decoding(method=method, max_length=3)).log_prob.requires_grad
    assert not any(tokens.log_prob.requires_grad for tokens in model.self_critical(batch, 2, Sampling(max_length=3)))
