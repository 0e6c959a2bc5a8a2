"""Our scores beside those of the reference implementations that are installed, on a few texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from rewards.base import from_spec
from rewards.encoding.loading import locate
from rewards.errors import Unavailable
from rewards.transport import exact_cost

Floats = NDArray[np.float64]
Scores = tuple[Floats, Floats]  # ours and theirs, (n,)

CANDIDATES = (
    "The jury agreed after two hours .",
    "storms hit the town, and the mayor's house\nNobody was hurt .",
    "running dogs ran and ran and ran",
    "Prices rose 3.5% in May .",
    "the the the cat",
)
REFERENCES = (
    "After two long hours , the jury agreed .",
    "A storm hit the town .\nThe mayor said nobody was hurt .",
    "a dog runs through the garden",
    "In May , prices rose by 3.5% , the ministry said .",
    "the cat sat on the mat",
)
ROUGE = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-3": "rouge3", "rouge-l": "rougeL", "rouge-lsum": "rougeLsum"}


@dataclass(frozen=True)
class Verification:
    """A metric against its ``oracle``, the name of a distribution.

    ``difference`` is the largest, NaN where a score is undefined; ``missing`` says why nothing was compared, or is
    empty.
    """

    metric: str
    oracle: str
    version: str = ""
    difference: float = float("nan")
    tolerance: float = 0.0
    missing: str = ""

    @property
    def agrees(self) -> bool:
        """Whether the scores are equal up to the tolerance; False where they are not comparable."""
        return self.difference <= self.tolerance


def verify() -> list[Verification]:
    """Every metric that has an oracle; those of an oracle that is not installed have ``missing``."""
    checks: list[tuple[str, str, float, Callable[[], Scores]]] = [
        *((f"{name}(stemmer={stems})", "rouge-score", 1e-12, lambda name=name, stems=stems: _rouge(name, stems))
          for name in ROUGE for stems in ("true", "false")),
        ("transport of wms, sms, s+wms, moverscore", "scipy", 1e-9, _transport),
        ("bertscore(encoder=minilm, layer=5)", "bert-score", 1e-5, _bertscore),
    ]  # fmt: skip
    return [_verified(*check) for check in checks]


def _verified(metric: str, oracle: str, tolerance: float, scores: Callable[[], Scores]) -> Verification:
    try:
        scored, expected = scores()
    except ImportError as error:
        return Verification(metric, oracle, missing=f"not compared: {error.name} is not installed")
    except Unavailable as error:
        return Verification(metric, oracle, missing=f"not compared: {error}")
    difference = float(np.max(np.abs(scored - expected)))  # NaN, which agrees with nothing, where a score is
    return Verification(metric, oracle, version(oracle), difference, tolerance)


def _rouge(name: str, stems: str) -> Scores:
    scorer = import_module("rouge_score.rouge_scorer").RougeScorer([ROUGE[name]], use_stemmer=stems == "true")
    lines = ", split=lines" if name == "rouge-lsum" else ""
    scored = from_spec(f"{name}(stemmer={stems}{lines})")(CANDIDATES, [[text] for text in REFERENCES])
    expected = [scorer.score(r, c)[ROUGE[name]].fmeasure for c, r in zip(CANDIDATES, REFERENCES, strict=True)]
    return scored, np.array(expected)


def _transport() -> Scores:
    """The cost of ten random transports, by the network simplex and as linear programmes."""
    linprog = import_module("scipy.optimize").linprog
    random, costs, expected = np.random.default_rng(0), [], []
    for _ in range(10):
        m, n = random.integers(2, 7, size=2)
        cost = random.random((m, n))
        first, second = random.dirichlet(np.ones(m)), random.dirichlet(np.ones(n))
        costs.append(exact_cost(first, second, cost))
        moved = np.vstack([np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n))])
        expected.append(linprog(cost.ravel(), A_eq=moved, b_eq=np.concatenate([first, second]), bounds=(0, None)).fun)
    return np.array(costs), np.array(expected)


def _bertscore() -> Scores:
    scorer = import_module("bert_score").BERTScorer
    encoder = locate("minilm")
    oracle = scorer(model_type=encoder, num_layers=5, nthreads=0, use_fast_tokenizer=True)
    scored = from_spec("bertscore(encoder=minilm, layer=5)")(CANDIDATES, [[text] for text in REFERENCES])
    # one pair at a time: in a batch, padding may be the best of a token
    pairs = zip(CANDIDATES, REFERENCES, strict=True)
    return scored, np.array([float(oracle.score([c], [r])[2]) for c, r in pairs])
