"""What judges answer: one table of kinds. Pages, forms, files, checks, plans and statistics read it here.

An *answer* to a criterion is a text: the choices of its *parts* in order, separated by spaces. A comparison of two
summaries has one part, a scale has one for each summary. A new kind is an entry of `KINDS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LETTERS = "ABCDE"  # of the summaries of a task, in the order shown
LEFT, RIGHT, NONE, BAD = "left", "right", "none", "bad"
COMMON = 0.5  # standard deviation of what all texts of an item share, as a share of that of a text; assumed


@dataclass(frozen=True)
class Option:
    """One choice. ``value`` is what forms and files hold; judges read ``label``, hear ``sentence``, press a key.

    In a sentence, ``{n}`` stands for the value. ``written``: other words for it in a spreadsheet, in lower case.
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

    @property
    def values(self) -> list[str]:
        """What forms and files hold."""
        return [option.value for option in self.options]


@dataclass(frozen=True, kw_only=True)
class AnswerKind(ABC):
    """What a page shows, what a valid answer is, how it is stored, and what checks, plans and the analysis make of it.

    ``asks``: what judges are told to do; ``texts``: the fewest and the most summaries at once; ``distinct``: no choice
    may be made in two parts, as ``hint`` says; ``by_itself``: questions are about each summary, not about which is
    better. ``points``: the largest difference of two summaries in points of the scale; 0 if an answer only says which
    of two is better, so that results are shares of votes. ``hint``: see `hinted`.
    """

    asks: str
    texts: tuple[int, int] = (2, 2)
    hint: str = ""
    distinct: bool = False
    by_itself: bool = False
    points: float = 0.0

    @property
    def is_vote(self) -> bool:
        """Whether an answer is a vote for one of two summaries, or for neither, and no more."""
        return not self.points and self.texts[1] == 2

    def hinted(self, translated: Callable[..., str] = str.format) -> str:
        """What stands beside each question, with the ends of the scale."""
        options = self.parts(self.texts[1])[0].options
        return translated(self.hint, least=options[0].label, most=options[-1].label)

    @abstractmethod
    def parts(self, texts: int) -> tuple[Part, ...]:
        """What a page shows below a question about a number of summaries."""

    @abstractmethod
    def scores(self, answer: str, texts: int) -> tuple[float, ...]:
        """A valid answer -> the score of each summary. The largest difference of two scores is 1."""

    def values(self, answer: str, places: Sequence[int]) -> tuple[float, ...]:
        """The value of each system in the numbers of the scale; empty if the answer is only a comparison.

        ``places``: of the summary of each system (0..); systems that wrote the same text share one.
        """
        return ()

    def ends(self, systems: int) -> tuple[float, float]:
        """The smallest and the largest of the `values` of so many systems; both 0 if there are none."""
        return 0.0, 0.0

    def vote(self, answer: str, texts: int, first: int, second: int) -> float:
        """The preference for summary ``second`` over ``first`` (0..) in [-1, 1]; the sign alone without points."""
        scores = self.scores(answer, texts)
        difference = scores[second] - scores[first]
        return difference if self.points else float((difference > 0) - (difference < 0))

    def fault(self, answer: object, texts: int) -> str:
        """What a valid answer would be, or "" if this is one."""
        parts = self.parts(texts)
        words = answer.split(" ") if isinstance(answer, str) else []
        if len(words) != len(parts) or any(word not in part.values for word, part in zip(words, parts, strict=True)):
            return f"expected {', '.join(parts[0].values)}" + (f", for each of {len(parts)}" if len(parts) > 1 else "")
        return "expected different ones" if self.distinct and len(set(words)) < len(words) else ""

    def fields(self, name: str, texts: int) -> dict[str, Part]:
        """Name of the form field, or column, of each part of the criterion ``name``."""
        return {f"{name}_{part.name}" if part.name else name: part for part in self.parts(texts)}

    def answer(self, form: Mapping[str, str], name: str, texts: int) -> str:
        """The answer in some fields; "" if a part is missing."""
        values = [form.get(field, "") for field in self.fields(name, texts)]
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
        return self.clicks(texts)[2] > 0

    def clicks(self, texts: int) -> tuple[float, float, float, float]:
        """What judges answer who do not read, as shares of all answers: those that prefer the second summary, call it
        equal to the first, call all equal; and the largest share of ordered pairs of summaries that one answer decides.
        """
        scores = [self.scores(answer, texts) for answer in self.every(texts)]
        pairs = list(permutations(range(texts), 2))
        better = sum(row[1] > row[0] for row in scores) / len(scores)
        tied = sum(row[1] == row[0] for row in scores) / len(scores)
        equal = sum(len(set(row)) == 1 for row in scores) / len(scores)
        most = max(sum(row[first] > row[second] for first, second in pairs) for row in scores)
        return better, tied, equal, most / len(pairs)

    def simulated(self, worth: Floats, gap: float, tie: float, strong: float, generator: np.random.Generator) -> Floats:
        """The `vote` on the first two texts (...,) of judges to whom texts are ``worth`` (..., texts) so much.

        The unit is the standard deviation of a difference. The second text is worth ``gap`` more on average. Judges see
        no difference below ``tie``, and half of the differences that they see are above ``strong``.
        """
        ahead = worth[..., 1] - worth[..., 0]
        return (ahead > 0).astype("float64") - (ahead < 0)

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

    def simulated(self, worth: Floats, gap: float, tie: float, strong: float, generator: np.random.Generator) -> Floats:
        """Votes; graded ones are half as strong where the difference is not strong."""
        size = abs(worth[..., 1] - worth[..., 0])
        steps = 0.5 * (size > tie) + 0.5 * (size > max(tie, strong if self.points else 0.0))
        return super().simulated(worth, gap, tie, strong, generator) * steps

    @cached_property
    def _by_value(self) -> dict[str, float]:
        return {option.value: grade for option, grade in self.grades.items()}


