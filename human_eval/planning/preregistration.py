"""The pre-registration of a plan, and its table of scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from textwrap import fill

from human_eval.answers import KINDS
from human_eval.formatting import counted, percentage
from human_eval.planning.design import PlannedDesign
from human_eval.planning.graded import points_of
from human_eval.planning.plan import ScenarioPower, StudyPlan
from human_eval.planning.recruitment import in_words
from human_eval.planning.scenarios import COLUMNS
from human_eval.statistics.settings import LIKE_THESE, THESE
from rlsum.pages.markdown import to_markdown
from rlsum.pages.table import Table, text_table

WIDTH = 100  # characters per line
TESTS: Mapping[str, str] = {
    LIKE_THESE: (
        "A t test with items and judges both as random samples (Obuchowski and Rockette 1995): would "
        "other judges on other articles prefer a system?"
    ),
    THESE: (
        "A sign-flip permutation test of the items' mean votes: would the same judges prefer a system on other "
        "articles?"
    ),
}
ALSO: Mapping[str, str] = {
    LIKE_THESE: "A preference is claimed only where another test detects it, too,",
    THESE: "Also reported: another test,",
}
OTHER: Mapping[str, str] = {LIKE_THESE: THESE, THESE: LIKE_THESE}


def preregistration(plan: StudyPlan, criteria: Sequence[str]) -> str:
    """The pre-registration as Markdown, to deposit before the first judgment. The authors fill in the brackets."""
    design, assumed = plan.design, plan.assumptions
    others = [criterion for criterion in criteria if criterion != design.primary]
    tested = "one comparison" if design.pairs == 1 else counted(design.pairs, "comparison")
    items, judges = counted(design.items or 0, "item"), counted(design.judges, "judge")
    people = counted(design.people(design.items or 0, design.judges), "person", "people")
    spare = " and the spare booklets are judged" if plan.recruitment.spare else ""
    rules = plan.rules.in_words()
    text = f"""# Pre-registration of a study with human judges

Fill in the [brackets] and deposit this text before the first judgment.

**Question.** Which of the systems [names] do people prefer? [Why this is asked.]

**Design.** {items}, sampled at random with a seed from [the test set]; {tested} of two systems on each; {judges} for
each, {people} in all, with at most {design.booklet} tasks for one. {_shown(design)} Two equal texts are not judged and
count as no difference.

**Judges.** [Who, how recruited, how paid.] {in_words(plan.effort, plan.recruitment)}.

**Primary criterion.** {design.primary}: [its question, word for word]. Secondary: {", ".join(others) or "none"}.

**Test.** The verdict is about {design.about}. {TESTS[design.about]} {_counted(design)}
Every item has the same weight. Two-sided, at {design.alpha:g}, with Holm's correction over all comparisons
on the primary criterion, and separately over those on all secondary criteria. {ALSO[design.about]}
{TESTS[OTHER[design.about]][0].lower()}{TESTS[OTHER[design.about]][1:]} A preference that is not detected without one
judge, and is then less than two thirds as large, is not claimed. Also reported: the share of each system with
simultaneous intervals that agree with the tests, the results without votes for no difference, and the agreement of the
judges. A p-value above {design.alpha:g} is reported as no difference detected, with the interval that shows how large a
difference remains possible.

**Exclusions.** {rules[0].upper()}{rules[1:]}. All preferences are also reported without exclusions.

**Number of items.** With {items} and {judges} for each, a preference of {percentage(assumed.preference)} against
{percentage(1 - assumed.preference)} among votes for one of the two{_in_points(plan)} is detected with a probability of
{plan.power:.0%},
if {percentage(assumed.ties)} of the votes are for neither, two votes on one item have a correlation of
{assumed.correlation:.2f} and the judges' own shares have a standard deviation of {assumed.spread:.2f} ({plan.source};
{plan.draws:,} simulated studies, seed {plan.seed}, tested at {design.alpha / design.pairs:.4g}).
{"Power of the same number of items in other scenarios:" if plan.outlooks else ""}

{to_markdown([scenario_table(plan)]) if plan.outlooks else ""}

**Stopping.** Judgments are collected until every comparison has its {judges}{spare}, and no longer. Nobody looks at
which system leads before that.

**Date.** [date]"""
    return "\n\n".join(map(_filled, filter(None, text.split("\n\n")))) + "\n"


def _shown(design: PlannedDesign) -> str:
    """What judges see and answer."""
    kind = KINDS[design.answers]
    if kind.texts[1] == 2:
        options = ", ".join(option.label for option in kind.parts(2)[0].options)
        return (
            "Judges read the article and both texts without names, with left and right balanced at random, and answer: "
            f"{options}."
        )
    shown = f"Judges read the article and {design.texts} texts at once without names, in random order."
    return f"{shown} {kind.asks} {kind.hinted()}"


def _counted(design: PlannedDesign) -> str:
    """What an answer counts."""
    kind = KINDS[design.answers]
    if points := kind.points:
        return f"Tested are the differences of two systems within each judge's answer, at most {points:g} points."
    votes = "" if kind.is_vote else "A ranking is a vote on each of its pairs. "
    return f"{votes}A vote for no difference is half a vote for each system."


def _in_points(plan: StudyPlan) -> str:
    """The difference that the preference amounts to on the scale."""
    design = plan.design
    if not KINDS[design.answers].points:
        return ""
    return f", which is {points_of(plan.assumptions, design.answers, design.texts):.2f} points in the simulation,"


def scenario_table(plan: StudyPlan) -> Table:
    """One row a scenario: its assumptions, the items it needs, and the power of the planned items."""
    design = plan.design
    rows = []
    for outlook in plan.outlooks:
        scenario = outlook.scenario
        assumed = [
            percentage(value) if name in ("preference", "ties") else f"{value:.2f}"
            for name, value in asdict(scenario.assumptions).items()
        ]
        power = f"{outlook.power:.0%}"
        rows.append((scenario.name, *assumed, f"{scenario.judges:,}", needed(outlook, design.power), power))
    header = (*COLUMNS, f"items for a power of {design.power:.0%}", f"power with {counted(design.items or 0, 'item')}")
    note = f"The study is planned for the first row, {plan.outlooks[0].scenario.name}."
    return text_table("Scenarios", header, rows, [note])


def needed(outlook: ScenarioPower, power: float) -> str:
    """The number of items that a scenario needs, such as 260 or > 500."""
    items = outlook.curve.needed(power)
    return f"{items:,}" if items is not None else f"> {outlook.curve.items[-1]:,}"


def _filled(paragraph: str) -> str:
    """A paragraph in lines of at most `WIDTH`; tables stay as they are."""
    if paragraph.startswith("|"):
        return paragraph
    return fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)
