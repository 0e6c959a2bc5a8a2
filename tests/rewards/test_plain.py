from __future__ import annotations

import importlib
import linecache
import pickle
import subprocess
import sys

import numpy as np
import pytest

import rewards

TEXTS, SOURCES = ["the cat", ""], ["the cat runs", "a dog"]


WRAPPED = pytest.mark.parametrize(
    "spec", ["{}", "cached(reward={})", "weighted({}=1)", "limited(reward={}, seconds=300)"]
)


@WRAPPED
def test_a_function_that_reads_sources_says_why_one_is_undefined(spec: str) -> None:
    reward = rewards.from_spec(spec.format("source_rewards:copied"))
    np.testing.assert_equal(reward(TEXTS, None, SOURCES), [1, np.nan])
    assert "returned NaN" in str(reward.undefined("", None, "a dog"))
    assert reward.undefined("the cat", None, "the cat runs") is None


@WRAPPED
def test_a_function_reads_the_columns_that_its_parameters_name(spec: str) -> None:
    reward = rewards.from_spec(spec.format("source_rewards:on_topic"))
    assert reward.columns == ["topic"]
    columns = {"topic": ["cat", "cat"], "year": [1999, 2000]}
    for _ in range(2):  # the second from the cache
        np.testing.assert_equal(reward(TEXTS, None, SOURCES, columns), [0.5, np.nan])
        np.testing.assert_equal(reward(TEXTS, columns={"topic": ["dog", "cat"]}), [0, np.nan])
    assert "returned NaN" in str(reward.undefined("", columns={"topic": "cat"}))
    assert reward.undefined("a", columns={"topic": "cat"}) is None
    assert pickle.loads(pickle.dumps(reward)).columns == ["topic"]


def test_a_column_with_a_default_may_be_missing() -> None:
    reward = rewards.load("source_rewards:on_any_topic")
    assert (reward.columns, reward.optional_columns) == ([], ["topic"])
    np.testing.assert_array_equal(reward(["cat"]), [1])
    np.testing.assert_array_equal(reward(["cat"], columns={"topic": ["dog"]}), [0])


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        (None, ["source_rewards:on_topic", "'topic'", "no columns"]),
        ({"year": [1]}, ["'topic'", "'year'"]),
        ({"topic": ["a", "b"]}, ["'topic'", "1 candidates", "2"]),
    ],
)
def test_columns_that_are_missing_or_too_long_are_errors(columns: dict, parts: list[str]) -> None:
    with pytest.raises(rewards.RewardError) as caught:
        rewards.load("source_rewards:on_topic")(["a"], columns=columns)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


@pytest.mark.parametrize(
    "function",
    [
        lambda candidates: [7.0],
        lambda candidates, sources: [7.0 if sources == ["s"] else 0],
        lambda candidates, _references, _sources: [7.0 if _references == [["r"]] and _sources == ["s"] else 0],
        lambda candidates, /, references, *, sources, **_: [7.0 if (references, sources) == ([["r"]], ["s"]) else 0],
        lambda candidates, *texts: [7.0 if texts == ([["r"]], ["s"]) else 0],
        lambda candidates, references=None, sources=None, weight=7.0: [weight],
    ],
)
def test_a_function_gets_what_it_names(function: object) -> None:
    assert rewards.Plain("it", function)(["c"], [["r"]], ["s"])[0] == 7  # type: ignore[arg-type]


def test_a_function_names_its_columns_one_by_one() -> None:
    with pytest.raises(rewards.RewardError, match="names each column"):
        rewards.Plain("it", lambda candidates, references, sources, columns: [1.0])


@pytest.mark.parametrize(
    ("function", "parts"),
    [
        (lambda candidates, refs=None, srcs=None: [1.0], ["'refs'", "'references'"]),
        (lambda candidates, references, source: [1.0], ["'source'", "'sources'"]),
        (lambda candidates, topic=None, *more: [1.0], ["*args"]),
    ],
)
def test_parameters_that_would_be_columns_by_mistake_are_errors(function: object, parts: list[str]) -> None:
    with pytest.raises(rewards.RewardError) as error:
        rewards.Plain("it", function)  # type: ignore[arg-type]
    assert all(part in str(error.value) for part in parts)


