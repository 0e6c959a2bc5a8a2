"""The two sets of judged texts: machine summaries with references, and essays with a best-scored one as reference."""

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
JUDGES = 2  # the minimum per summary
SENTENCES = "5-15"
BEST = 3.0


def summaries(path: Path) -> Judgments:
    """Chaganty et al. 2018: summaries of four systems with at least two judges."""
    judgments = load(f"chaganty2018:{path}")
    kept = tuple(row for row in judgments.rows if len(row.raw_scores["overall"]) >= JUDGES)
    few = len(judgments.rows) - len(kept)
    left_out = {**judgments.left_out, **({f"with fewer than {JUDGES} judges": few} if few else {})}
    return replace(judgments, name=SUMMARIES, rows=kept, left_out=left_out)


def essays(path: Path, reference: str = "") -> Judgments:
    """ASAP-AES set 3, essays of 5 to 15 sentences, compared with the essay of id ``reference``.

    The default is the longest with the best score from both raters, because no official reference is public.
    """
    chosen = {"reference_ids": reference} if reference else {"references": 1}
    return replace(load(f"asap-aes:{path}", sentences=SENTENCES, **chosen), name=ESSAYS)


def best_essays(path: Path, count: int, seed: int) -> list[str]:
    """The ids of ``count`` essays of 5 to 15 sentences with the best score from every rater, drawn with ``seed``.

    Raises UserError if there are fewer.
    """
    rows = load(f"asap-aes:{path}", sentences=SENTENCES, references=0).rows
    best = sorted(row.id for row in rows if all(score == BEST for score in row.raw_scores["overall"]))
    if len(best) < count:
        counts = f"{len(best)} best-scored essays of {SENTENCES} sentences"
        raise UserError(f"{path}: {counts}; give --references {len(best)} or fewer, not {count}")
    return sorted(np.random.default_rng(seed).choice(best, count, replace=False).tolist())


def against_each(path: Path, ids: Sequence[str]) -> dict[str, Judgments]:
    """The essays that are not in ``ids``, compared with each of ``ids``."""
    by_reference = {name: essays(path, name) for name in ids}
    return {
        name: replace(judgments, rows=tuple(row for row in judgments.rows if row.id not in by_reference))
        for name, judgments in by_reference.items()
    }
