"""What a judge answers: as numbers of a scale, drawn until they are clear, kept in memory and in a file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from rewards.errors import RewardError
from rewards.models.asking import CRITERIA, AskingOptions
from rewards.models.pairs import PairReward
from rewards.models.prompts import rendered
from rewards.models.server import Refused, Server, Spent
from rewards.scoring import signature
from rewards.text.cleaning import clean
from rewards.wrappers.cached import Store, content_key

TOP = 20  # tokens whose probabilities are asked for
PROBES = 3  # questions that are asked alone until one is answered
NUMBER = re.compile(r"\W*?(?:[^\d:=]+(?:[:=]|\bis\b)\s*\W*?)?(-?\d+(?:\.\d+)?)(?:\s*(?:/|out of)\s*(\d+))?[^\w/]*")


class Judged(NamedTuple):
    """A number, NaN where there is none for a ``reason``; the probabilities of the scale, or ``drawn`` numbers."""

    number: float
    shares: Sequence[float] | None = None
    drawn: Sequence[float] = ()
    reason: str = ""


class Answers:
    """The answers of a model to questions; each is asked once."""

    def __init__(self, options: AskingOptions) -> None:
        self.options, self.server = options, Server(options)
        self._kept: dict[bytes, dict[str, Any]] = {}  # text and shares
        self._store = None if options.file is None else Store[str](options.file, 2**62, "answers", "judge")
        self._asks_for_tokens = True

    def judged(self, prompts: Sequence[str]) -> dict[str, Judged]:
        """The number of each question. Raises as ``Server.answers``, and says how many answers are there."""
        refused = self._ask(dict.fromkeys(prompts, 1))
        unclear = [p for p in prompts if p not in refused and self._answers(p)[0]["shares"] is None]
        refused |= self._ask(dict.fromkeys(unclear, self.options.draws))
        return {prompt: self._judged(self._answers(prompt), refused.get(prompt)) for prompt in prompts}

    def _judged(self, answers: Sequence[Mapping[str, Any]], refused: Refused | None) -> Judged:
        low, high = self.options.ends()
        if not answers:
            return Judged(math.nan, reason=str(refused))
        if (shares := answers[0]["shares"]) is not None:
            return Judged(float(np.dot(shares, range(low, high + 1))), shares)
        whole = [answer for answer in answers if high < 10 or not _may_go_on(answer)]
        numbers = [number for answer in whole if (number := number_in(answer["text"], low, high)) is not None]
        said = " ".join(answers[0]["text"].split())[:60]
        cut = "cut off by max_tokens=, " if answers[0].get("cut") else ""
        reason = "" if numbers else f"the judge answered {said!r}, {cut}not a number from {low} to {high}"
        return Judged(float(np.mean(numbers)) if numbers else math.nan, None, numbers, reason)

    def _ask(self, draws: Mapping[str, int]) -> dict[str, Refused]:
        """Have so many answers to each question, and return those that the server refused."""
        keys = {self._key(prompt, draw): prompt for prompt, count in draws.items() for draw in range(count)}
        missing = [key for key in keys if key not in self._kept]
        if self._store is not None and missing:
            found = {key: json.loads(text) for key, text in self._store.get(missing).items()}
            self.server.spent.from_file += len(found)
            self._kept |= found
        asked = {key: keys[key] for key in missing if key not in self._kept}
        refused = self._asked(asked)
        if len(refused) == len(asked) > 1 and not self.server.spent.answered:
            why = next(iter(refused.values()))
            raise RewardError(f"judge: endpoint={self.options.endpoint!r}: no question was answered: {why}")
        return {keys[key]: error for key, error in refused.items()}

    def _asked(self, prompts: Mapping[bytes, str]) -> dict[bytes, Refused]:
        """Ask the server, at first one question alone: whether it is there and has probabilities."""
        refused: dict[bytes, Refused] = {}
        try:
            asks = self._asks_for_tokens
            for first in islice(prompts, PROBES):  # several, as one may be refused for its length
                if self.server.spent.answered:
                    break
                now = self._sent({first: prompts[first]})
                if now and asks:  # some servers refuse a question for asking for them
                    self._asks_for_tokens = False
                    now = self._sent({first: prompts[first]})
                    self._asks_for_tokens = bool(now)
                refused |= now
            others = {key: prompt for key, prompt in prompts.items() if key not in self._kept and key not in refused}
            return refused | self._sent(others)
        except RewardError as error:
            done = sum(key in self._kept for key in prompts)
            where = f"in {self.options.file}" if self.options.file else "in memory alone, as no file= is given"
            raise type(error)(f"{error}; {done} of {len(prompts)} answers are there, {where}") from None

    def _sent(self, prompts: Mapping[bytes, str]) -> dict[bytes, Refused]:
        tokens = {"logprobs": True, "top_logprobs": TOP} if self._asks_for_tokens else {}
        return self.server.answers({key: self._body(prompt) | tokens for key, prompt in prompts.items()}, self._keep)

    def _body(self, prompt: str) -> dict[str, Any]:
        """What the server is sent, but for the probabilities that some refuse."""
        options, turns = self.options, [{"role": "user", "content": prompt}]
        how = {"temperature": options.temperature, "max_tokens": options.max_tokens}
        return {"model": options.model, **how, "messages": turns}

    def _keep(self, key: bytes, answer: Mapping[str, Any]) -> None:
        """Called by one thread at a time, as soon as the answer is there."""
        self._kept[key] = kept = {"text": answer["text"], "shares": shares_in(answer, *self.options.ends())}
        kept |= {"cut": True} if answer["cut"] else {}
        if self._store is not None:
            self._store.put({key: json.dumps(kept)})

    def _answers(self, prompt: str) -> list[dict[str, Any]]:
        keys = (self._key(prompt, draw) for draw in range(self.options.draws))
        return [self._kept[key] for key in keys if key in self._kept]

    def _key(self, prompt: str, draw: int) -> bytes:
        low, high = self.options.ends()
        return content_key([json.dumps(self._body(prompt)), f"{low}-{high} {draw}"])


class Asker(PairReward):
    """A reward that asks. ``spent``: what its requests of this process have cost, which is also printed at its end."""

    def __init__(self, options: Any) -> None:
        self.options, self.given = options, options.given
        self.__setstate__(self.__dict__)

    @property
    def heading(self) -> str:
        """`judge consistency MODEL`: the criterion, if it is one of `CRITERIA`, and the model."""
        named = self.options.criterion if self.options.criterion in CRITERIA else ""
        return " ".join(word for word in (self.name, named, self.options.model) if word)

    @property
    def spent(self) -> Spent:
        """Requests and tokens of this process."""
        return self._answers.server.spent

    def pair_reason(self, pair: Any) -> str | None:
        """What the judge answered instead of a number."""
        if pair not in self._reasons and not math.isnan(self.pair_scores([pair])[0]):
            return None
        return self._reasons[pair]

    def _signed(self, own: Mapping[str, object]) -> str:
        """The signature: what a judge has of its ``own``, between the model and how answers are drawn."""
        drawn = {"tokens": self.options.max_tokens, "draws": self.options.draws}
        drawn |= {"temperature": repr(self.options.temperature)}
        return signature(self.name, model=self.options.model, **own, **drawn)

    def _question(self, usual: str, own: Mapping[str, object]) -> str:
        """The prompt of the options, else the ``usual``, with the fields of any judge and its ``own``."""
        return rendered(self.options.prompt or usual, self.options.values() | own)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if not key.startswith("_")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._answers = Answers(self.options)
        self._reasons: dict[Any, str] = {}


def _may_go_on(answer: Mapping[str, Any]) -> bool:
    """Whether an answer was cut off within or behind a number, of which the next token may be a digit."""
    return bool(answer.get("cut")) and answer["text"][-1:].isdigit()


def number_in(text: str, low: int, high: int) -> float | None:
    """The number that an answer is, if it is on the scale: ``4``, ``**4**``, ``The score is 4.``, ``4/5``."""
    read = NUMBER.fullmatch(clean(text).replace("\N{MINUS SIGN}", "-"))
    if read is None or (read[2] is not None and int(read[2]) != high):
        return None
    number = float(read[1])
    return number if low <= number <= high else None


def shares_in(answer: Mapping[str, Any], low: int, high: int) -> list[float] | None:
    """The probabilities of the numbers of the scale at the token that is the answer; None where they are not known."""
    number = number_in(answer["text"], low, high)
    if number is None or low < 0 or high > 9:
        return None
    places = [place for place, token in enumerate(answer["tokens"]) if token.strip() == f"{number:g}"]
    read = NUMBER.fullmatch(clean(answer["text"]))
    if read and read[2] == f"{number:g}":
        places = places[:-1] or places  # of 5/5 the last is the end of the scale
    if not places:
        return None
    shares = dict.fromkeys(map(str, range(low, high + 1)), 0.0)
    for token, log_prob in answer["top"][places[-1]]:
        if token.strip() in shares:
            shares[token.strip()] += math.exp(min(log_prob, 0.0))
    whole = sum(shares.values())
    return [share / whole for share in shares.values()] if whole > 0 else None
