"""The paper's claims about its Table 2, and claims about length that are not in the paper.

``rho`` maps each column to its correlation with people on the same texts, with draws of the same inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reproductions.claims import Claim, undetected, within
from reproductions.estimate import Estimate
from reproductions.movers.data import ESSAYS, SUMMARIES
from reproductions.movers.metrics import LENGTH, RECALL, ROUGE_L, S_WMS, SMS, WMS, VectorKind, named

Correlations = Mapping[str, Estimate]

# Williams' test of SMS and of S+WMS, in footnotes 12 and 13.
WILLIAMS = {SUMMARIES: "p = .35 and .16 in the paper", ESSAYS: "p = .33 and .46 in the paper"}


def findings(rho: Mapping[str, Correlations], kinds: Sequence[VectorKind]) -> list[Claim]:
    """All claims about the given texts (``summaries``, ``essays``) and kinds of vectors."""
    claims = []
    for texts, correlations in rho.items():
        section = on_summaries if texts == SUMMARIES else on_essays
        claims += [claim for kind in kinds for claim in section(correlations, kind)]
        claims += [*same_on_all_vectors(correlations, kinds, texts), *not_in_the_paper(correlations, texts)]
    if {SUMMARIES, ESSAYS} <= rho.keys():
        claims += [smaller_on_essays(rho[SUMMARIES], rho[ESSAYS], kind) for kind in kinds]
    return claims


def on_summaries(rho: Correlations, kind: VectorKind) -> list[Claim]:
    """Section 4.1."""
    best, both = _over(rho, [SMS], [ROUGE_L, WMS, S_WMS], kind), _over(rho, [SMS, S_WMS], [ROUGE_L, WMS], kind)
    return [
        within(f"SMS correlates best on summaries ({kind} vectors)", best, low=0.0),
        within(f"SMS and S+WMS are above ROUGE-L and WMS on summaries ({kind} vectors)", both, low=0.0),
    ]


def on_essays(rho: Correlations, kind: VectorKind, where: str = ESSAYS) -> list[Claim]:
    """Section 4.2."""
    sentences, best = _over(rho, [SMS], [ROUGE_L, WMS], kind), _over(rho, [S_WMS], [ROUGE_L, WMS, SMS], kind)
    return [
        within(f"SMS is above ROUGE-L and WMS on {where} ({kind} vectors)", sentences, low=0.0),
        within(f"S+WMS correlates best on {where} ({kind} vectors)", best, low=0.0),
    ]


def same_on_all_vectors(rho: Correlations, kinds: Sequence[VectorKind], texts: str, where: str = "") -> list[Claim]:
    """Static and contextual vectors do not differ significantly; no claim if only one kind is given."""
    if len(kinds) < 2:
        return []
    less, more = kinds
    between = {f"{name} {more} less {less}": rho[named(name, more)] - rho[named(name, less)] for name in (SMS, S_WMS)}
    text = f"Static and contextual vectors do not differ significantly on {where or texts} ({WILLIAMS[texts]})"
    return [undetected(text, between)]


def smaller_on_essays(summaries: Correlations, essays: Correlations, kind: VectorKind) -> Claim:
    """Introduction: smaller but significant gains over ROUGE-L on essays."""
    gains: dict[str, Estimate] = {}
    for mover in (SMS, S_WMS):
        on_essays = essays[named(mover, kind)] - essays[ROUGE_L]
        gains[f"{mover} on essays"] = on_essays
        gains[f"{mover} less than on summaries"] = summaries[named(mover, kind)] - summaries[ROUGE_L] - on_essays
    return within(f"On essays the gains over ROUGE-L are smaller but significant ({kind} vectors)", gains, low=0.0)


def not_in_the_paper(rho: Correlations, where: str) -> list[Claim]:
    """Claims that are not in the paper: length alone, and the recall of ROUGE-L."""
    metrics = [label for label in rho if label != LENGTH]
    behind = {f"over {label}": rho[LENGTH] - rho[label] for label in metrics}
    movers = {label: rho[label] - rho[RECALL] for label in metrics if label not in (ROUGE_L, RECALL)}
    return [
        within(f"Length alone is above every metric on {where} (not in the paper)", behind, low=0.0),
        within(f"Every mover is above the recall of ROUGE-L on {where} (not in the paper)", movers, low=0.0),
    ]


def _over(rho: Correlations, ones: Iterable[str], others: Iterable[str], kind: VectorKind) -> dict[str, Estimate]:
    by_metric = {name: rho[name if name == ROUGE_L else named(name, kind)] for name in (ROUGE_L, WMS, SMS, S_WMS)}
    return {f"{first} over {second}": by_metric[first] - by_metric[second] for first in ones for second in others}
