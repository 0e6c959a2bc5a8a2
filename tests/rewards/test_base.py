from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import rewards
from rewards.options import coerce
from rewards.scoring import Inputs, headings, score_components, short_signature

HEAVY = ("torch", "spacy", "ot", "transformers", "datasets", "nltk", "sacrebleu")


def shorter(candidates, references=None, sources=None):
    return [float("nan") if text == "?" else -len(text) for text in candidates]


class Constant:
    """Always the same."""

    name = "constant"
    columns = optional_columns = ()

    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    def __call__(self, candidates, references=None, sources=None, columns=None):
        return np.full(len(candidates), self.value)

    @property
    def signature(self) -> str:
        return f"constant|value:{self.value}"

    def undefined(self, candidate, references=None, source=None, columns=None):
        return None


ready = Constant(2.0)
not_callable = 3


@pytest.mark.parametrize(
    "statement",
    [
        "import rewards",
        "import rewards; [rewards.check_spec(spec) for spec in ('bleu', 'bleu-neighbors(examples=none)')]",
        "import rewards; rewards.check_spec('weighted(rouge-l=1, twmd(layer=3)=1, sms(vectors=v.txt)=2)')",
    ],
)
def test_importing_and_checking_load_nothing_heavy(statement: str) -> None:
    code = f"import sys; {statement}; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("rougel", ["unknown reward 'rougel'", "did you mean 'rouge-l'"]),
        ("rouge-l(stemer=true)", ["unknown option 'stemer'", "did you mean 'stemmer'", "direction"]),
        ("rouge-l(direction=recal)", ["direction='recal'", "precision, recall, f1", "did you mean 'recall'"]),
        ("rouge-l(stemmer=maybe)", ["stemmer", "true or false", "maybe"]),
        ("sms", ["vectors=FILE", "encoder=minilm"]),
        ("sms(vectors=v, normalize=l2)", ["normalize='l2'", "none, unit"]),
        ("twmd(layer=1.5)", ["layer", "whole number", "1.5"]),
        ("twmd(temperature=inf)", ["temperature", "finite"]),
        ("weighted(rouge-l=0.5, rougel=0.5)", ["did you mean 'rouge-l'"]),
        ("weighted(rouge-l=heavy)", ["weight of rouge-l", "heavy"]),
        ("cached(reward=nothing)", ["unknown reward"]),
        ("no_such_module:thing", ["no_such_module", "PYTHONPATH=."]),
        (f"{__name__}:Konstant", ["Konstant", "did you mean 'Constant'"]),
        (f"{__name__}:not_callable", ["int"]),
        (f"{__name__}:shorter(x=1)", ["unknown option 'x'", "takes none"]),
        (f"{__name__}:misnamed", ["its first argument must be named candidates"]),
        ("rewards:mine", [f"rewards ({rewards.__file__}) has no 'mine'"]),  # of a `rewards.py` that is not on the path
    ],
)
def test_wrong_specs_are_named_with_the_fix(spec: str, parts: list[str]) -> None:
    with pytest.raises(rewards.RewardError) as caught:
        rewards.check_spec(spec)
    assert all(part in str(caught.value) for part in parts), str(caught.value)
    with pytest.raises(rewards.RewardError):
        rewards.from_spec(spec)


def test_check_spec_reads_no_file_but_loading_wants_it() -> None:
    rewards.check_spec("sms(vectors=not-made-yet.txt, normalize=unit)")
    with pytest.raises(rewards.RewardError, match=r"not-made-yet.txt.*no such file"):
        rewards.load("sms", vectors="not-made-yet.txt")


def test_the_three_ways_of_writing_agree(vectors_file: Path) -> None:
    text = rewards.from_spec(f"sms(vectors={vectors_file}, normalize=unit)")
    mapping = rewards.from_spec({"name": "sms", "vectors": str(vectors_file), "normalize": "unit"})
    python = rewards.load("sms", vectors=vectors_file, normalize="unit")
    assert text.signature == mapping.signature == python.signature
    mixed = rewards.load(f"sms(vectors={vectors_file})", normalize="unit")
    assert mixed.signature == rewards.load(f"sms(vectors={vectors_file}, normalize=unit)").signature == text.signature


