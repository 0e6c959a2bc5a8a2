from __future__ import annotations

import gzip
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import jsonl

import rewards
from rewards.lexical.examples import ScoredTexts
from rewards.lexical.neighbors import estimate

FIGURE = [("The dog was quick.", 0.8), ("It is the fox.", 0.6), ("Dogs are lazy.", 0.1)]
KERNELS = (
    *("bleu-star", "bleu-star(zero_order=zero)", "bleu-star(clip=true)", "rouge-1", "rouge-2", "rouge-3", "rouge-lsum"),
    *("rouge-2(direction=precision)", "rouge-l(direction=recall, stemmer=false)"),
    *("meteor", "meteor(stages=exact)", "meteor(alpha=0.5, gamma=0)"),
)

texts = st.lists(st.sampled_from(["the", "fox", "foxes", "is", "quick", "quickly", "dog", "42", "."]), max_size=9).map(
    " ".join
)
examples = st.lists(st.tuples(texts, st.floats(0, 1)), min_size=1, max_size=8)


def brute(
    candidate: str, pairs: list[tuple[str, float]], kernel: rewards.Reward, tau: float, a: int, b: float
) -> float:
    """Pair by pair, as the paper says it."""
    near = [score for text, score in pairs if kernel([candidate], [[text]])[0] >= tau]
    return float(np.mean(near)) if a <= len(near) <= b * len(pairs) else math.nan


@pytest.mark.parametrize("kernel", KERNELS)
@settings(deadline=None, max_examples=30)
@given(examples, st.lists(texts, min_size=1, max_size=3), st.sampled_from([0.06, 0.4, 1.0]), st.integers(1, 3))
def test_equals_brute_force(kernel, pairs, candidates, tau, a):
    """Though only the examples that share enough words or n-grams are scored."""
    reward = rewards.load("bleu-neighbors", examples=pairs, kernel=kernel, tau=tau, a=a, b=0.75)
    scores = reward(candidates)
    for candidate, score in zip(candidates, scores, strict=True):
        if candidate.strip():
            expected = brute(candidate, pairs, reward.kernel, tau, a, 0.75)  # type: ignore[attr-defined]
            assert score == pytest.approx(expected, nan_ok=True, abs=1e-12)
            assert (reward.undefined(candidate) is not None) == np.isnan(score)


def test_figure_1_of_the_paper() -> None:
    fox = rewards.load("bleu-neighbors", examples=FIGURE, a=1, b=1)
    assert fox(["The fox is quick"])[0] == pytest.approx((0.8 + 0.6) / 2)
    printed = rewards.load("bleu-neighbors", examples=FIGURE, a=1, b=1, zero_order="zero")
    assert np.isnan(printed(["The fox is quick"])[0])


def test_too_few_and_too_many_neighbours() -> None:
    pairs = [("the fox ran", 0.1)] * 4 + [("the dog sat", 0.9)] * 6
    few = rewards.load("bleu-neighbors", examples=pairs, a=5)
    assert few(["a fox", "a dog", "the cat"]) == pytest.approx([math.nan, 0.9, math.nan], nan_ok=True)
    assert few.undefined("a fox") == "it has 4 neighbours at tau=0.08, fewer than a=5"
    assert few.undefined("the cat") == "it has 10 neighbours at tau=0.08, more than b=0.66 of 10 examples"
    assert few.undefined("a dog") is None
    assert few.coverage(["a fox", "a dog", "the cat"]) == pytest.approx(1 / 3)  # type: ignore[attr-defined]
    assert np.isnan(few.coverage([]))  # type: ignore[attr-defined]


def test_the_bounds_belong_to_it() -> None:
    scores = np.arange(100) / 100
    near = np.arange(100) < 29
    assert estimate(near, scores, 100, a=29, b=0.29) == pytest.approx(0.14)  # .29 * 100 is 28.999 in floating point
    assert np.isnan(estimate(near, scores, 100, a=30, b=1.0))
    assert np.isnan(estimate(near, scores, 100, a=1, b=0.28))


def test_a_threshold_that_is_met_exactly_counts() -> None:
    text = "one two three four"
    assert rewards.load("bleu-neighbors", examples=[(text, 0.5)], tau=1, a=1, b=1)([text])[0] == 0.5


def test_leaving_one_out_leaves_out_every_copy_of_the_text() -> None:
    pairs = [("the fox ran", 0.0), ("the fox ran", 0.2), ("the fox sat", 0.6), ("a dog", 1.0)]
    options = {"examples": pairs, "a": 1, "b": 1}
    assert rewards.load("bleu-neighbors", **options)(["the fox ran"])[0] == pytest.approx(0.8 / 3)
    out = rewards.load("bleu-neighbors", **options, leave_one_out=True)
    assert out(["the fox ran", "the fox"]) == pytest.approx([0.6, 0.8 / 3])
    half = rewards.load("bleu-neighbors", examples=pairs, a=1, b=0.5, leave_one_out=True)
    assert half(["the fox ran"])[0] == 0.6  # one of two that are left
    assert np.isnan(half(["a fox sat"])[0])


def test_a_subsample_is_drawn_once_by_its_seed() -> None:
    pairs = [(f"word{place} fox", float(place)) for place in range(50)]
    load = {seed: rewards.load("bleu-neighbors", examples=pairs, subsample=10, seed=seed, a=1, b=1) for seed in (0, 1)}
    again = rewards.load("bleu-neighbors", examples=pairs, subsample=10, seed=0, a=1, b=1)
    assert load[0](["fox"])[0] == again(["fox"])[0] != load[1](["fox"])[0]
    assert load[0].signature == again.signature != load[1].signature
    drawn = load[0].examples  # type: ignore[attr-defined]
    assert len(set(drawn.texts)) == 10
    assert set(zip(drawn.texts, drawn.scores, strict=True)) <= set(pairs)