def test_a_reason_under_a_time_limit_is_remembered_without_the_source() -> None:
    limited = rewards.from_spec("limited(reward=source_rewards:copied, seconds=300)")
    assert np.isnan(limited([""], [["a"]], ["a dog"])[0])
    assert "NaN" in str(limited.undefined("", ["a"]))
    limited.close()  # type: ignore[attr-defined]


class WithoutColumns:
    """A reward whose call takes no columns."""

    name, signature = "without columns", "without columns|version:1"

    def __call__(self, candidates, references=None, sources=None):
        return np.zeros(len(candidates))

    def undefined(self, candidate, references=None):
        return None


class Lacking(WithoutColumns):
    def __call__(self, candidates, references=None, sources=None, columns=None):
        return np.zeros(len(candidates))


@pytest.mark.parametrize("name", ["WithoutColumns", "Lacking"])
def test_a_reward_names_its_columns(name: str) -> None:
    with pytest.raises(rewards.RewardError, match="needs the attributes columns"):
        rewards.load(f"{__name__}:{name}")


HELPED = """import numpy as np
import words_of_mine
from lists_of_mine import RARE
from words_of_mine import count

STOP = {"the"}


def counted(candidates):
    return [float(count(text)) for text in candidates]


def named(candidates):
    return [float(words_of_mine.count(text)) for text in candidates]


def kept(candidates):
    return [float(sum(word not in STOP for word in text.split())) for text in candidates]


def rare(candidates):
    return [float(sum(word in RARE for word in text.split())) for text in candidates]


def alone(candidates):
    return np.array([float(len(text)) for text in candidates])
"""


@pytest.mark.parametrize(
    ("name", "changed", "differs"),
    [
        ("counted", {"words_of_mine": "def count(text):\n    return -len(text)\n"}, True),
        ("named", {"words_of_mine": "def count(text):\n    return -len(text)\n"}, True),
        ("kept", {"of_mine": HELPED.replace('"the"', '"a"')}, True),
        ("rare", {"lists_of_mine": "RARE = {'dogs'}"}, True),
        ("alone", {"of_mine": HELPED.replace('"the"', '"a"')}, False),
        ("alone", {"words_of_mine": "def count(text):\n    return -len(text)\n"}, False),
        ("counted", {}, False),
    ],
)
def test_a_signature_changes_with_what_the_function_calls_and_reads(tmp_path, monkeypatch, name, changed, differs):
    """Cached scores are found by it: those of a helper that was corrected must not come back."""
    monkeypatch.syspath_prepend(tmp_path)
    texts = {
        "of_mine": HELPED,
        "words_of_mine": "def count(text):\n    return len(text)\n",
        "lists_of_mine": "RARE = {'cat'}",
    }

    def signature() -> str:
        linecache.clearcache()
        for module in texts:
            monkeypatch.delitem(sys.modules, module, raising=False)
        importlib.invalidate_caches()
        return rewards.Plain(f"of_mine:{name}", getattr(importlib.import_module("of_mine"), name)).signature

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for module, text in texts.items():
        (tmp_path / f"{module}.py").write_text(text)
    before = signature()
    for module, text in changed.items():
        (tmp_path / f"{module}.py").write_text(text)
    assert (signature() != before) is differs
    assert ("|reads:" in before) is (name != "alone")


HOLDING = """import functools
import os
import numpy as np

SIGN = float(os.environ["SIGN_OF_MINE"])


class Counting:
    def __init__(self, sign):
        self.sign = np.array([sign])

    def count(self, candidates):
        return [self.sign[0] * len(text) for text in candidates]

    def __call__(self, candidates):
        return self.count(candidates)


def times(candidates, sign):
    return [sign * len(text) for text in candidates]


def made(sign):
    def inner(candidates):
        return times(candidates, sign)

    return inner


def default(candidates, sign=SIGN):
    return times(candidates, sign)


def keyword(candidates, *, sign=SIGN):
    return times(candidates, sign)


def constant(candidates):
    return times(candidates, SIGN)


def unrelated(candidates, references=None):
    return [float(len(text)) for text in candidates]


around = made(SIGN)
method = Counting(SIGN).count
called = Counting(SIGN)
partly = functools.partial(times, sign=SIGN)
"""


