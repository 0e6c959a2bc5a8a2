"""Samples of models with extreme logits: values and gradients are those of plain formulas in log space, in float64."""

import copy
import math
from contextlib import contextmanager
from dataclasses import replace

import pretrained
import pytest
import tiny
import torch
import torch.nn.functional as F
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rlsum.data.vocabulary import BOS, EOS, PAD, UNK
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pointer_generator import unrolling
from rlsum.models.sampling import Drawn
from rlsum.models.summarizer import repeat_rows

SAMPLINGS = st.builds(
    Sampling,
    temperature=st.sampled_from([0.3, 0.7, 1.0, 1.5, 5.0, 30.0]),
    top_k=st.sampled_from([0, 0, 3]),
    top_p=st.sampled_from([1.0, 1.0, 0.7]),
    min_length=st.sampled_from([0, 2, 5]),
    block_ngrams=st.sampled_from([0, 1, 2]),
    max_length=st.just(6),
)


@contextmanager
def in_float64(model):
    """The model in float64, which its steps in float32 then are, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "float", torch.Tensor.double)
        yield copy.deepcopy(model).double()


def plain(log_p, before, chosen, sampling, ends, never=()):
    """Log q of a token after others, from log-probabilities (V,) in log space, as docs/concepts/objectives.md says."""
    n = sampling.block_ngrams
    forbidden = set(never) | (set(ends) if len(before) < sampling.min_length else set())
    if n and len(before) >= n:
        begun = before[len(before) - n + 1 :]
        forbidden |= {before[i + n - 1] for i in range(len(before) - n + 1) if before[i : i + n - 1] == begun}
    forbidden |= {token for token, value in enumerate(log_p.tolist()) if value < -1e8}
    kept = [token for token in range(len(log_p)) if token not in forbidden] or list(ends)
    log_q = log_p[kept] / sampling.temperature
    if sampling.cuts:
        order = log_q.detach().argsort(descending=True).tolist()
        order = order[: sampling.top_k] if sampling.top_k else order
        p = log_q.detach()[order].softmax(-1)
        if sampling.top_p < 1:
            order = [place for place, before in zip(order, (p.cumsum(-1) - p).tolist(), strict=True)
                     if before < sampling.top_p]  # fmt: skip
        kept, log_q = [kept[place] for place in order], log_q[order]
    if chosen not in kept:
        return None
    return log_q[kept.index(chosen)] - log_q.logsumexp(-1)


def of_words(model, batch, ids):
    """Log p (V',) of a pointer-generator for each place of the samples: equation 9 of See et al. 2017."""
    encoded = model.encode(batch).select(repeat_rows(len(batch), len(ids) // len(batch)))
    steps, _, place, _ = unrolling.forced(model, encoded, model.embed(model._inputs(ids)), ids)
    copies = encoded.mask.any(-1, keepdim=True)[place // ids.shape[1]]
    log_generate = F.logsigmoid(steps.gate).masked_fill(~copies, 0.0)
    log_copy = F.logsigmoid(-steps.gate).masked_fill(~copies, -1e9)
    words = model.word_out(model.hidden_out(steps.features)).clone()
    words[:, [PAD, BOS]] = -math.inf
    words = words.log_softmax(-1) + log_generate
    found = {}
    for i, at in enumerate(place.tolist()):
        article = encoded.extended[at // ids.shape[1]].tolist()
        values = []
        for token in range(len(model.vocabulary) + encoded.unknowns):
            terms = [words[i, token]] if token < len(model.vocabulary) and token not in (PAD, BOS) else []
            terms += [
                steps.log_attention[i, j] + log_copy[i, 0] for j, other in enumerate(article) if other == token != PAD
            ]
            values.append(torch.stack(terms).logsumexp(0) if terms else torch.tensor(-1e9).double())
        found[at] = torch.stack(values)
    return found


def of_tokens(model, batch, ids):
    """The same of a pretrained model."""
    rows = repeat_rows(len(batch), len(ids) // len(batch))
    inputs = model.rules.inputs(ids)
    with model._encoded(batch, rows) as given:
        logits = model.network(**given, decoder_input_ids=inputs, use_cache=False).logits
    return dict(enumerate(logits.log_softmax(-1).flatten(0, 1)))


def check(model, batch, ids, sampling, of_all, never):
    """Compare the scores and their gradients with the plain ones."""
    scored = model(batch, ids, Drawn.all(ids, sampling)).log_prob
    assert scored.isfinite().all()
    with in_float64(model) as exact:
        log_p = of_all(exact, batch, ids)
        values, kept = [], torch.zeros(ids.shape, dtype=torch.bool)
        for row, text in enumerate(ids.tolist()):
            for t, token in enumerate(text):
                if token == batch.pad:
                    continue
                value = plain(log_p[row * ids.shape[1] + t], text[:t], token, sampling, batch.ends, never)
                if value is not None:
                    kept[row, t] = True
                    values.append(value)
        expected = torch.stack(values)
        weight = torch.randn(len(values), generator=torch.Generator().manual_seed(1))
        wanted = tiny.gradients(exact, (weight.double() * expected).sum())
    assert kept.any()
    torch.testing.assert_close(scored[kept].double(), expected, atol=2e-3, rtol=1e-4)
    found = tiny.gradients(model, (weight * scored[kept]).sum())
    ours, theirs = (torch.cat([g.flatten().double() for g in given.values()]) for given in (found, wanted))
    assert ours.isfinite().all()
    assert (ours - theirs).norm() <= 1e-3 * theirs.norm() + 1e-3
    return kept


def extreme(seed, scale, gate):
    """A pointer-generator whose words are up to e^scale times as probable as others, and that copies or does not."""
    model = tiny.copier(seed=seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        model.word_out.bias.copy_(scale * (torch.rand(model.word_out.bias.shape, generator=generator) - 0.5))
        model.word_out.bias[EOS] = scale / 2
        model.gate.bias.fill_(gate)
    return model


@settings(max_examples=40)
@given(st.integers(1, 5), st.sampled_from([1.0, 60.0, 80.0, 100.0, 200.0, 400.0]),
       st.sampled_from([-200.0, -90.0, -60.0, 0.0, 60.0, 90.0, 200.0]), SAMPLINGS)  # fmt: skip
@example(1, 140.0, 60.0, Sampling(min_length=5, max_length=6))
@example(2, 200.0, 90.0, Sampling(min_length=5, block_ngrams=1, max_length=6))
@example(3, 100.0, 0.0, Sampling(block_ngrams=1, max_length=6))
def test_a_pointer_generator(seed, scale, gate, sampling):
    model, batch = extreme(seed, scale, gate), tiny.batch((*tiny.PAIRS[:2], tiny.EMPTY))
    torch.manual_seed(seed)
    drawn = model.sample(batch, 2, sampling)
    again = model(batch, drawn.ids, Drawn.all(drawn.ids, sampling)).log_prob
    if not sampling.plain:  # see search.sampler
        torch.testing.assert_close(again, drawn.log_prob, atol=2e-3, rtol=1e-4)
        check(model, batch, drawn.ids, sampling, of_words, (UNK,))
    if not sampling.cuts:  # improbable texts, as another policy would score them
        ids = torch.randint(
            EOS + 1, len(model.vocabulary), drawn.ids.shape, generator=torch.Generator().manual_seed(seed)
        )
        check(model, batch, ids, sampling, of_words, (UNK,))


@pytest.fixture(scope="module")
def bart(tmp_path_factory):
    folder = pretrained.save(tmp_path_factory.mktemp("bart"), "bart")
    model = pretrained.summarizer(pretrained.ruled(folder, forced_bos_token_id=None, forced_eos_token_id=None))
    return model, pretrained.batch(model, pretrained.NEWS[:2])


@settings(max_examples=25)
@given(st.integers(1, 5), st.sampled_from([1.0, 80.0, 100.0, 200.0]), SAMPLINGS)
def test_a_pretrained_model(bart, seed, scale, sampling):
    model, batch = bart
    bias = model.network.final_logits_bias
    with torch.no_grad():
        bias.copy_(scale * (torch.rand(bias.shape, generator=torch.Generator().manual_seed(seed)) - 0.5))
        bias[:, list(batch.ends)] = scale / 2
    torch.manual_seed(seed)
    drawn = model.sample(batch, 2, sampling)
    again = model(batch, drawn.ids, Drawn.all(drawn.ids, sampling)).log_prob
    torch.testing.assert_close(again, drawn.log_prob, atol=2e-3, rtol=1e-4)
    check(model, batch, drawn.ids, sampling, of_tokens, ())


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
@pytest.mark.parametrize("options", [{}, {"temperature": 0.7}, {"top_k": 3}], ids=str)
def test_no_text_is_shorter_than_it_may_be_however_probable_its_end(method, options):
    for scale in (120.0, 200.0, 1000.0):
        model, batch = extreme(1, scale, 300.0), tiny.batch()
        decoding = replace(Decoding(method=method, beam=2, min_length=4, block_ngrams=1, max_length=6), **options)
        tokens = model.generate(batch, decoding)
        assert ((tokens.ids != PAD).sum(-1) >= 5).all()
        assert all(len(set(row.tolist())) == len(row) for row in tokens.ids)
