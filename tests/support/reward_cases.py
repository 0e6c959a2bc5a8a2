"""One case for every registered reward: what it is made with, its range, and another value for each of its options.

A reward that is added to the table has no case yet, and every test of `test_every_reward` fails until it has one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import headed
from encoders import weights_of
from judge_server import steady

import rewards
from rewards.embedding.rescaling import RescalingBaseline, add_baseline

Options = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """``needed``: options without which it cannot be made. ``others``: for each option a value not its default.

    ``beside``: what an option needs beside it. ``same``: options that change no score, hence no signature.
    ``low``, ``high``: the range; the lowest is what an empty candidate gets.
    ``compares``: it reads references. ``similarity``: equal texts of any length have 1, and no others more.
    """

    others: Options
    needed: Options = field(default_factory=dict)
    beside: dict[str, Options] = field(default_factory=dict)
    same: Options = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0
    compares: bool = True
    similarity: bool = True


@dataclass(frozen=True)
class Files:
    """What cases are made of: two files of vectors, two encoders, and a folder for more."""

    vectors: str
    other_vectors: str
    encoder: str
    other_encoder: str
    folder: Path


def files(vectors: Path, encoder: Path, folder: Path) -> Files:
    """Others beside those given: a word of the vectors renamed, a weight of the encoder changed."""
    other_vectors = folder / "other.txt"
    other_vectors.write_text(vectors.read_text(encoding="utf-8").replace("storm", "stork"), encoding="utf-8")
    other_encoder = Path(shutil.copytree(encoder, folder / "other"))
    with weights_of(other_encoder) as weights:
        next(iter(weights.values())).view(-1)[0] += 1
    (folder / "texts.txt").write_text("the cat runs\na dog sleeps\n", encoding="utf-8")
    (folder / "outputs.jsonl").write_text('{"source": "a text", "candidate": "the cat"}\n', encoding="utf-8")
    (folder / "more.txt").write_text("the mayor falls\na red house .\n", encoding="utf-8")
    return Files(str(vectors), str(other_vectors), str(encoder), str(other_encoder), folder)


def case(name: str, made: Files) -> Case:
    """The case of a registered reward."""
    if name not in CASES:
        raise KeyError(f"the reward {name!r} has no case: add one to CASES in {__file__}")
    return CASES[name](name, made)


def _rouge(name: str, made: Files) -> Case:
    split = {"split": "lines"} if name == "rouge-lsum" else {}
    return Case({"direction": "recall", "stemmer": False, "tokenizer": "unicode", "language": "fr", **split})


def _mover(name: str, made: Files) -> Case:
    contextual = {"encoder": made.other_encoder, "layer": 1, "long_texts": "truncate", "dtype": "bfloat16"}
    weights = {"sentence_weights": "uniform"} if name != "wms" else {}
    others = {"vectors": made.other_vectors, "normalize": "unit", "oov": "drop", "stopwords": "none", "split": "lines"}
    others |= {"language": "de"}
    on_encoder = {"vectors": None, "encoder": made.encoder}
    beside = dict.fromkeys((*contextual, "device"), on_encoder)
    return Case({**others, **weights, **contextual}, {"vectors": made.vectors}, beside, same={"device": "cpu"})


OWN: dict[str, Options] = {
    "sbert": {"normalize": "none"},
    "cka": {"normalize": "none"},
    "moverscore": {},
    "bertscore": {"direction": "recall", "idf": "references"},
    "trwmd": {"temperature": 0.5, "direction": "recall", "entropy": True, "normalize": "none"},
    "twmd": {"temperature": 0.5, "direction": "recall", "iterations": 2, "entropy": True, "normalize": "none"},
}
LOWEST = {"cka": 0.0}
HIGHEST = {"trwmd": 1.5, "twmd": 1.5}  # no bound is claimed


def _contextual(name: str, made: Files) -> Case:
    one, two = _baselines(name, made, encoder=made.encoder)
    texts, more = str(made.folder / "texts.txt"), str(made.folder / "more.txt")
    others = {"encoder": made.other_encoder, "layer": 1, "centering": "dimension", "special_tokens": "none"}
    others |= {"corpus": more, "rescale": one, "language": "de", "long_texts": "truncate", "dtype": "bfloat16"}
    others |= OWN[name]
    beside = {"corpus": {"centering": "corpus", "corpus": texts}, "language": {"rescale": two, "language": "en"}}
    low, high = LOWEST.get(name, -1.0), HIGHEST.get(name, 1.0)
    return Case(others, {"encoder": made.encoder}, beside, same={"device": "cpu"}, low=low, high=high)


def _baselines(name: str, made: Files, **needed: str) -> tuple[str, str]:
    """A file with a baseline of the metric, and one with two, for two languages."""
    metric = rewards.load(name, **needed).metric  # type: ignore[attr-defined]
    one, two = made.folder / f"{name}-one.json", made.folder / f"{name}-two.json"
    for path, language, value in ((one, "en", 0.2), (two, "en", 0.2), (two, "de", 0.3)):
        values = dict.fromkeys(("precision", "recall", "f1", "score"), value)
        add_baseline(path, RescalingBaseline(metric, language, 10, 0, "texts", values))
    return str(one), str(two)


def _bleu(name: str, made: Files) -> Case:
    others = {"tokenize": "char", "smooth_method": "floor", "smooth_value": 0.5, "effective_order": False}
    others |= {"max_ngram_order": 2, "lowercase": True, "language": "ja"}
    return Case(others, beside={"smooth_value": {"smooth_method": "add-k"}})


def _neighbors(name: str, made: Files) -> Case:
    judged = [("the cat", 0.2), ("Mayor dog", 0.4), ("river unseen storm", 0.9)]
    others = {"examples": judged[:2], "kernel": "rouge-l", "tau": 0.3, "a": 2, "b": 0.5, "zero_order": "zero"}
    others |= {"leave_one_out": True, "subsample": 1, "seed": 1}
    needed, beside = {"examples": judged, "a": 1}, {"seed": {"subsample": 1}}
    return Case(others, needed, beside, low=0.2, high=0.9, compares=False, similarity=False)


def _learned(name: str, made: Files) -> Case:
    """A saved metric is an encoder with the metric's options beside it; ``corpus`` belongs to batch centering."""
    paths = {}
    for kind, spec in (
        ("one", {"name": "bertscore", "layer": "2"}),
        ("two", {"name": "bertscore", "layer": "1"}),
        ("batch", {"name": "bertscore", "layer": "2", "centering": "batch"}),
    ):
        folder = made.folder / f"learned-{kind}"
        if not folder.exists():
            shutil.copytree(made.encoder, folder)
            (folder / "metric.json").write_text(json.dumps({"metric": spec}), encoding="utf-8")
        paths[kind] = str(folder)
    one, two = _baselines(name, made, path=paths["one"])
    others = {"path": paths["two"], "corpus": str(made.folder / "texts.txt"), "rescale": one, "language": "de"}
    beside = {"corpus": {"path": paths["batch"]}, "language": {"rescale": two, "language": "en"}}
    return Case(others, {"path": paths["one"]}, beside, same={"device": "cpu"}, low=-1.0)