@pytest.mark.parametrize(
    "name", ["default", "keyword", "constant", "around", "method", "called", "partly", "unrelated"]
)
def test_a_signature_changes_with_what_the_function_holds(tmp_path, monkeypatch, name):
    """The text of all is the same; cached scores of another value must not come back."""
    (tmp_path / "holding_of_mine.py").write_text(HOLDING)
    monkeypatch.syspath_prepend(tmp_path)

    def scored(sign: str) -> tuple[str, float]:
        monkeypatch.setenv("SIGN_OF_MINE", sign)
        monkeypatch.delitem(sys.modules, "holding_of_mine", raising=False)
        reward = rewards.from_spec(f"holding_of_mine:{name}")
        return reward.signature, reward(["ash"])[0]

    (first, score), again, (other, changed) = scored("1"), scored("1"), scored("-1")
    assert again == (first, score)
    assert (first != other) == (score != changed)
    assert (score == changed) == (name == "unrelated")
    assert "|state:" not in first or name != "unrelated"


@pytest.mark.parametrize(
    "edited",
    ["return [-1.0 * len(text) for text in candidates]", "return [1.0 + len(text) for text in candidates]", "if"],
)
def test_a_function_whose_file_was_edited_since_it_was_imported_has_no_signature(tmp_path, monkeypatch, edited):
    """The old code would score under the new text's hash; a notebook keeps what it imported."""
    text = "def other(text):\n    return 0\n\n\ndef metric(candidates):\n    {}\n"
    file = tmp_path / "edited_of_mine.py"
    monkeypatch.delitem(sys.modules, "edited_of_mine", raising=False)
    file.write_text(text.format("return [1.0 * len(text) for text in candidates]"))
    monkeypatch.syspath_prepend(tmp_path)
    assert rewards.from_spec("edited_of_mine:metric").signature
    file.write_text(f"{text.format('return [1.0 * len(text) for text in candidates]')}\n\nELSE = 1\n")
    assert rewards.from_spec("edited_of_mine:metric").signature, "what else is in the file does not matter"
    file.write_text(text.format(edited))
    reward = rewards.from_spec("edited_of_mine:metric")
    with pytest.raises(rewards.RewardError, match="was edited since it was imported; start Python anew"):
        reward.signature  # noqa: B018


def test_a_function_of_a_prompt_has_the_signature_of_what_it_reads_there():
    """A notebook's cells are no file: a weight, a helper and an object of another cell count."""
    cells = [
        "import rewards",
        "class Kept:\n    weight = 1\nkept = Kept()\ndef helper(text): return len(text)",
        "def metric(candidates): return [kept.weight * WEIGHT * helper(text) for text in candidates]",
        "print(rewards.Plain('it', metric).signature)",
    ]
    changes = ["WEIGHT = 1", "WEIGHT = 2", "WEIGHT = 1; kept.weight = 3", "WEIGHT = 1\ndef helper(text): return -1"]
    seen = []
    for change in [*changes, changes[0]]:
        typed = "\n\n".join([*cells[:2], change, *cells[2:]])
        done = subprocess.run([sys.executable, "-"], input=typed, capture_output=True, text=True, check=True)
        seen.append(done.stdout)
    assert seen[0] == seen[-1]
    assert len({*seen}) == len(changes), seen


def test_a_helper_that_is_being_edited_does_not_end_scoring(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "edited_helper.py").write_text("def count(text):\n    return len(text)\n")
    (tmp_path / "edited_metric.py").write_text(
        "import edited_helper\n"
        "def counted(candidates):\n    return [edited_helper.count(text) for text in candidates]\n"
    )
    reward = rewards.Plain("edited_metric:counted", importlib.import_module("edited_metric").counted)
    (tmp_path / "edited_helper.py").write_text("def count(text:\n")
    assert "|reads:" in reward.signature
    assert reward(["abc"]).tolist() == [3]
