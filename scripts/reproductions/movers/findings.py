"""What the paper's text says of its Table 2, and how length alone does beside it.

``rho`` holds every column's correlation with people on the same texts, with draws of the same inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from reproductions.claims import Claim, undetected, within
from reproductions.estimate import Estimate
from reproductions.movers.data import ESSAYS, SUMMARIES
from reproductions.movers.metrics import LENGTH, RECALL, ROUGE_L, S_WMS, SMS, WMS, Kind, named

Correlations = Mapping[str, Estimate]

# By Williams' test, of SMS and of S+WMS: the paper's footnotes 12 and 13.
WILLIAMS = {SUMMARIES: "p = .35 and .16 in the paper", ESSAYS: "p = .33 and .46 in the paper"}


def findings(rho: Mapping[str, Correlations], kinds: Sequence[Kind]) -> list[Claim]:
    """All that can be said of the texts (``summaries``, ``essays``) and of the vectors at hand."""
    found = []
    for texts, each in rho.items():
        said = on_summaries if texts == SUMMARIES else on_essays
        found += [claim for kind in kinds for claim in said(each, kind)]
        found += [*same_on_all_vectors(each, kinds, texts), *beside_the_paper(each, texts)]
    if {SUMMARIES, ESSAYS} <= rho.keys():
        found += [smaller_on_essays(rho[SUMMARIES], rho[ESSAYS], kind) for kind in kinds]
    return found


def on_summaries(rho: Correlations, kind: Kind) -> list[Claim]:
    """Section 4.1."""
    best, both = _over(rho, [SMS], [ROUGE_L, WMS, S_WMS], kind), _over(rho, [SMS, S_WMS], [ROUGE_L, WMS], kind)
    return [
        within(f"SMS correlates best on summaries ({kind} vectors)", best, low=0.0),
        within(f"SMS and S+WMS are above ROUGE-L and WMS on summaries ({kind} vectors)", both, low=0.0),
    ]


def on_essays(rho: Correlations, kind: Kind, where: str = ESSAYS) -> list[Claim]:
    """Section 4.2."""
    sentences, best = _over(rho, [SMS], [ROUGE_L, WMS], kind), _over(rho, [S_WMS], [ROUGE_L, WMS, SMS], kind)
    return [
        within(f"SMS is above ROUGE-L and WMS on {where} ({kind} vectors)", sentences, low=0.0),
        within(f"S+WMS correlates best on {where} ({kind} vectors)", best, low=0.0),
    ]


def same_on_all_vectors(rho: Correlations, kinds: Sequence[Kind], texts: str, where: str = "") -> list[Claim]:
    """Static and contextual vectors are not significantly different; nothing where only one kind is at hand."""
    if len(kinds) < 2:
        return []
    less, more = kinds
    between = {f"{name} {more} less {less}": rho[named(name, more)] - rho[named(name, less)] for name in (SMS, S_WMS)}
    text = f"Static and contextual vectors do not differ significantly on {where or texts} ({WILLIAMS[texts]})"
    return [undetected(text, between)]


def smaller_on_essays(summaries: Correlations, essays: Correlations, kind: Kind) -> Claim:
    """The introduction: on essays smaller but significant gains over ROUGE-L."""
    gains: dict[str, Estimate] = {}
    for mover in (SMS, S_WMS):
        on_essays = essays[named(mover, kind)] - essays[ROUGE_L]
        gains[f"{mover} on essays"] = on_essays
        gains[f"{mover} less than on summaries"] = summaries[named(mover, kind)] - summaries[ROUGE_L] - on_essays
    return within(f"On essays the gains over ROUGE-L are smaller but there ({kind} vectors)", gains, low=0.0)


def beside_the_paper(rho: Correlations, where: str) -> list[Claim]:
    """What the paper does not say: length alone, and ROUGE-L by its recall."""
    metrics = [label for label in rho if label != LENGTH]
    behind = {f"over {label}": rho[LENGTH] - rho[label] for label in metrics}
    movers = {label: rho[label] - rho[RECALL] for label in metrics if label not in (ROUGE_L, RECALL)}
    return [
        within(f"Length alone is above every metric on {where} (not in the paper)", behind, low=0.0),
        within(f"Every mover is above the recall of ROUGE-L on {where} (not in the paper)", movers, low=0.0),
    ]


def _over(rho: Correlations, ones: Iterable[str], others: Iterable[str], kind: Kind) -> dict[str, Estimate]:
    of = {name: rho[name if name == ROUGE_L else named(name, kind)] for name in (ROUGE_L, WMS, SMS, S_WMS)}
    return {f"{one} over {other}": of[one] - of[other] for one in ones for other in others}