def _likelihood(name: str, made: Files) -> Case:
    needed = {"model": _model(made, "causal"), "given": "reference"}
    others = {"model": _model(made, "gpt2"), "given": "source", "of": "both", "norm": "sum", "prompt": "{given}."}
    others |= {"chat": True, "long_texts": "truncate", "dtype": "bfloat16"}
    floor = rewards.load(name, **needed).floor  # type: ignore[attr-defined]
    return Case(others, needed=needed, same={"device": "cpu"}, low=floor, similarity=False)


def _entailment(name: str, made: Files) -> Case:
    needed = {"model": _model(made, "classifier"), "given": "reference"}
    others = {"model": _model(made, "other-classifier"), "given": "source", "premise": "windows", "score": "difference"}
    others |= {"aggregate": "min", "language": "de", "long_texts": "truncate", "dtype": "bfloat16"}
    return Case(others, needed=needed, same={"device": "cpu"}, similarity=False)


def _reward_model(name: str, made: Files) -> Case:
    needed = {"model": _model(made, "chat"), "given": "reference", "floor": -99}
    others = {"model": _model(made, "scalar"), "given": "source", "form": "pair", "prompt": "{given}.", "floor": -98}
    others |= {"long_texts": "truncate", "dtype": "bfloat16"}
    return Case(others, needed=needed, same={"device": "cpu"}, low=-99, high=99, similarity=False)


