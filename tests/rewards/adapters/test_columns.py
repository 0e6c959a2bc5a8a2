from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rewards
from rewards.adapters.columns import scored

ROOT = Path(__file__).resolve().parents[3]
ROWS = {"candidate": ["the cat sleeps", "", "a dog"], "references": [["the cat", "sleeps"], ["a dog"], [""]]}


def test_a_dataset_gains_a_column() -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict(ROWS).map(scored("rouge-1"), batched=True, batch_size=2)
    assert dataset["rouge-1"][:] == [0.8, 0.0, None]
    assert dataset.column_names == ["candidate", "references", "rouge-1"]


def test_columns_of_other_names_with_one_reference_a_row() -> None:
    reward = rewards.load("rouge-1", direction="recall")
    columns = {"summary": ["the cat"], "highlights": ["the cat sleeps"], "article": ["x"]}
    function = scored(reward, "summary", "highlights", "article", name="recall")
    assert function(columns) == {"recall": [pytest.approx(2 / 3)]}
    assert function.reward.signature == reward.signature
    assert scored("repetition", "summary", None)(columns) == {"repetition": [1.0]}


@pytest.mark.parametrize(
    ("columns", "options", "score"),
    [
        ({"references": [["a dog", "the cat"]]}, {}, 1.0),
        ({"references": ["['a dog', 'the cat']"]}, {}, 1.0),
        ({"reference": ["a dog"], "reference2": ["the cat"], "reference3": [None]}, {"references": "reference"}, 1.0),
        ({"abstract": [["the", "cat"]]}, {"references": "abstract", "reference_lists": "sentences"}, 1.0),
        ({"abstract": [["the", "cat"]]}, {"references": "abstract", "reference_lists": "alternatives"}, 2 / 3),
    ],
)
def test_lists_and_numbered_columns_are_references_as_is_said(columns, options, score) -> None:
    given = {"candidate": ["the cat"], **columns}
    assert scored("rouge-1", **options)(given) == {"rouge-1": [pytest.approx(score)]}


def test_a_list_of_which_nothing_says_what_it_is_is_asked_for() -> None:
    with pytest.raises(rewards.RewardError, match=r"row 0: abstract: a list of 2 texts.*reference_lists in Python"):
        scored("rouge-1", references="abstract")({"candidate": ["the cat"], "abstract": [["the", "cat"]]})


def test_stripped_texts_are_scored_under_the_same_name() -> None:
    columns = {"candidate": ["<think>a dog</think>the cat"], "references": [["<p>the cat</p>"]]}
    function = scored("rouge-1", strip=True)
    assert function(columns) == {"rouge-1": [1.0]}
    assert function.reward.signature.startswith("cleaned|")


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"references": [["a"], None]}, "row 1 of the column 'references' has the reference None"),
        ({"references": ["a", ["b", None]]}, "row 1 of the column 'references' has the reference None"),
        ({"references": [float("nan"), "a"]}, "row 0 of the column 'references' has the reference nan"),
        ({"references": [{"role": "user"}, "a"]}, "row 0 of the column 'references' has the reference {'role'"),
        ({"references": ["a", "b"], "article": ["x", None]}, "row 1 of the column 'article' is None"),
        ({}, "no column 'references' among candidate, article"),
    ],
)
def test_what_is_no_text_or_missing_is_named_with_its_row_and_column(columns, told) -> None:
    with pytest.raises(rewards.RewardError, match=f"rouge-1: {told}"):
        scored("rouge-1", sources="article")({"candidate": ["a", "b"], "article": ["x", "y"], **columns})
    assert scored("rouge-1")({"candidate": ["a"], "references": [[]]}) == {"rouge-1": [None]}
    with pytest.raises(rewards.RewardError, match="no column 'article' among candidate, references"):
        scored("rouge-1", sources="article")({"candidate": ["a"], "references": ["a"]})


def test_processes_and_the_cache_of_a_dataset_work(tmp_path) -> None:
    """The function hashes alike when made alike, so that datasets finds what it computed before."""
    pytest.importorskip("datasets")
    from datasets.fingerprint import Hasher

    one, two, other = scored("rouge-1"), scored("rouge-1"), scored("rouge-1(stemmer=false)")
    assert Hasher.hash(one) == Hasher.hash(two) != Hasher.hash(other)


def test_a_function_that_was_edited_is_another_for_the_cache_of_a_dataset(tmp_path) -> None:
    """Pickled by its name alone, it would get its old scores."""
    code = "import sys\nfrom datasets.fingerprint import Hasher\nfrom rewards.adapters.columns import scored\n"
    code += "function = scored('edited:score')\nprint(function({'candidate': ['a'], 'references': [['a']]}))\n"
    code += "print(Hasher.hash(function))\n"
    found = []
    for value in (1.0, 2.0, 2.0):
        (tmp_path / "edited.py").write_text(f"def score(candidates):\n    return [{value}] * len(candidates)\n")
        path = os.pathsep.join([str(tmp_path), str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.splitlines()[-1])
    assert found[0] != found[1] == found[2]


def test_a_reward_reads_other_columns_by_their_names() -> None:
    rows = {"candidate": ["the cat", "dog"], "topic": ["cat", "cat"], "year": [1, 2]}
    function = scored("source_rewards:on_topic", references=None, name="topical")
    assert function(rows) == {"topical": [0.5, 0.0]}
    with pytest.raises(rewards.RewardError, match=r"'topic'.*'candidate', 'year'"):
        function({"candidate": ["cat"], "year": [1]})
