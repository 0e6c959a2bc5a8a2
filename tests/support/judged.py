"""Judgments that a tiny encoder can learn: the score is the share of the reference's words that the candidate has."""

from __future__ import annotations

import random

from encoders import WORDS

from rlsum.judgments.records import Judgment


def judged(count: int, seed: int = 0, groups: tuple[str, ...] = ("",)) -> list[Judgment]:
    draw = random.Random(seed)
    judgments = []
    for place in range(count):
        reference = draw.sample(WORDS, 4)
        kept = draw.randint(0, 4)
        others = [word for word in WORDS if word not in reference]
        candidate = draw.sample(reference, kept) + draw.sample(others, 4 - kept)
        judgments.append(
            Judgment(
                str(place),
                "system",
                " ".join(candidate),
                (" ".join(reference),),
                group=groups[place % len(groups)],
                scores={"overall": kept / 4},
            )
        )
    return judgments
