"""What judges answer: one table of kinds. Pages, forms, files, checks and statistics read all they know of it here.

An *answer* to a criterion is a text: the choices of its *parts* in order, separated by spaces. A comparison of two
summaries has one part, a scale has one for each summary. A new kind is an entry of `KINDS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

LETTERS = "ABCDE"  # of the summaries of a task, in the order shown
LEFT, RIGHT, NONE, BAD = "left", "right", "none", "bad"


@dataclass(frozen=True)
class Option:
    """One choice. ``value`` is what forms and files hold; judges read ``label``, hear ``sentence``, press a key.

    ``written``: other words for it in a spreadsheet, in lower case.
    """

    value: str
    label: str
    keys: tuple[str, ...]
    sentence: str
    written: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """Options of which a judge chooses one. ``name``: its ending in names of fields; ``label``: what it is about.

    Both are empty if a kind has one part.
    """

    name: str
    label: str
    options: tuple[Option, ...]


@dataclass(frozen=True, kw_only=True)
class AnswerKind(ABC):
    """What a page shows, what a valid answer is, how it is stored, and what the analysis makes of it.

    ``asks``: what judges are told to do; ``texts``: the fewest and the most summaries at once; ``hint``: stands beside
    each question; ``distinct``: no choice may be made in two parts. ``points``: the largest difference of two summaries
    in points of the scale; 0 if an answer only says which of two is better, so that results are shares of votes.
    """

    asks: str
    texts: tuple[int, int] = (2, 2)
    hint: str = ""
    distinct: bool = False
    points: float = 0.0

    @abstractmethod
    def parts(self, texts: int) -> tuple[Part, ...]:
        """What a page shows below a question about a number of summaries."""

    @abstractmethod
    def scores(self, answer: str, texts: int) -> tuple[float, ...]:
        """A valid answer -> the score of each summary. The largest difference of two scores is 1."""

    def values(self, answer: str, texts: int) -> tuple[float, ...]:
        """The score of each summary in the numbers of the scale; empty if the answer is only a comparison."""
        return ()

    def vote(self, answer: str, texts: int, first: int, second: int) -> float:
        """The preference for summary ``second`` over ``first`` (0..) in [-1, 1]; the sign alone without points."""
        scores = self.scores(answer, texts)
        difference = scores[second] - scores[first]
        return difference if self.points else float((difference > 0) - (difference < 0))

    def fault(self, answer: object, texts: int) -> str:
        """What a valid answer would be, or "" if this is one."""
        parts = self.parts(texts)
        given = answer.split(" ") if isinstance(answer, str) else []
        options = [[option.value for option in part.options] for part in parts]
        if len(given) != len(parts) or any(one not in known for one, known in zip(given, options, strict=False)):
            return f"expected {', '.join(options[0])}" + (f", for each of {len(parts)}" if len(parts) > 1 else "")
        return "expected different ones" if self.distinct and len(set(given)) < len(given) else ""

    def fields(self, name: str, texts: int) -> dict[str, Part]:
        """Name of the form field, or column, of each part of the criterion ``name``."""
        return {f"{name}_{part.name}" if part.name else name: part for part in self.parts(texts)}

    def answer(self, given: Mapping[str, str], name: str, texts: int) -> str:
        """The answer in some fields; "" if a part is missing."""
        values = [given.get(field, "") for field in self.fields(name, texts)]
        return " ".join(values) if all(values) else ""

    def words(self, answer: str, texts: int, translated: Callable[[str], str] = str) -> str:
        """An answer as judges read it."""
        return ", ".join(
            " ".join(translated(word) for word in (part.label, option.label) if word)
            for part, value in zip(self.parts(texts), answer.split(" "), strict=True)
            for option in part.options
            if option.value == value
        )

    def can_tie(self, texts: int) -> bool:
        """Whether a judge can call all summaries equal."""
        return any(len(set(self.scores(answer, texts))) == 1 for answer in self.every(texts))

    def every(self, texts: int) -> Iterator[str]:
        """All valid answers."""
        answers = [""]
        for part in self.parts(texts):
            answers = [f"{answer} {option.value}".strip() for answer in answers for option in part.options]
        return (answer for answer in answers if not self.fault(answer, texts))


@dataclass(frozen=True, kw_only=True)
class Choice(AnswerKind):
    """One choice between two summaries. ``grades``: option -> preference for the right one in [-1, 1]."""

    grades: Mapping[Option, float]

    def parts(self, texts: int) -> tuple[Part, ...]:
        """The options, as they are."""
        return (Part("", "", tuple(self.grades)),)

    def scores(self, answer: str, texts: int) -> tuple[float, ...]:
        """Half the grade, for and against."""
        grade = self._by_value[answer]
        return -grade / 2, grade / 2

    @cached_property
    def _by_value(self) -> dict[str, float]:
        return {option.value: grade for option, grade in self.grades.items()}


@dataclass(frozen=True, kw_only=True)
class Rating(AnswerKind):
    """A Likert scale of ``steps`` for each summary, beside the others, so that a judge's severity is in all of them."""

    steps: int

    def parts(self, texts: int) -> tuple[Part, ...]:
        """A scale for each summary."""
        steps = tuple(Option(str(n), str(n), (str(n),), f"Rating {n}") for n in range(1, self.steps + 1))
        return tuple(Part(letter.lower(), letter, steps) for letter in LETTERS[:texts])

    def scores(self, answer: str, texts: int) -> tuple[float, ...]:
        """The ratings, from 0 to 1."""
        return tuple((int(step) - 1) / (self.steps - 1) for step in answer.split(" "))

    def values(self, answer: str, texts: int) -> tuple[float, ...]:
        """The ratings."""
        return tuple(map(float, answer.split(" ")))


