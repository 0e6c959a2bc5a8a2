"""What is written down before anyone judges: the text to deposit, and the table of scenarios in it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from human_eval.formatting import counted, percentage
from human_eval.planning.plan import ScenarioPower, StudyPlan
from rlsum.pages.markdown import to_markdown
from rlsum.pages.table import Cell, Table

WIDTH = 100  # characters a line of the text to deposit


def preregistration(made: StudyPlan, criteria: Sequence[str]) -> str:
    """The text to deposit before the first judgment, as Markdown; what only the authors know stands in brackets."""
    design, assumed = made.design, made.assumptions
    others = [criterion for criterion in criteria if criterion != design.primary]
    tested = "one comparison" if design.pairs == 1 else counted(design.pairs, "comparison")
    items, judges = counted(design.items or 0, "item"), counted(design.judges, "judge")
    text = f"""# Pre-registration of a study with human judges

Fill in what stands in [brackets] and deposit this before the first judgment is made.

**Question.** Which of the systems [names] do people prefer? [Why this is asked.]

**Design.** {items}, drawn at random with a seed from [the test set]; {tested} of two systems on each; {judges} for
each. Judges see the article and both texts without names, left and right balanced at random, and answer: left, right,
or no difference. Where both texts are equal nobody is asked and it counts as no difference.
Judges: [who, how found, how paid].

**Primary criterion.** {design.primary}: [its question, word for word]. Secondary: {", ".join(others) or "none"}.

**Test.** The item is the unit: its mean preference over its judges, a vote for no difference being half a vote for
each system. Two-sided sign-flip permutation test of these means at {design.alpha:g}; Holm's correction over all
comparisons on the primary criterion, and over those on all secondary criteria together. Reported with it: the share of
each system with a 95% interval (bootstrap of items), the same without the votes for no difference, and the agreement of
the judges. A p-value above {design.alpha:g} is reported as no difference detected, with the interval that says how
large a difference remains possible.

**Exclusions.** {_sentence(design.rules.told())} All preferences are also reported with nobody left out.

**Number of items.** With {items} and {judges} for each, a preference of {percentage(assumed.preference)} against
{percentage(1 - assumed.preference)} among votes for one of the two is found with a probability of {made.power:.0%},
where {percentage(assumed.ties)} of the votes are for neither and two votes on one item correlate by
{assumed.correlation:.2f} ({made.source}; {made.draws:,} simulated studies, seed {made.seed}, tested at
{design.alpha / design.pairs:.4g}).{" What the same number finds where votes are otherwise:" if made.outlooks else ""}

{to_markdown([scenario_table(made)]) if made.outlooks else ""}

**Stopping.** Judgments are collected until every comparison has its {judges}, and no later. Nobody looks at which
system is ahead before that.

**Date.** [date]"""
    return "\n\n".join(map(_filled, filter(None, text.split("\n\n")))) + "\n"


def scenario_table(made: StudyPlan) -> Table:
    """One row a scenario: what is assumed, the items it needs, and what the plan's items find."""
    design = made.design
    rows = tuple(
        (
            Cell(each.scenario.name),
            Cell(percentage(each.scenario.assumptions.preference)),
            Cell(percentage(each.scenario.assumptions.ties)),
            Cell(f"{each.scenario.assumptions.correlation:.2f}"),
            Cell(f"{each.scenario.judges:,}"),
            Cell(needed(each, design.power)),
            Cell(f"{each.power:.0%}"),
        )
        for each in made.outlooks
    )
    header = ("scenario", "preference", "ties", "correlation", "judges", f"items for a power of {design.power:.0%}")
    notes = (f"The study is planned for the first row, {made.outlooks[0].scenario.name}.",)
    return Table("Scenarios", (*header, f"power with {counted(design.items or 0, 'item')}"), rows, notes)


def needed(outlook: ScenarioPower, power: float) -> str:
    """How many items a scenario needs, in a word."""
    items = outlook.curve.needed(power)
    return f"{items:,}" if items is not None else f"> {outlook.curve.items[-1]:,}"


def _filled(paragraph: str) -> str:
    """A paragraph in lines of one width, no word cut; the lines of a table stay."""
    return (
        paragraph
        if paragraph.startswith("|")
        else fill(paragraph, WIDTH, break_long_words=False, break_on_hyphens=False)
    )


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
