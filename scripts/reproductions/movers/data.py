"""The two kinds of judged texts: machine summaries with their references, and essays with a best-scored one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rlsum.errors import UserError
from rlsum.judgments.collection import Judgments
from rlsum.judgments.registry import load

SUMMARIES, ESSAYS = "summaries", "essays"
FILES = {SUMMARIES: "chaganty2018_cnndm/cnndm_lqual.tsv.gz", ESSAYS: "asap_aes_set3/asap_aes_set3.tsv.gz"}
JUDGES = 2  # the fewest of a summary
SENTENCES = "5-15"
BEST = 3.0


def summaries(path: Path) -> Judgments:
    """Chaganty et al. 2018: summaries of four systems that two or more judges scored."""
    found = load(f"chaganty2018:{path}")
    kept = tuple(row for row in found.rows if len(row.raw_scores["overall"]) >= JUDGES)
    few = len(found.rows) - len(kept)
    left_out = {**found.left_out, **({f"with fewer than {JUDGES} judges": few} if few else {})}
    return replace(found, name=SUMMARIES, rows=kept, left_out=left_out)


def essays(path: Path, reference: str = "") -> Judgments:
    """ASAP-AES set 3, essays of 5 to 15 sentences, compared with the essay of id ``reference``.

    By default with the longest to which both raters gave the best score: no official reference essay is public.
    """
    chosen = {"reference_ids": reference} if reference else {"references": 1}
    return replace(load(f"asap-aes:{path}", sentences=SENTENCES, **chosen), name=ESSAYS)


def best_essays(path: Path, count: int, seed: int) -> list[str]:
    """The ids of ``count`` essays of 5 to 15 sentences to which every rater gave the best score, drawn with ``seed``.

    Raises UserError where there are fewer.
    """
    rows = load(f"asap-aes:{path}", sentences=SENTENCES, references=0).rows
    best = sorted(row.id for row in rows if all(score == BEST for score in row.raw_scores["overall"]))
    if len(best) < count:
        raise UserError(f"{path}: {len(best)} best-scored essays of {SENTENCES} sentences; {count} were asked for")
    return sorted(np.random.default_rng(seed).choice(best, count, replace=False).tolist())


def against_each(path: Path, ids: Sequence[str]) -> dict[str, Judgments]:
    """The same essays, none of ``ids`` among them, compared with each of ``ids`` in turn."""
    found = {each: essays(path, each) for each in ids}
    return {
        each: replace(judgments, rows=tuple(row for row in judgments.rows if row.id not in found))
        for each, judgments in found.items()
    }