def test_any_reward_is_a_kernel(vectors_file: Path, tiny_encoder: Path) -> None:
    pairs = [("the cat runs", 0.2), ("the dog sleeps", 0.4), ("", 1.0)]
    for kernel in (f"wms(vectors={vectors_file})", f"twmd(encoder={tiny_encoder}, layer=2)", "bleu"):
        reward = rewards.load("bleu-neighbors", examples=pairs, kernel=kernel, tau=0.99, a=1, b=1)
        assert reward(["the cat runs"])[0] == pytest.approx(0.2)
        assert reward.kernel.signature in reward.signature  # type: ignore[attr-defined]
    ready = rewards.load("rouge-l")
    assert rewards.load("bleu-neighbors", examples=pairs, kernel=ready, a=1, b=1)(["cats"])[0] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("kernel", "tau"), [("bleu-star", 0.08), ("rouge-l", 0.06), ("rouge-1(stemmer=false)", 0.06), ("meteor", 0.18)]
)
def test_each_kernel_has_the_threshold_of_the_paper(kernel: str, tau: float) -> None:
    assert rewards.load("bleu-neighbors", examples=FIGURE, kernel=kernel).tau == tau  # type: ignore[attr-defined]


def test_a_file_of_examples(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "judged.jsonl", *({"text": text, "score": score, "id": 3} for text, score in FIGURE))
    packed = tmp_path / "judged.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    spec = "bleu-neighbors(examples={}, kernel=rouge-l(stemmer=false))"
    written = [rewards.from_spec(spec.format(source)) for source in (path, packed)]
    listed = rewards.load("bleu-neighbors", examples=FIGURE, kernel={"name": "rouge-l", "stemmer": False})
    assert written[0].signature == written[1].signature == listed.signature
    path.unlink()  # read when the reward was made
    assert pickle.loads(pickle.dumps(written[0])).signature == listed.signature


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ('{"text": "a"}', "no 'text' and 'score'"),
        ('["a", 1]', "no 'text' and 'score'"),
        ("{", "not JSON"),
        ('{"text": 1, "score": 1}', "(text, score)"),
        ('{"text": "a", "score": "1"}', "'1' is not a finite number"),
        ('{"text": "a", "score": NaN}', "nan is not a finite number"),
        (f'{{"text": "a", "score": 1{"0" * 400}}}', "is not a finite number"),
        ('{"text": "a", "score": true}', "True is not a finite number"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, part: str) -> None:
    path = tmp_path / "judged.jsonl"
    path.write_text('{"text": "a", "score": 1}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(rewards.RewardError) as caught:
        ScoredTexts.read(path)
    assert f"{path}, line 2" in str(caught.value)
    assert part in str(caught.value)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"examples": "nowhere.jsonl"}, ["nowhere.jsonl", "no such file"]),
        ({"examples": []}, ["empty"]),
        ({"examples": ["ab"]}, ["example 0", "(text, score)"]),
        ({"examples": [("a", math.inf)]}, ["inf"]),
        ({"kernel": "wms(vectors=v.txt)"}, ["kernel=wms", "tau="]),
        ({"kernel": "rouge-q"}, ["did you mean"]),
        ({"kernel": "rouge-l", "zero_order": "stop"}, ["zero_order=stop", "rouge-l"]),
        ({"kernel": "bleu-star(zero_order=zero)", "zero_order": "stop"}, ["twice"]),
        ({"tau": 0}, ["tau=0", "must be > 0"]),
        ({"a": 0}, ["a=0"]),
        ({"b": 1.5}, ["b=1.5"]),
        ({"subsample": 4}, ["subsample=4", "3 examples"]),
        ({"subsample": 0}, ["subsample=0"]),
        ({"seed": -1}, ["seed=-1"]),
    ],
)
def test_wrong_options(options: dict, parts: list[str]) -> None:
    with pytest.raises(rewards.RewardError) as caught:
        rewards.load("bleu-neighbors", **{"examples": FIGURE, **options})
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_bertscore_needs_its_rescaling_or_a_threshold() -> None:
    from rewards.lexical.neighbors import _threshold

    with pytest.raises(rewards.RewardError, match=r"rescaled.*tau="):
        _threshold("bertscore")
    assert _threshold({"name": "bertscore", "rescale": "published"}) == 0.10


def test_checking_reads_no_file() -> None:
    rewards.check_spec("bleu-neighbors(examples=not-made-yet.jsonl, kernel=rouge-l(stemmer=false), b=1)")
    with pytest.raises(rewards.RewardError, match="kernel=sms"):
        rewards.check_spec("bleu-neighbors(examples=not-made-yet.jsonl, kernel=sms(vectors=v.txt))")


def test_thousands_by_thousands_in_seconds() -> None:
    """Brute force takes about 25 microseconds a pair: two minutes."""
    import time

    rng = np.random.default_rng(0)
    ranks = np.arange(1, 5001)
    vocabulary = np.array([f"w{rank}" for rank in ranks])
    drawn = rng.choice(vocabulary, (4000, 40), p=(1 / ranks) / (1 / ranks).sum())
    written = [" ".join(row) for row in drawn]
    pairs = [(text, float(place % 7)) for place, text in enumerate(written[:2500])]
    reward = rewards.load("bleu-neighbors", examples=pairs, b=1)
    start = time.process_time()
    scores = reward(written[2500:])
    assert time.process_time() - start < 20
    assert np.isfinite(scores).mean() > 0.9
