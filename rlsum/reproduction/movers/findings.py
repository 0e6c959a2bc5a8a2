"""What the paper's text says of its Table 2, and how length alone does beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rlsum.reproduction.claims import Claim, undetected, within
from rlsum.reproduction.estimate import Estimate
from rlsum.reproduction.movers.correlations import Measured
from rlsum.reproduction.movers.data import ESSAYS, SUMMARIES
from rlsum.reproduction.movers.metrics import LENGTH, RECALL, ROUGE_L, S_WMS, SMS, WMS, Kind, named

# One-tailed, by Williams' test, of the two sentence movers: the paper's footnotes 12 and 13.
WILLIAMS = {SUMMARIES: "p = .35 and .16 in the paper", ESSAYS: "p = .33 and .46 in the paper"}


def findings(measured: Sequence[Measured], kinds: Sequence[Kind]) -> list[Claim]:
    """All that can be said of the texts and the vectors at hand."""
    found = []
    by_name = {each.name: each for each in measured}
    for each in measured:
        for kind in kinds:
            found += (on_summaries if each.name == SUMMARIES else on_essays)(each, kind)
        found += same_on_all_vectors(each, kinds)
        found += beside_the_paper(each)
    if {SUMMARIES, ESSAYS} <= by_name.keys():
        found += [smaller_on_essays(by_name[SUMMARIES], by_name[ESSAYS], kind) for kind in kinds]
    return found


def on_summaries(measured: Measured, kind: Kind) -> list[Claim]:
    """Section 4.1."""
    return [
        within(
            f"SMS correlates best on summaries ({kind} vectors)",
            _ahead(measured, [SMS], [ROUGE_L, WMS, S_WMS], kind),
            low=0.0,
        ),
        within(
            f"SMS and S+WMS are above ROUGE-L and WMS on summaries ({kind} vectors)",
            _ahead(measured, [SMS, S_WMS], [ROUGE_L, WMS], kind),
            low=0.0,
        ),
    ]


def on_essays(measured: Measured, kind: Kind) -> list[Claim]:
    """Section 4.2."""
    return [
        within(
            f"SMS is above ROUGE-L and WMS on essays ({kind} vectors)",
            _ahead(measured, [SMS], [ROUGE_L, WMS], kind),
            low=0.0,
        ),
        within(
            f"S+WMS correlates best on essays ({kind} vectors)",
            _ahead(measured, [S_WMS], [ROUGE_L, WMS, SMS], kind),
            low=0.0,
        ),
    ]


def same_on_all_vectors(measured: Measured, kinds: Sequence[Kind]) -> list[Claim]:
    """Static and contextual vectors are not significantly different."""
    if len(kinds) < 2:
        return []
    between = {
        f"{mover} {kinds[1]} less {kinds[0]}": measured.ahead(named(mover, kinds[1]), named(mover, kinds[0]))
        for mover in (SMS, S_WMS)
    }
    known = WILLIAMS[measured.name]
    return [
        undetected(f"Static and contextual vectors do not differ significantly on {measured.name} ({known})", between)
    ]


def smaller_on_essays(summaries: Measured, essays: Measured, kind: Kind) -> Claim:
    """The introduction: on essays smaller but significant gains over ROUGE-L."""
    gains: dict[str, Estimate] = {}
    for mover in (SMS, S_WMS):
        on_essays = essays.ahead(named(mover, kind), ROUGE_L)
        gains[f"{mover} on essays"] = on_essays
        gains[f"{mover} less than on summaries"] = summaries.ahead(named(mover, kind), ROUGE_L) - on_essays
    return within(f"On essays the gains over ROUGE-L are smaller but there ({kind} vectors)", gains, low=0.0)


def beside_the_paper(measured: Measured) -> list[Claim]:
    """What the paper does not say: length alone, and ROUGE-L by its recall."""
    metrics = measured.table.metrics
    movers = [label for label in metrics if label not in (ROUGE_L, RECALL)]
    where = f"on {measured.name} (not in the paper)"
    return [
        within(f"Length alone is above every metric {where}", _over(measured, [LENGTH], metrics), low=0.0),
        within(f"Every mover is above the recall of ROUGE-L {where}", _over(measured, movers, [RECALL]), low=0.0),
    ]


def _ahead(measured: Measured, ones: Iterable[str], others: Iterable[str], kind: Kind) -> dict[str, Estimate]:
    def label(name: str) -> str:
        return name if name == ROUGE_L else named(name, kind)

    return {f"{one} over {other}": measured.ahead(label(one), label(other)) for one in ones for other in others}


def _over(measured: Measured, ones: Iterable[str], others: Iterable[str]) -> dict[str, Estimate]:
    return {f"{one} over {other}": measured.ahead(one, other) for one in ones for other in others}
