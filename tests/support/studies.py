"""Small studies to test with."""

from __future__ import annotations

from human_eval.criteria import StudyWording
from human_eval.design.build import build
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import AlignedOutputs, align
from human_eval.study import Study, StudyKey
from rlsum.records import Output

NAMES = ("rouge_model", "sms_model", "lead_model")

# Markup, scripts, formulas, other directions, long words and long texts: all of it is text to a judge.
HOSTILE = (
    "<script>document.title = 'run'</script><img src=x onerror=\"document.title='run'\">",
    "</script><script>document.title = 'run'</script><!-- ]]> -->",
    "</textarea></p></main></html>{{ 7 * 7 }} ${article} {% raw %}",
    '=HYPERLINK("http://example.org?x="&A1,"open")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "-2+3\n+4\n\t=1",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, \u0645\u0631\u062d\u0628\u0627 \u202e reversed",
    "\U0001f600 caf\u00e9 \u2028 line separator \x00 null \ufffe none",
    "x" * 100_000,
    "a b c " * 20_000,
)


def outputs(items: int = 12, systems: int = 2) -> list[Output]:
    """What ``systems`` wrote of ``items`` articles, all different and long enough for every check."""
    words = "one two three four five six seven eight nine ten"
    return [
        Output(
            id=f"article-{item}",
            source=f"The story of case {item} .\nIt has a second line , which is {words} .",
            references=(),
            candidate=f"summary {number} of case {item} : {words} .\nand more of {number} .",
            system=NAMES[number],
        )
        for number in range(systems)
        for item in range(items)
    ]


def aligned(items: int = 12, systems: int = 2) -> AlignedOutputs:
    return align([(f"{output.system}.jsonl", output) for output in outputs(items, systems)])


def study(
    items: int = 6, systems: int = 2, *, seed: int = 1, booklet: int = 3, judges: int = 2
) -> tuple[Study, StudyKey]:
    design = StudyDesign(items=items, judges=judges, booklet=booklet, identical=1, shuffled=1, swapped=1)
    return build(aligned(items + 4, systems), design, StudyWording(), seed)


def hostile_study() -> Study:
    """Every hostile text as an article and as a summary, one booklet."""
    made = [
        Output(f"article-{n}", text, (), text if system == NAMES[0] else f"{text} {n}", system)
        for system in NAMES[:2]
        for n, text in enumerate(HOSTILE)
    ]
    design = StudyDesign(items=len(HOSTILE), judges=1, booklet=len(HOSTILE), identical=0, shuffled=0, swapped=0)
    return build(align([("hostile.jsonl", output) for output in made]), design, StudyWording(), 1)[0]
