"""Studies of graded answers, and what judges who agree on the worth of each text answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from studies import NAMES, outputs

from human_eval.answers import KINDS
from human_eval.criteria import standard
from human_eval.design.build import build
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import align

WORTH = dict(zip(sorted(NAMES), (1, 2, 4), strict=True))


@dataclass(frozen=True)
class Worth:
    """``of`` each system, and of each text; words in disorder are worth nothing."""

    of: dict[str, int]
    texts: dict[str, int]

    def seen(self, texts):
        """The worth of texts as a page shows them."""
        return [self.texts.get(" ".join(text.split()), 0) for text in texts]


def built(name, systems=3, items=3, judges=2):
    """A study of ``judges`` booklets, its key, and what each text is worth."""
    rows = [replace(row, candidate=row.candidate.replace(":", ";")) for row in outputs(items + 6, systems)]
    texts = {" ".join(row.candidate.split()): WORTH[row.system] for row in rows}
    kind = KINDS[name]
    shown = systems if kind.texts[1] > 2 else 2
    if shown == 2:
        rows = [row for row in rows if row.system in NAMES[:2]]
    design = StudyDesign(items, None, judges, items, identical=int(kind.can_tie(shown)), shuffled=1)
    wording = standard(name, shown)
    wording = replace(wording, criteria=wording.criteria[2:])
    study, key = build(align([(row.system, row) for row in rows]), design, wording, seed=2)
    return study, key, Worth({system: WORTH[system] for system in key.systems}, texts)


def answer_of(name, worth):
    """What a judge answers who finds texts worth these whole numbers, 0 to 4."""
    if name.startswith(("pair", "strength")):
        step = worth[1] - worth[0]
        much = "much-" if abs(step) > 1 and name.startswith("strength") else ""
        return f"{much}{'right' if step > 0 else 'left'}" if step else "none"
    if name.startswith("likert"):
        return " ".join(str(1 + each) for each in worth)
    if name == "ranking":
        return " ".join(str(1 + sum(other > each for other in worth)) for each in worth)
    return " ".join("ABCDE"[worth.index(end(worth))] for end in (max, min))


def seen_keys(name, worth):
    """Texts -> the key of each part of one question."""

    def choose(texts):
        parts = KINDS[name].parts(len(texts))
        values = answer_of(name, worth.seen(texts)).split(" ")
        options = [
            next(option for option in part.options if option.value == value)
            for part, value in zip(parts, values, strict=True)
        ]
        return [option.keys[0] for option in options]

    return choose
