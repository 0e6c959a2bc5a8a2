from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rewards
from rewards.embedding.rescaling import (
    BaselineFile,
    RescalingBaseline,
    add_baseline,
    measure_baseline,
    random_pairs,
    read_baselines,
)

TEXTS = [f"{first} {verb} ." for first in ("the cat", "a red house", "mayor", "storm") for verb in ("runs", "falls")]
PAIR = (["the cat sleeps"], [["the dog sleeps", "a storm"]])


@pytest.fixture
def published(tmp_path: Path, tiny_encoder: Path) -> Path:
    """A file as bert-score publishes them: comma-separated, one a language and encoder."""
    folder = tmp_path / "en"
    folder.mkdir()
    path = folder / f"{tiny_encoder.name}.tsv"
    path.write_text("LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.35,0.36,0.37\n2,0.51,0.62,0.53\n", encoding="utf-8")
    return path


def scores(encoder: Path, name: str = "bertscore", **options: object) -> np.ndarray:
    return rewards.load(name, encoder=str(encoder), **options)(*PAIR)


@pytest.mark.parametrize(("direction", "b"), [("precision", 0.51), ("recall", 0.62), ("f1", 0.53)])
def test_a_published_baseline_by_layer_and_direction(tiny_encoder, published, direction, b):
    raw = scores(tiny_encoder, direction=direction)
    found = scores(tiny_encoder, direction=direction, rescale=str(published), language="en")
    np.testing.assert_allclose(found, (raw - b) / (1 - b))
    first = scores(tiny_encoder, direction="f1", layer=1, rescale=str(published))
    np.testing.assert_allclose(first, (scores(tiny_encoder, layer=1) - 0.37) / 0.63)


def test_rescaling_equals_bert_score(tiny_encoder: Path, published: Path) -> None:
    oracle = pytest.importorskip("bert_score", reason="the oracle: pip install 'rlsum[dev]'")
    rescale = {"rescale_with_baseline": True, "baseline_path": str(published), "lang": "en"}
    scorer = oracle.BERTScorer(model_type=str(tiny_encoder), num_layers=2, use_fast_tokenizer=True, **rescale)
    # One pair at a time: in a batch with a longer text its padding has a cosine of 0, which may be the best of a token.
    each = [map(float, scorer.score(PAIR[0], [other])) for other in PAIR[1][0]]
    for direction, wanted in zip(("precision", "recall", "f1"), map(max, zip(*each, strict=True)), strict=True):
        found = scores(tiny_encoder, direction=direction, rescale=str(published))
        np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "options", "part"),
    [
        ("twmd", {}, "holds BERTScore's baselines"),
        ("bertscore", {"centering": "dimension"}, "without centering"),
        ("bertscore", {"special_tokens": "none"}, "official special tokens"),
        ("bertscore", {"language": "de"}, "another language.*'de'"),
    ],
)
def test_a_published_baseline_of_something_else(tiny_encoder, published, name, options, part):
    with pytest.raises(rewards.RewardError, match=f"{part}"):
        rewards.load(name, encoder=str(tiny_encoder), rescale=str(published), **options)


def test_a_published_baseline_of_another_encoder_or_layer(tiny_encoder: Path, published: Path) -> None:
    other = published.rename(published.parent / "roberta-large.tsv")
    with pytest.raises(rewards.RewardError, match=r"for the encoder 'roberta-large'.*rlsum baseline"):
        rewards.load("bertscore", encoder=str(tiny_encoder), rescale=str(other))
    other.rename(published)
    with pytest.raises(rewards.RewardError, match=r"no layer 3, only 0, 1, 2; make one.*rlsum baseline"):
        scores(tiny_encoder, layer=3, rescale=str(published))
    with pytest.raises(rewards.RewardError, match="no layer 1-2"):
        scores(tiny_encoder, layer="1-2", rescale=str(published))


@pytest.mark.parametrize("name", ["sbert", "cka", "moverscore", "bertscore", "trwmd", "twmd"])
def test_a_baseline_of_ones_own_for_the_whole_family(tiny_encoder: Path, tmp_path: Path, name: str) -> None:
    reward = rewards.load(name, encoder=str(tiny_encoder))
    found = measure_baseline(reward, TEXTS, pairs=30, seed=3)
    path = tmp_path / "baseline.json"
    add_baseline(path, found)
    pairs = random_pairs(TEXTS, 30, 3)
    assert all(one != other for one, other in pairs)
    for direction, b in found.values.items():
        options = {} if direction == "score" else {"direction": direction}
        plain = rewards.load(name, encoder=str(tiny_encoder), **options)
        mean = plain([one for one, _ in pairs], [[other] for _, other in pairs]).mean()
        assert b == pytest.approx(mean)
        rescaled = rewards.load(name, encoder=str(tiny_encoder), rescale=str(path), **options)
        np.testing.assert_allclose(rescaled(*PAIR), (plain(*PAIR) - b) / (1 - b))
        assert rescaled(["the cat"], [["the cat"]])[0] == pytest.approx(1.0)  # equal texts stay at 1
        assert np.isnan(rescaled(["the cat"], [[""]])[0])
        assert rescaled.signature != plain.signature
        assert f"rescale:{b!r}" in rescaled.signature


