"""What every registered reward must hold, also one that is added later: without a case of its own it fails here."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas
import pytest
from hard_texts import HARD
from hypothesis import given, settings
from hypothesis import strategies as st
from reward_cases import CASES, OWN, Case, Files, case, files

import rewards
from rewards.base import TABLE, resolve

ROOT = Path(__file__).resolve().parents[2]
PLAIN = "the cat runs to the river . the mayor sleeps ."
CANDIDATES = [PLAIN, "the dog sleeps", "", "🐈", "the cat", "x"]
LONG = 1000  # characters
SHORT = [text for text in HARD.values() if len(text) < LONG]
DEAR = {*OWN, "learned", "likelihood", "entailment", "reward-model"}  # by the square of a text's length
REFERENCES = [[PLAIN, "x"], ["the dog falls"], ["cat"], ["🐈"], ["the storm", "", "the cat runs"], []]
# The same rewards with other options: their texts take other ways through the code.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"rouge-{kind}, words": (f"rouge-{kind}", {"stemmer": False}) for kind in ("1", "2", "3", "l")},
    "rouge-l, unicode": ("rouge-l", {"tokenizer": "unicode"}),
    "rouge-lsum, lines": ("rouge-lsum", {"split": "lines"}),
    "rouge-lsum, unicode": ("rouge-lsum", {"tokenizer": "unicode"}),
    **{f"bleu, {kind}": ("bleu", {"tokenize": kind}) for kind in ("13a", "intl", "zh", "char", "none")},
    **{f"bleu, {s}": ("bleu", {"smooth_method": s, "effective_order": False}) for s in ("floor", "add-k", "none")},
    "bleu-star, clip": ("bleu-star", {"clip": True}),
    "bleu-star, stop": ("bleu-star", {"zero_order": "stop"}),
    "bleu-star, stop, clip": ("bleu-star", {"zero_order": "stop", "clip": True}),
    "bleu-star, spacy": ("bleu-star", {"tokenizer": "spacy"}),
    "meteor, spacy": ("meteor", {"tokenizer": "spacy"}),
    "meteor, exact": ("meteor", {"stages": "exact"}),
    **{
        f"bleu-neighbors, {kernel}": ("bleu-neighbors", {"kernel": kernel, "tau": 0.08, "a": 1, "b": 1})
        for kernel in ("bleu-star", "bleu-star(zero_order=zero, clip=true)", "rouge-lsum", "meteor", "bleu")
    },
    **{f"{name}, unit": (name, {"normalize": "unit"}) for name in ("wms", "sms", "s+wms")},
    **{f"{name}, on an encoder": (name, {"vectors": None}) for name in ("wms", "sms", "s+wms")},
    "sms, whole text": ("sms", {"vectors": None, "split": "spacy"}),
}
JUDGED = [(PLAIN, 0.7), ("the dog falls .", 0.3), *((text, 0.5) for text in SHORT)]
LABELS = [*TABLE, *VARIANTS]


class Known(NamedTuple):
    """A reward, the name it is registered by, and its case."""

    name: str
    reward: rewards.Reward
    case: Case


@pytest.fixture(scope="module")
def made(vectors_file: Path, tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Files:
    return files(vectors_file, tiny_encoder, tmp_path_factory.mktemp("cases"))


@pytest.fixture(scope="module")
def every(made: Files) -> dict[str, Known]:
    """By name: each registered reward with its case, and the variants."""
    known = {name: case(name, made) for name in TABLE}
    built = {name: Known(name, rewards.load(name, **one.needed), one) for name, one in known.items()}
    for label, (name, options) in VARIANTS.items():
        one, needed = known[name], {**known[name].needed, **options}
        if options.get("vectors", "") is None:
            needed["encoder"] = made.encoder
        if name == "bleu-neighbors":
            one, needed["examples"] = replace(one, low=0.3, high=0.7), JUDGED
        built[label] = Known(name, rewards.load(name, **needed), replace(one, needed=needed))
    return built


@pytest.fixture(params=LABELS)
def one(request: pytest.FixtureRequest, every: dict[str, Known]) -> Known:
    return every[request.param]


def check(one: Known, candidates: list[str], references: list[list[str]]) -> np.ndarray:
    """Numbers in range, and a reason for each that is not there."""
    _, reward, known = one
    scores = reward(candidates, references)
    defined = scores[~np.isnan(scores)]
    assert scores.dtype == np.float64
    assert ((defined >= known.low) & (defined <= known.high + 1e-9)).all(), candidates[0][:30]
    for candidate, listed, score in zip(candidates, references, scores, strict=True):
        reason = reward.undefined(candidate, listed)
        assert (reason is not None) == np.isnan(score), (candidate[:30], reason)
        assert reason is None or (reason and "\n" not in reason)
    return scores


def test_any_text_gets_a_number_in_range_or_a_reason(one: Known) -> None:
    for text in SHORT:
        check(one, [text, PLAIN, text, text], [[PLAIN], [text], [text], [PLAIN, text]])


def test_equal_texts_of_any_length_are_in_range(one: Known) -> None:
    texts = [" ".join(PLAIN.split() * 3)[:length] for length in range(5, 60, 4)]
    check(one, texts, [[text] for text in texts])


@pytest.mark.parametrize("label", [pytest.param(label, marks=[pytest.mark.slow] * (label in DEAR)) for label in LABELS])
def test_so_does_one_of_ten_thousand_words(label: str, every: dict[str, Known]) -> None:
    for text in HARD.values():
        if len(text) >= LONG:
            check(every[label], [text, PLAIN], [[PLAIN], [text]])


usual = st.lists(
    st.sampled_from(["the", "cat", "dog", "Mayor", "river", "storm", ".", "!", "3", "\n", "unseen"]), max_size=12
).map(" ".join)
anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=20) | st.text("aB. \ud800\n\x00的ب🐈")
texts = st.one_of(usual, usual, anything)
rows = st.lists(st.tuples(texts, st.lists(texts, max_size=2)), min_size=1, max_size=5)


@pytest.mark.parametrize("label", LABELS)
@settings(deadline=None, max_examples=20)
@given(rows=rows, random=st.randoms())
def test_a_score_depends_on_its_own_texts_alone(every: dict[str, Known], label: str, rows: list, random: Any) -> None:
    """Neither order nor neighbours matter, whatever the texts."""
    reward = every[label].reward
    candidates, references = [text for text, _ in rows], [listed for _, listed in rows]
    scores = check(every[label], candidates, references)
    order = list(range(len(rows)))
    random.shuffle(order)
    moved = reward([candidates[place] for place in order], [references[place] for place in order])
    np.testing.assert_allclose(moved, scores[order], atol=1e-5)
    alone = np.concatenate([reward([text], [listed]) for text, listed in rows])
    np.testing.assert_allclose(alone, scores, atol=1e-5)


@pytest.mark.parametrize("label", LABELS)
def test_no_text_resembles_another_more_than_itself(every: dict[str, Known], label: str) -> None:
    """BLEU without effective order gives short texts 0, and tempered similarities are not bounded by 1."""
    _, reward, known = every[label]
    if not known.similarity or "eff:no" in reward.signature:
        pytest.skip("it measures no similarity of texts of any length")
    for reference in [PLAIN, "the dog sleeps", *SHORT]:
        same = reward([reference], [[reference]])[0]
        assert np.isnan(same) or label.startswith("meteor") or same == pytest.approx(1.0, abs=1e-9)
        if not np.isnan(same) and label not in ("trwmd", "twmd"):
            assert np.nanmax(reward(SHORT, [[reference]] * len(SHORT))) <= same + 1e-9


def test_an_empty_candidate_gets_the_lowest_score(one: Known) -> None:
    _, reward, known = one
    np.testing.assert_array_equal(reward(["", " \n "], [[PLAIN]] * 2), [known.low] * 2)
    assert reward([], []).shape == (0,)


@pytest.mark.parametrize("name", [name for name in TABLE if name not in ("bleu", "bleu-neighbors", "limited")])
def test_the_best_of_several_references_counts(name: str, every: dict[str, Known]) -> None:
    """``bleu`` counts them together, and ``bleu-neighbors`` reads none."""
    reward, listed = every[name].reward, ["the dog sleeps .", "a storm", "the cat runs home at night ."]
    separate = reward(["the cat runs home"] * 3, [[text] for text in listed])
    together = reward(["the cat runs home"], [[*listed, ""]])[0]
    assert together == pytest.approx(np.nanmax(separate), abs=1e-6)


def test_it_travels_to_another_process_before_and_after_use(one: Known) -> None:
    reward, fresh = one.reward, rewards.load(one.name, **one.case.needed)
    candidates, references = copy.deepcopy((CANDIDATES, REFERENCES))
    expected = reward(candidates, references)
    assert (candidates, references) == (CANDIDATES, REFERENCES), "a reward changes its inputs"
    for travelled in (pickle.loads(pickle.dumps(fresh)), pickle.loads(pickle.dumps(reward))):
        np.testing.assert_array_equal(travelled(candidates, references), expected)
        assert travelled.signature == reward.signature


def test_columns_of_pandas_are_read_by_place(one: Known) -> None:
    """Rows of a frame that was filtered or shuffled keep their index."""
    index = range(len(CANDIDATES), 0, -1)
    columns = [pandas.Series(texts, index) for texts in (CANDIDATES, map(np.array, REFERENCES))]
    np.testing.assert_array_equal(one.reward(*columns), one.reward(CANDIDATES, REFERENCES))
    assert one.reward.undefined("", np.array(["", " "])) == one.reward.undefined("", ["", " "])


def test_wrong_calls_are_errors(one: Known) -> None:
    _, reward, known = one
    calls: list = [(PLAIN, [[PLAIN]]), ([None], [[PLAIN]])]
    if known.compares:
        calls += [([PLAIN], [[PLAIN], [PLAIN]]), ([PLAIN], [PLAIN]), ([PLAIN], [[None]]), ([PLAIN], [None])]
    series = pandas.Series([PLAIN, PLAIN])
    calls += [({PLAIN: PLAIN}, [[PLAIN]]), ({PLAIN}, [[PLAIN]]), (series.to_frame(), [[PLAIN], [PLAIN]])]
    calls += [(series, pandas.Series([[PLAIN], [PLAIN]], [1, 0]))]
    if known.compares:
        calls += [([PLAIN], [{PLAIN: PLAIN}])]
    for candidates, references in calls:
        with pytest.raises(rewards.RewardError):
            reward(candidates, references)
    assert len(reward(iter([PLAIN]), iter([[PLAIN]]))) == 1


@pytest.mark.parametrize("name", TABLE)
def test_the_signature_follows_every_option_that_changes_a_score(name: str, made: Files) -> None:
    known = case(name, made)
    options = set(inspect.signature(resolve(name)).parameters)
    assert options == {*known.others, *known.same}, "an option without a case"
    for option, value in {**known.others, **known.same}.items():
        before = {**known.needed, **known.beside.get(option, {})}
        first, again, second = (rewards.load(name, **given) for given in (before, before, {**before, option: value}))
        assert first.signature == again.signature
        assert (first.signature == second.signature) == (option in known.same), option
        assert first.signature.startswith("rouge-l" if name == "cached" else first.name)
        assert first.signature.endswith("|version:2")
        assert "\n" not in first.signature


def test_a_reward_has_all_that_belongs_to_it() -> None:
    """The row of docs/architecture.md: a case, tests in the folder of its room."""
    assert set(CASES) == set(TABLE)
    for name, location in TABLE.items():
        room = ROOT / "tests" / "rewards" / location.split(".")[1]
        tests = "".join(path.read_text(encoding="utf-8") for path in room.glob("test_*.py"))
        assert f'"{name}' in tests, f"{name}: no test in {room}"
