"""The other encoder-decoders of texts that transformers has: scoring, sampling and decoding are its own."""

import architectures
import pretrained as tiny
import pytest
import torch

from rlsum.data.subwords import IGNORED
from rlsum.models.decoding import Decoding, Sampling
from rlsum.models.pretrained import loading


@pytest.mark.parametrize("name", sorted({*architectures.NAMES} - {*architectures.INCONSISTENT}))
def test_it_scores_samples_and_decodes_as_plain_transformers(tmp_path, name):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = architectures.save(tmp_path / name, name)
    model = tiny.summarizer(folder)
    news = tiny.batch(model, tiny.NEWS[:3])

    samples, greedy = model.self_critical(news, 2, Sampling(max_length=9))
    for tokens in (samples, greedy):
        torch.testing.assert_close(model(news, tokens.ids).log_prob, tokens.log_prob, atol=1e-4, rtol=0)

    plain = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float32).eval()
    articles = AutoTokenizer.from_pretrained(folder)([source for source, _ in tiny.NEWS[:3]], padding=True,
                                                     return_tensors="pt")  # fmt: skip
    beam = model.generate(news, Decoding("beam", beam=3, max_length=9))
    for ours, options in ((greedy, {"num_beams": 1}), (beam, {"num_beams": 3, "early_stopping": True})):
        found = plain.generate(articles.input_ids, attention_mask=articles.attention_mask, max_new_tokens=9,
                               do_sample=False, **options)  # fmt: skip
        for row, ids in zip(found, ours.ids, strict=True):
            kept = ids[ids != IGNORED].tolist()
            assert row[1 : 1 + len(kept)].tolist() == kept


def test_a_dropout_that_scales_in_evaluation_cannot_be_switched_off(tmp_path):
    folder = str(architectures.save(tmp_path / "nllb", "nllb-moe", moe_token_dropout=0.2))
    with pytest.raises(loading.PretrainedError, match=r"moe_token_dropout=0.2 .* model.dropout=true"):
        loading.load_network(folder, dropout=False)
    assert loading.load_network(folder, dropout=True).config.moe_token_dropout == 0.2