def test_a_missing_baseline_is_an_error_that_says_how_to_make_one(tiny_encoder: Path, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    add_baseline(path, measure_baseline(rewards.load("twmd", encoder=str(tiny_encoder)), TEXTS, 10))
    for options in ({"layer": 1}, {"temperature": 0.5}, {"centering": "dimension"}, {"special_tokens": "none"}):
        with pytest.raises(rewards.RewardError, match=r"no baseline for twmd.*rlsum baseline METRIC"):
            scores(tiny_encoder, "twmd", rescale=str(path), **options)
    with pytest.raises(rewards.RewardError, match=r"language=de, only en; make one"):
        scores(tiny_encoder, "twmd", rescale=str(path), language="de")
    with pytest.raises(rewards.RewardError, match="no such file; give a baseline; make one on your own texts"):
        scores(tiny_encoder, "twmd", rescale=str(tmp_path / "none.json"))
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(rewards.RewardError, match="neither bert-score's format"):
        scores(tiny_encoder, "twmd", rescale=str(tmp_path / "other.json"))


def test_languages_are_kept_apart(tiny_encoder: Path, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    reward = rewards.load("sbert", encoder=str(tiny_encoder))
    english = measure_baseline(reward, TEXTS, 10)
    add_baseline(path, english)
    add_baseline(path, RescalingBaseline(**{**english.__dict__, "language": "de", "values": {"score": 0.5}}))
    add_baseline(path, english)  # replaces, does not repeat
    assert [found.language for found in read_baselines(path)] == ["de", "en"]
    with pytest.raises(rewards.RewardError, match="choose one by language="):
        scores(tiny_encoder, "sbert", rescale=str(path))
    german = scores(tiny_encoder, "sbert", rescale=str(path), language="de")
    np.testing.assert_allclose(german, (scores(tiny_encoder, "sbert") - 0.5) / 0.5)


def test_every_file_that_bert_score_publishes_is_read() -> None:
    folder = Path(pytest.importorskip("bert_score").__file__).parent / "rescale_baseline"
    files = sorted(folder.rglob("*.tsv"))
    assert len(files) > 30
    for file in files:
        language = file.relative_to(folder).parts[0]
        for direction in ("precision", "recall", "f1"):
            value = BaselineFile(str(file), language, file.stem).baseline("any", "4", direction)
            assert 0 < value < 1, file


def test_pairs_with_nothing_to_score_are_left_out(tiny_encoder: Path) -> None:
    reward = rewards.load("sbert", encoder=str(tiny_encoder))
    found = measure_baseline(reward, [*TEXTS, "", "\u200b", "\u200d"], 300, seed=1)
    assert 100 < found.pairs < 300
    assert 0 < found.values["score"] < 1  # no floor has crept in


def test_a_baseline_of_one_or_more_makes_no_sense(tiny_encoder: Path, tmp_path: Path) -> None:
    reward = rewards.load("sbert", encoder=str(tiny_encoder))
    wrong = RescalingBaseline(**{**measure_baseline(reward, TEXTS, 10).__dict__, "values": {"score": 1.0}})
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"baselines": [wrong.__dict__]}))
    with pytest.raises(rewards.RewardError, match="must be below 1"):
        scores(tiny_encoder, "sbert", rescale=str(path))


def test_what_has_no_baseline(tiny_encoder: Path) -> None:
    with pytest.raises(rewards.RewardError, match="rouge-l has no baseline"):
        measure_baseline(rewards.load("rouge-l"), TEXTS, 10)
    with pytest.raises(rewards.RewardError, match=r"give idf=FILE"):
        measure_baseline(rewards.load("bertscore", encoder=str(tiny_encoder), idf="references"), TEXTS, 10)
    with pytest.raises(rewards.RewardError, match="two different texts"):
        measure_baseline(rewards.load("sbert", encoder=str(tiny_encoder)), ["cat", "cat", ""], 10)
