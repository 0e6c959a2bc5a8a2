"""The three configurations for a user's data: a run by likelihood, a rewarded one, and the comparison of both."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from string import Template

import numpy as np

from rewards.text.chunks import tokens
from rewards.text.languages import language_of
from rlsum.data.looking.look import Look
from rlsum.drafts.pretrained import Pretrained
from rlsum.models.pretrained.options import PROMPTS

SMALL = 5000  # articles to train on
Values = Mapping[str, object]
Count = Callable[[str], int]


def run_values(name: str, files: Mapping[str, Path], look: Look, start: Pretrained | None) -> dict[str, object]:
    """What the run by likelihood says of the data and the model; ``start``: a pretrained one, None: words."""
    read = (look.columns.source, *look.references)
    others = [column for column in look.names if column not in read]
    values = {
        "data": look.path,
        "name": name,
        "rows": f"{look.rows:,}",
        "train": _quoted(files["train"]),
        "valid": _quoted(files["valid"]),
        "source": _quoted(look.columns.source),
        "reference": _quoted(look.reference),
        "lists": look.columns.lists,
        "others": f"     # other columns: {', '.join(map(repr, others))}" if others else "",
        "language": None if look.language == "en" else look.language,
        "metrics": "rouge-1, rouge-2, rouge-l",
    }
    return values | (_of_words(look) if start is None else _of_pretrained(look, start))


def run(values: Values, start: Pretrained | None) -> str:
    """The configuration of the run by likelihood."""
    return _filled("words" if start is None else "pretrained", values)


def later(values: Values, test: Path, lead: Path, sentences: int) -> dict[str, str]:
    """The configurations that build on it, the rewarded run and the comparison: end of the name -> text.

    ``test``: the articles to compare on. ``lead``: the file of their first ``sentences``.
    """
    name = values["name"]
    more = {
        "base": f"{name}.yaml",
        "rewarded_base": f"{name}-rewarded.yaml",
        "reward": "rouge-l",
        "second": "rouge-1",
        "test": _quoted(test),
        "lead": _quoted(lead),
        "sentences": "the first sentence" if sentences == 1 else f"the first {sentences} sentences",
    }
    return {
        end: _filled(template, {**values, **more})
        for end, template in (("-rewarded", "rewarded"), ("-compare", "compare"))
    }


def _of_words(look: Look) -> dict[str, object]:
    """A pointer-generator, its words as the language has them, small for few articles."""
    small = look.rows < SMALL
    steps = min(20_000, max(800, look.rows * 10 // 16))
    language = language_of(look.language)
    count: Count = (lambda text: len(text.split())) if look.tokenised else (lambda text: len(tokens(text, language)))
    longest = (200 if small else 400, 100) if look.spaced else (400 if small else 800, 200)  # words; characters
    case = "false           # they have no capitals" if look.lowercase else "true            # fewer words"
    return {
        "tokenizer": "whitespace     # the texts are tokenised" if look.tokenised else "spacy          # raw text",
        "lowercase": case,
        **_lengths(look, count, *longest),
        "model": "{embedding: 64, hidden: 64, dropout: 0.3}" if small else "{embedding: 128, hidden: 128}",
        **{"kept": "null", "samples": 5, "rewarded_accumulate": None},
        **{"rate": "3e-3" if small else "1e-3", "rewarded_rate": "1e-3" if small else "3e-4"},
        **_steps(look.rows, steps),
    }


def _of_pretrained(look: Look, start: Pretrained) -> dict[str, object]:
    """A pretrained model: its own tokens, capitals and rates."""
    prompted = start.template is not None  # a language model, whose updates are slow
    fewest = 50 if prompted else 100
    steps = min(10_000, max(fewest, look.rows * 3 // 16))
    return {
        "pretrained": start.name,
        "kind": start.kind,
        "template": start.template,
        "prompt": None if start.template is None else _quoted(PROMPTS[start.template]),
        "model": _quoted(start.name),
        "prefix": _quoted(start.prefix) if start.prefix else None,
        "line_break": _quoted(start.line_break) if start.line_break else None,
        "lora": start.lora,
        "weights": f"{start.weights / 1e6:,.0f}",
        **_lengths(look, start.count, *start.longest),
        **{"kept": None, "samples": 4 if prompted else 5, "rewarded_accumulate": 1 if prompted else None},
        **{"optimizer": start.optimizer, "rate": start.rates[0], "rewarded_rate": start.rates[1]},
        **_steps(look.rows, steps, fewest),
    }


def _steps(rows: int, steps: int, fewest: int = 100) -> dict[str, object]:
    return {
        **{"steps": steps, "epochs": round(steps * 16 / rows), "every": max(20, steps // 10)},
        **{"rewarded": max(fewest, steps // 5), "rewarded_every": max(25, steps // 20)},
    }


def _lengths(look: Look, count: Count, most_source: int, most_target: int) -> dict[str, object]:
    """The limits of articles and summaries, and what they cut: quantiles of the tokens of the first rows."""
    (source_50, source_95), (target_50, target_95) = (
        map(round, np.quantile([count(text) for text in texts], (0.5, 0.95)))
        for texts in (look.articles, look.summaries)
    )
    return {
        **{"source_50": source_50, "source_95": source_95, "target_50": target_50, "target_95": target_95},
        "max_source": min(most_source, max(20, -(-source_95 // 10) * 10)),
        "max_target": (longest := min(most_target, max(10, -(-target_95 // 5) * 5))),
        "min_target": min(longest, target_50) // 2,
    }


def _filled(template: str, values: Values) -> str:
    """A template of this folder with its ``$names`` filled in; a line with a name that is None is left out."""
    lines = (Path(__file__).parent / f"{template}.yaml").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if all(values[name] is not None for name in Template(line).get_identifiers())]
    return "".join(f"{Template(line).substitute(values)}\n" for line in kept)


def _quoted(name: object) -> str:
    """A name or path as YAML reads it: an unquoted no would be false."""
    return json.dumps(str(name), ensure_ascii=False)