@dataclass(frozen=True, kw_only=True)
class Ranking(AnswerKind):
    """A rank for each summary, 1 for the best. Equal ranks are ties."""

    def parts(self, texts: int) -> tuple[Part, ...]:
        """Ranks for each summary."""
        ranks = tuple(Option(str(n), str(n), (str(n),), f"Rank {n}") for n in range(1, texts + 1))
        return tuple(Part(letter.lower(), letter, ranks) for letter in LETTERS[:texts])

    def scores(self, answer: str, texts: int) -> tuple[float, ...]:
        """The ranks turned round, from 0 to 1."""
        return tuple((texts - int(rank)) / (texts - 1) for rank in answer.split(" "))

    def values(self, answer: str, texts: int) -> tuple[float, ...]:
        """Where each is among the others, 1 for the first; those of one rank share the mean of their places."""
        ranks = [int(rank) for rank in answer.split(" ")]
        return tuple(sum(other < rank for other in ranks) + (ranks.count(rank) + 1) / 2 for rank in ranks)


@dataclass(frozen=True, kw_only=True)
class BestWorst(AnswerKind):
    """The best and the worst of several summaries (best-worst scaling, Louviere et al. 2015)."""

    def parts(self, texts: int) -> tuple[Part, ...]:
        """All summaries, twice."""
        options = tuple(Option(letter, letter, (str(n),), f"Summary {letter}") for n, letter in enumerate(LETTERS, 1))
        return Part("best", "Best", options[:texts]), Part("worst", "Worst", options[:texts])

    def scores(self, answer: str, texts: int) -> tuple[float, ...]:
        """1 for the best, 0 for the worst, one half for the others."""
        return tuple((1 + value) / 2 for value in self.values(answer, texts))

    def values(self, answer: str, texts: int) -> tuple[float, ...]:
        """1 for the best, -1 for the worst, 0 for the others."""
        best, worst = answer.split(" ")
        return tuple(float((letter == best) - (letter == worst)) for letter in LETTERS[:texts])


_A = Option(LEFT, "A", ("1", "a"), "Summary A is better")
_B = Option(RIGHT, "B", ("2", "b"), "Summary B is better")
_NONE = Option(NONE, "No difference", ("0", "n"), "No difference", ("tie", "=", "'="))
_BAD = Option(BAD, "Both are bad", ("9", "x"), "Both are bad")
_MUCH_A = Option("much-left", "A much", ("1",), "Summary A is much better")
_SLIGHTLY_A = Option("left", "A slightly", ("2",), "Summary A is slightly better")
_SLIGHTLY_B = Option("right", "B slightly", ("3",), "Summary B is slightly better")
_MUCH_B = Option("much-right", "B much", ("4",), "Summary B is much better")
_COMPARE = "Choose 'no difference' where you cannot tell them apart in that way."
_NOT_GOOD = "Choose 'both are bad' where neither is good enough to be of use."
_STRENGTH = {_MUCH_A: -1.0, _SLIGHTLY_A: -0.5, _NONE: 0.0}, {_SLIGHTLY_B: 0.5, _MUCH_B: 1.0}
_RATE = "Rate every summary for itself on each question."

# Name -> kind. Criteria name their kind; `pair` is the default.
PAIR = "pair"
KINDS: Mapping[str, AnswerKind] = {
    "pair": Choice(asks=_COMPARE, grades={_A: -1.0, _NONE: 0.0, _B: 1.0}),
    "pair-bad": Choice(asks=f"{_COMPARE} {_NOT_GOOD}", grades={_A: -1.0, _NONE: 0.0, _BAD: 0.0, _B: 1.0}),
    "strength": Choice(asks=_COMPARE, points=2, grades={**_STRENGTH[0], **_STRENGTH[1]}),
    "strength-bad": Choice(
        asks=f"{_COMPARE} {_NOT_GOOD}", points=2, grades={**_STRENGTH[0], _BAD: 0.0, **_STRENGTH[1]}
    ),
    "likert-5": Rating(asks=_RATE, texts=(2, 5), hint="1 is the lowest, 5 the highest.", points=4, steps=5),
    "likert-7": Rating(asks=_RATE, texts=(2, 5), hint="1 is the lowest, 7 the highest.", points=6, steps=7),
    "ranking": Ranking(
        asks="Give each summary a rank.", texts=(2, 5), hint="1 is the best. Several may have the same rank."
    ),
    "best-worst": BestWorst(
        asks="Choose the best and the worst summary.", texts=(3, 5), hint="Best and worst must differ.",
        distinct=True, points=2,
    ),
}  # fmt: skip


def written(options: Sequence[Option]) -> dict[str, str]:
    """What people write into a spreadsheet, in lower case -> value."""
    return {
        text: option.value
        for option in options
        for text in (option.value, option.label.lower(), *filter(str.isalpha, option.keys), *option.written)
    }