def _model(made: Files, kind: str) -> str:
    """A tiny model with a head, made once."""
    folder = made.folder / f"model-{kind}"
    if not folder.exists():
        {
            "causal": headed.causal,
            "gpt2": lambda place: headed.causal(place, "gpt2"),
            "classifier": headed.classifier,
            "other-classifier": lambda place: headed.classifier(place, (*headed.LABELS, "other")),
            "scalar": lambda place: headed.classifier(place, ("score",)),
            "chat": headed.chat_reward_model,
        }[kind](folder)
    return str(folder)


def _judge(name: str, made: Files) -> Case:
    others = {"model": "large", "criterion": "fluency", "draws": 2, "temperature": 0.5, "max_tokens": 9}
    same = {"endpoint": "http://127.0.0.1:1/v1", "file": str(made.folder / "answers.sqlite"), "concurrency": 2}
    same |= {"timeout": 5, "retries": 1, "limit": 10_000, "price": "1/2", "key": "NO_KEY"}
    needed = {"endpoint": steady(), "model": "small"}
    if name == "judge-pairs":
        others |= {"prompt": "{first} {second}", "against": str(made.folder / "outputs.jsonl"), "given": "source"}
        return Case(others, needed=needed | {"given": "nothing"}, same=same, similarity=False)
    others |= {"scale": "1-4", "given": "source", "prompt": "{candidate}", "window": 7}
    return Case(others, needed=needed | {"given": "reference"}, same=same, low=1, high=5, similarity=False)


def _weighted(name: str, made: Files) -> Case:
    movers = {"name": "sms", "vectors": made.vectors}
    return Case({"parts": [["rouge-l", 0.5], [movers, 0.4]]}, needed={"parts": [["rouge-l", 0.5], [movers, 0.5]]})


def _limited(name: str, made: Files) -> Case:
    return Case({"reward": "rouge-1", "seconds": 70}, needed={"reward": "rouge-2", "seconds": 60}, same={"workers": 2})


def _cleaned(name: str, made: Files) -> Case:
    return Case({"reward": "rouge-1", "prefix": "cat ->"}, needed={"reward": "rouge-l"})


def _cached(name: str, made: Files) -> Case:
    kept = {"size": 7, "file": str(made.folder / "kept.sqlite")}
    return Case({"reward": "rouge-1"}, needed={"reward": "rouge-l"}, same=kept)


def _length(name: str, made: Files) -> Case:
    needed = {"low": 0.5, "high": 1, "unit": "reference"}
    return Case({"low": 0.4, "high": 2, "unit": "words"}, needed=needed, similarity=False)


CASES: dict[str, Callable[[str, Files], Case]] = {
    **dict.fromkeys(("rouge-1", "rouge-2", "rouge-3", "rouge-l", "rouge-lsum"), _rouge),
    "bleu": _bleu,
    "bleu-star": lambda *_: Case({"zero_order": "stop", "clip": True, "tokenizer": "spacy", "language": "ja"}),
    "meteor": lambda *_: Case(
        {"stages": "exact", "tokenizer": "spacy", "language": "fr", "alpha": 0.5, "beta": 2.0, "gamma": 0.1}
    ),
    **dict.fromkeys(("wms", "sms", "s+wms"), _mover),
    **dict.fromkeys(OWN, _contextual),
    "bleu-neighbors": _neighbors,
    "learned": _learned,
    "likelihood": _likelihood,
    "entailment": _entailment,
    "reward-model": _reward_model,
    **dict.fromkeys(("judge", "judge-pairs"), _judge),
    "weighted": _weighted,
    "length": _length,
    "repetition": lambda *_: Case({"n": 2}, compares=False, similarity=False),
    "cached": _cached,
    "limited": _limited,
    "cleaned": _cleaned,
}
