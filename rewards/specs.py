"""The names of rewards, and their specs: ``'sms(vectors=v.txt.gz)'`` or a mapping -> name and options; no import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rewards.errors import RewardError

CLOSING = {"(": ")", "[": "]"}
QUOTES = "'\""

TABLE = {
    "rouge-1": "rewards.lexical.rouge:rouge_1",
    "rouge-2": "rewards.lexical.rouge:rouge_2",
    "rouge-3": "rewards.lexical.rouge:rouge_3",
    "rouge-l": "rewards.lexical.rouge:rouge_longest",
    "rouge-lsum": "rewards.lexical.rouge:rouge_longest_sum",
    "bleu": "rewards.lexical.bleu:Bleu",
    "bleu-star": "rewards.lexical.bleu:BleuStar",
    "meteor": "rewards.lexical.meteor:Meteor",
    "wms": "rewards.mover.metrics:wms",
    "sms": "rewards.mover.metrics:sms",
    "s+wms": "rewards.mover.metrics:swms",
    "sbert": "rewards.embedding.metrics:sbert",
    "cka": "rewards.embedding.metrics:cka",
    "moverscore": "rewards.embedding.metrics:moverscore",
    "bertscore": "rewards.embedding.metrics:bertscore",
    "trwmd": "rewards.embedding.metrics:trwmd",
    "twmd": "rewards.embedding.metrics:twmd",
    "bleu-neighbors": "rewards.lexical.neighbors:BleuNeighbors",
    "learned": "rewards.embedding.learned:learned",
    "likelihood": "rewards.models.likelihood:Likelihood",
    "entailment": "rewards.models.entailment:Entailment",
    "reward-model": "rewards.models.reward_model:RewardModel",
    "judge": "rewards.models.judge:Judge",
    "judge-pairs": "rewards.models.judge_pairs:JudgePairs",
    "weighted": "rewards.wrappers.combine:Weighted",
    "length": "rewards.lexical.surface:Length",
    "repetition": "rewards.lexical.surface:Repetition",
    "cached": "rewards.wrappers.cached:Cached",
    "limited": "rewards.wrappers.time_limit:Limited",
    "cleaned": "rewards.wrappers.cleaned:Cleaned",
}
WEIGHED = {"weighted"}  # of these, those whose options are rewards, the values their weights


@dataclass(frozen=True)
class Spec:
    """The name and the options of a reward, values as written; ``given``: the function or reward itself."""

    name: str
    options: dict[str, Any]
    given: Any = field(default=None, compare=False)

    def plain(self) -> dict[str, Any]:
        """The spec as a mapping, as in YAML."""
        return {"name": self.name, **self.options}

    def __str__(self) -> str:
        if self.name in WEIGHED:
            inside = ", ".join(f"{as_spec(inner)}={weight}" for inner, weight in self.options.get("parts", ()))
        else:
            inside = ", ".join(f"{key}={_written(value)}" for key, value in self.options.items())
        return f"{self.name}({inside})" if inside else self.name


def as_spec(spec: Any) -> Spec:
    """Read one reward, written as text or as a mapping ``{name: sms, vectors: v.txt.gz}``. Raises RewardError.

    A function or a class is named ``module:attribute``; a reward that was made of a text has this text.

    A weighted sum is ``weighted(rouge-l=0.7, sms(vectors=v.txt)=0.3)``, ``{name: weighted, rouge-l: 0.7, ...}`` or
    ``{name: weighted, parts: [[spec, weight], ...]}``. All three become the option ``parts``.
    """
    if isinstance(spec, Spec):
        return spec
    if isinstance(spec, str):
        return _parse(spec)
    if callable(spec):
        return _of_object(spec)
    if not isinstance(spec, Mapping):
        raise RewardError(f"a reward is text, a mapping with 'name' or a function, not {spec!r}")
    if not isinstance(spec.get("name"), str):
        raise RewardError(f"reward {dict(spec)!r} has no 'name'; write for instance {{name: rouge-l}}")
    return with_parts(spec["name"], {key: value for key, value in spec.items() if key != "name"})


def _of_object(reward: Any) -> Spec:
    if isinstance(written := getattr(reward, "written", None), str):
        return replace(as_spec(written), given=reward)
    named = reward if hasattr(reward, "__qualname__") else type(reward)
    return Spec(f"{named.__module__}:{named.__qualname__}", {}, reward)


def with_parts(name: str, options: Mapping[str, Any]) -> Spec:
    """A spec from a name and options. Rewards with their weights become the one option ``parts``."""
    if name not in WEIGHED:
        return Spec(name, dict(options))
    parts = _pairs(name, options["parts"]) if "parts" in options else []
    parts += [(key, weight) for key, weight in options.items() if key != "parts"]
    if not parts:
        raise RewardError(f"{name} needs at least one part; write {name}(rouge-l=0.7, rouge-2=0.3)")
    return Spec(name, {"parts": parts})


def split_specs(text: str) -> list[str]:
    """``'rouge-l, sms(vectors=a,normalize=unit)'`` -> one text per reward (commas inside parentheses do not split)."""
    specs = [part.strip() for part in _split(text, ",")]
    if not all(specs):
        raise RewardError(f"an empty reward in {text!r}; separate names by single commas")
    return specs


def _parse(text: str) -> Spec:
    text = text.strip()
    name, opened, inside = text.partition("(")
    name = name.strip()
    if len(split_specs(text)) > 1:
        raise RewardError(f"{text!r} is more than one reward; one reward is expected")
    if not name or any(sign in name for sign in " =)"):
        raise RewardError(f"{text!r} is not a reward; write name or name(option=value, ...)")
    if not opened:
        return with_parts(name, {})
    if not inside.endswith(")"):
        raise RewardError(f"{text!r}: text after the closing parenthesis; write name(option=value, ...)")
    items = [_item(name, item) for item in split_specs(inside[:-1])] if inside[:-1].strip() else []
    if name in WEIGHED:
        return with_parts(name, {"parts": items})
    repeated = {key for key, _ in items if [option for option, _ in items].count(key) > 1}
    if repeated:
        raise RewardError(f"{name}: option {sorted(repeated)[0]!r} is given twice")
    return Spec(name, dict(items))


def _item(name: str, text: str) -> tuple[str, str]:
    """``key=value``. The key of a weighted sum may itself hold '=' in parentheses, so the last top-level one splits."""
    pieces = _split(text, "=")
    if len(pieces) < 2:
        expected = "reward=weight" if name in WEIGHED else "option=value"
        raise RewardError(f"{name}: {text!r} is not {expected}")
    key, value = ("=".join(pieces[:-1]), pieces[-1]) if name in WEIGHED else (pieces[0], "=".join(pieces[1:]))
    value = value.strip()
    quoted = len(value) > 1 and value[0] in QUOTES and value[-1] == value[0]
    return key.strip(), value[1:-1] if quoted else value


def _split(text: str, separator: str) -> list[str]:
    """Split at separators outside parentheses, brackets and quotes."""
    cuts = [position for position, depth, sign in _scan(text) if depth == 0 and sign == separator]
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _scan(text: str) -> Iterator[tuple[int, int, str]]:
    """Position, nesting depth and sign of each unquoted character."""
    awaited: list[str] = []
    quote, previous = "", ""
    for position, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in QUOTES and previous in ("=", ""):  # an apostrophe inside a word is not a quotation mark
            quote = sign
        else:
            if sign in CLOSING:
                awaited.append(CLOSING[sign])
            elif awaited and sign == awaited[-1]:
                awaited.pop()
            elif sign in CLOSING.values():
                raise RewardError(f"{text!r}: unexpected {sign!r} at position {position + 1}")
            yield position, len(awaited), sign
        previous = sign if not sign.isspace() else previous
    if awaited or quote:
        raise RewardError(f"{text!r}: {quote or awaited[-1]!r} is missing at the end")


def _written(value: Any) -> str:
    if isinstance(value, Mapping | Spec):
        return str(as_spec(value))
    text = "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}'" if "," in text and "(" not in text else text


def _pairs(name: str, parts: Any) -> list[tuple[Any, Any]]:
    """``[[spec, weight], ...]`` or ``{spec: weight}`` -> pairs."""
    rows = list(parts.items()) if isinstance(parts, Mapping) else parts
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise RewardError(f"{name}: parts must be a list of [reward, weight], not {parts!r}")
    for row in rows:
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 2:
            raise RewardError(f"{name}: {row!r} is not a pair [reward, weight]")
    return [(row[0], row[1]) for row in rows]