@dataclass(frozen=True, kw_only=True)
class Scale(AnswerKind):
    """A whole number for each summary, from 1 on; ``word``: what it is called."""

    word: str

    @abstractmethod
    def most(self, texts: int) -> int:
        """The largest number."""

    def ends(self, systems: int) -> tuple[float, float]:
        """The first number and the largest."""
        return 1.0, float(self.most(systems))

    def parts(self, texts: int) -> tuple[Part, ...]:
        """A scale for each summary."""
        numbers = range(1, self.most(texts) + 1)
        steps = tuple(Option(str(n), str(n), (str(n),), f"{self.word} {{n}}") for n in numbers)
        return tuple(Part(letter.lower(), letter, steps) for letter in LETTERS[:texts])

    def clicks(self, texts: int) -> tuple[float, float, float, float]:
        """The same shares by a formula: there are too many answers to count."""
        most = self.most(texts)
        groups = [texts // most + (number < texts % most) for number in range(most)]  # of summaries called equal
        apart = (texts**2 - sum(size**2 for size in groups)) / 2
        return (1 - 1 / most) / 2, 1 / most, most ** (1 - texts), apart / (texts * (texts - 1))


@dataclass(frozen=True, kw_only=True)
class Rating(Scale):
    """A Likert scale of ``steps`` for each summary, beside the others, so that a judge's severity is in all of them."""

    steps: int
    word: str = "Rating"
    hint: str = "{least} is the lowest, {most} the highest."
    by_itself: bool = True

    def most(self, texts: int) -> int:
        """The last step."""
        return self.steps

    def scores(self, answer: str, texts: int) -> tuple[float, ...]:
        """The ratings, from 0 to 1."""
        return tuple((int(step) - 1) / (self.steps - 1) for step in answer.split(" "))

    def values(self, answer: str, places: Sequence[int]) -> tuple[float, ...]:
        """The ratings."""
        ratings = answer.split(" ")
        return tuple(float(ratings[place]) for place in places)

    def simulated(self, worth: Floats, gap: float, tie: float, strong: float, generator: np.random.Generator) -> Floats:
        """Differences of ratings around the middle of the scale; what all texts of an item share, shifts all."""
        middle, step = (1 + self.steps) / 2, (self.steps - 1) / 4 * 2**0.5
        common = COMMON * generator.normal(size=worth.shape[:-1])[..., None] / 2**0.5
        ratings = (middle + step * (worth[..., :2] - gap / 2 + common)).round().clip(1, self.steps)
        return (ratings[..., 1] - ratings[..., 0]) / self.points


@dataclass(frozen=True, kw_only=True)
class Ranking(Scale):
    """A rank for each summary, 1 for the best. Equal ranks are ties."""

    word: str = "Rank"

    def most(self, texts: int) -> int:
        """The last rank."""
        return texts

    def scores(self, answer: str, texts: int) -> tuple[float, ...]:
        """The ranks turned round, from 0 to 1."""
        return tuple((texts - int(rank)) / (texts - 1) for rank in answer.split(" "))

    def values(self, answer: str, places: Sequence[int]) -> tuple[float, ...]:
        """The rank of each system, 1 for the first; systems of equal rank share the mean of their ranks."""
        given = answer.split(" ")
        ranks = [int(given[place]) for place in places]
        return tuple(sum(value < rank for value in ranks) + (ranks.count(rank) + 1) / 2 for rank in ranks)


@dataclass(frozen=True, kw_only=True)
class BestWorst(AnswerKind):
    """The best and the worst of several summaries (best-worst scaling, Louviere et al. 2015)."""

    def parts(self, texts: int) -> tuple[Part, ...]:
        """All summaries to choose the best from, and again the worst."""
        options = tuple(Option(letter, letter, (str(n),), "Summary {n}") for n, letter in enumerate(LETTERS, 1))
        return Part("best", "Best", options[:texts]), Part("worst", "Worst", options[:texts])

    def scores(self, answer: str, texts: int) -> tuple[float, ...]:
        """1 for the best, 0 for the worst, one half for the others."""
        return tuple((1 + value) / 2 for value in self.values(answer, range(texts)))

    def values(self, answer: str, places: Sequence[int]) -> tuple[float, ...]:
        """1 for the best, -1 for the worst, shared by the systems that wrote it; 0 for the others."""
        best, worst = (LETTERS.index(letter) for letter in answer.split(" "))
        return tuple(((place == best) - (place == worst)) / places.count(place) for place in places)

    def ends(self, systems: int) -> tuple[float, float]:
        """Those of the worst and the best."""
        return -1.0, 1.0

    def simulated(self, worth: Floats, gap: float, tie: float, strong: float, generator: np.random.Generator) -> Floats:
        """Differences of 1 for the text worth most and -1 for that worth least."""
        best, worst = worth.argmax(-1), worth.argmin(-1)
        first, second = (1.0 * (best == text) - (worst == text) for text in (0, 1))
        return (second - first) / self.points


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
    "likert-5": Rating(asks=_RATE, texts=(2, 5), points=4, steps=5),
    "likert-7": Rating(asks=_RATE, texts=(2, 5), points=6, steps=7),
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
