"""Analyse the head-to-head judgments of Zhang et al. (2023) like a study in `rlsum human-eval analyse`.

    OMP_NUM_THREADS=1 python scripts/reproduce.py zhang2023 zhang2023_pairwise.json.gz -o zhang2023

A writer's summary is compared with a model's. The item is the article; some articles have summaries by several writers,
which are compared with the same summary of the model. The sides of the summaries are not published.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from human_eval.report.card import summary, write_card
from human_eval.report.tables import all_tables
from human_eval.statistics.analysis import Analysis, AnalysisSettings, analyse
from human_eval.statistics.imported import votes_of
from human_eval.statistics.random_judges import random_judges
from human_eval.statistics.votes import matrix
from rlsum.judgments.public.pairwise import zhang2023
from rlsum.pages.table import Cell, Table, p_text
from rlsum.pages.terminal import show


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(
        "reproduce.py zhang2023", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("judgments", type=Path, help="the authors' JSON, gzip or not")
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder of the verdict card")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    found = analyse(votes_of(zhang2023(options.judgments)), AnalysisSettings("overall", seed=options.seed))
    write_card(found, options.out)
    show([*summary(found), *all_tables(found), length_table(found)], Console(width=120))


def length_table(analysis: Analysis) -> Table:
    """The share of votes for the longer text among judges like these, one row a criterion."""
    rows = []
    for criterion in analysis.votes.criteria:
        votes = [vote for vote in analysis.kept.of(criterion) if vote.longer]
        judged = matrix(votes, lambda vote: vote.preference * vote.longer)
        found = random_judges(judged.values, items=judged.items)
        share = Cell(f"{100 * found.share:.1f}", f"{100 * found.low:.1f} to {100 * found.high:.1f}")
        rows.append((Cell(criterion), share, Cell(p_text(found.p)), Cell(f"{found.spread:.3f}")))
    return Table("Judges like these", ("criterion", "longer text chosen, %", "p", "spread of judges"), tuple(rows))