def test_labels_are_names_unless_shared() -> None:
    found = rewards.from_specs("rouge-l, rouge-2, rouge-l(stemmer=false)")
    assert list(found) == ["rouge-l", "rouge-2", "rouge-l(stemmer=false)"]
    assert list(rewards.from_specs([{"name": "rouge-1"}, "rouge-2"])) == ["rouge-1", "rouge-2"]
    assert list(rewards.from_specs("rouge-l(stemmer=true)")) == ["rouge-l"]
    with pytest.raises(rewards.RewardError, match="twice"):
        rewards.from_specs("rouge-l,rouge-l")


def test_a_plain_function_is_a_reward() -> None:
    reward = rewards.load(f"{__name__}:shorter")
    scores = reward(["abc", "?"])
    assert scores.dtype == np.float64
    np.testing.assert_equal(scores, [-3.0, np.nan])
    assert reward.signature.startswith(f"{__name__}:shorter|source:")
    assert reward.undefined("?") is not None
    assert reward.undefined("abc") is None


def test_a_plain_function_must_return_one_number_a_candidate() -> None:
    reward = rewards.Plain("broken", lambda candidates, references, sources: [1.0])
    with pytest.raises(rewards.RewardError, match=r"shape \(1,\) for 2"):
        reward(["a", "b"])


@pytest.mark.parametrize("returned", [{"a": 1.0}, (n for n in [1.0]), [1j], [10**400], [None, "x"], "1"])
def test_what_a_plain_function_returns_instead_of_numbers_is_told(returned: object) -> None:
    with pytest.raises(rewards.RewardError, match="broken returned"):
        rewards.Plain("broken", lambda candidates: returned)(["a", "b"])


def test_arrays_hold_lists_of_references_and_columns_of_vectors() -> None:
    """As in tables of several references, and embeddings; a table's rows would be its names."""
    reward = rewards.load("rouge-1")
    assert reward(["a", "b"], np.array([["a", "x"], ["y", "b"]]), columns={"at": np.ones((2, 3))}).tolist() == [1, 1]
    with pytest.raises(rewards.RewardError, match="candidates: an array without rows; give a list"):
        reward(np.array("a"), [["a"]])


def misnamed(texts, references=None, sources=None):
    return [1.0 for _ in texts]


def endless(candidates):
    return [float({"defined": "1", "undefined": "nan"}.get(text, text)) for text in candidates]


@pytest.mark.parametrize("text", ["inf", "-inf", "1e39"])  # the last is infinite in float32, in which models train
@pytest.mark.parametrize("spec", ["{}", "weighted({}=0.5, repetition=0.5)"])
def test_an_infinite_score_is_refused_where_scores_are_used(text: str, spec: str) -> None:
    """In training, validation, scoring and the choice of samples alike; NaN is a score that is undefined."""
    reward = rewards.from_spec(spec.format(f"{__name__}:endless"))
    scores, _ = score_components(reward, Inputs(["defined", "undefined"]))
    np.testing.assert_array_equal(np.isnan(scores), [False, True])
    with pytest.raises(rewards.RewardError, match=f"endless is {re.escape(f'{float(text):g}')} for 1 of 3 candidates"):
        score_components(reward, Inputs(["defined", "undefined", text]))


def test_a_class_elsewhere_takes_options_and_an_object_none() -> None:
    built = rewards.load(f"{__name__}:Constant", value="1e-1")
    assert built(["a"])[0] == 0.1
    assert rewards.load(f"{__name__}:ready") is ready


def test_an_installed_package_offers_a_reward_under_a_short_name(tmp_path, monkeypatch):
    """What pip leaves of a package with ``[project.entry-points."rlsum.rewards"]``, on the path."""
    (tmp_path / "their_package.py").write_text("def found(candidates):\n    return [7.0]\n")
    info = tmp_path / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rlsum.rewards]\ntheirs = their_package:found\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "theirs" in rewards.names()
    assert rewards.from_spec("weighted(theirs=2)")(["a"])[0] == 14
    assert rewards.describe("theirs").options == {}
    with pytest.raises(rewards.RewardError, match="did you mean 'theirs'"):
        rewards.load("their")


def test_the_options_of_a_reward_with_their_defaults() -> None:
    assert rewards.describe("sms").options == {
        "vectors": "none", "encoder": "none", "normalize": "none", "oov": "zero", "stopwords": "spacy", "split": "auto",
        "language": "none", "sentence_weights": "words", "layer": "none", "long_texts": "windows", "dtype": "float32",
        "device": "auto",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("value", "annotation", "expected"),
    [
        ("3", int, 3),
        ("1e-4", float, 1e-4),
        (2, float, 2.0),
        ("yes", bool, True),
        ("off", bool, False),
        ("none", int | None, None),
        (None, float | None, None),
        ("0.5", float | None, 0.5),
        (None, Literal["none", "unit"], "none"),
        ("v.txt", str, "v.txt"),
    ],
)
def test_values_are_coerced_by_annotation(value: object, annotation: object, expected: object) -> None:
    found = coerce("x", value, annotation)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("value", "annotation"), [(True, int), ("x", float), ("1.5", int), (3, str), ("2", bool)])
def test_values_of_another_type_are_errors(value: object, annotation: object) -> None:
    with pytest.raises(rewards.RewardError, match="x must be"):
        coerce("x", value, annotation)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((["a"],), "references"),
        ((["a"], [["b"], ["c"]]), "1 candidates but 2"),
        ((["a"], ["b"]), "plain texts"),
        (("a", [["b"]]), "not one text"),
        (([3], [["b"]]), "candidate 0"),
        ((["a"], [["b"]], ["s", "t"]), "sources"),
        ((["a", "b"], [["a"], ["b", None]]), "item 1 has the reference None, which is not text"),
    ],
)
def test_wrong_calls_are_errors(arguments: tuple, part: str) -> None:
    with pytest.raises(rewards.RewardError, match=part):
        rewards.load("rouge-l")(*arguments)


def test_weights_that_differ_in_the_last_digits_have_another_signature() -> None:
    weights = (0.3333333, 0.3333334)
    assert len({rewards.load("weighted", **{"rouge-1": one, "rouge-2": 1 - one}).signature for one in weights}) == 2


@pytest.mark.parametrize(
    ("spec", "heading"),
    [
        ("rouge-l", "rouge-l F1 stems"),
        ("rouge-2(direction=recall, stemmer=false)", "rouge-2 recall words"),
        ("bertscore", "bertscore F1 minilm"),
        ("sbert(centering=dimension)", "sbert minilm dimension-centred"),
        ("bleu(lowercase=true)", "bleu 13a lower"),
        ("cached(reward=rouge-l)", "rouge-l F1 stems"),
        ("repetition", "repetition"),
    ],
)
def test_the_heading_of_a_column_says_what_its_scores_are(spec, heading):
    assert rewards.from_spec(spec).heading == heading


def test_headings_that_are_equal_give_way_to_the_labels():
    found = rewards.from_specs("rouge-l, rouge-l(tokenizer=unicode), rouge-1")
    assert list(headings(found).values()) == ["rouge-l", "rouge-l(tokenizer=unicode)", "rouge-1 F1 stems"]


def test_short_signatures_keep_every_value():
    text = "x|encoder:bert-1|layer:5|odd:3|reward:[rouge-l|direction:f1|version:1]|version:1"
    assert short_signature(text) == "x|enc:bert-1|l:5|odd:3|reward:[rouge-l|d:f1|v:1]|v:1"


def test_a_missing_attribute_of_a_folder_has_no_file_to_name(tmp_path, monkeypatch):
    (tmp_path / "mine_in_a_folder").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(rewards.RewardError, match="mine_in_a_folder has no 'score'"):
        rewards.from_spec("mine_in_a_folder:score")


def test_a_shell_shows_a_reward_by_its_heading():
    assert repr(rewards.load("rouge-l")) == "<reward rouge-l F1 stems>"
