"""What the numbers of a comparison say: a sentence each, hedged where systems are not told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rlsum.compare.cells import is_rewarded
from rlsum.compare.report.degenerate import Read, findings_of_texts, no_texts
from rlsum.compare.report.overoptimization import Path as Validations
from rlsum.compare.report.own_reward import OwnReward, helped, own_reward
from rlsum.compare.report.side_effects import left_besides_length, side_effects
from rlsum.compare.results import Results, best, mean_of, unchanged
from rlsum.evaluation.trained.hierarchical import Difference
from rlsum.pages.table import joined


def findings(
    results: Results,
    margin: float | None = None,
    runs: Sequence[Validations] = (),
    texts: Read | None = None,
    cut: Mapping[str, Difference] | None = None,
) -> Iterator[str]:
    """What the numbers and the texts say: of each reward, then by each metric, hedged where they do not tell systems
    apart. Texts come first where they are degenerate. ``runs``, ``cut``: as `side_effects` takes them.
    """
    texts = texts or Read()
    if warning := no_texts(texts):
        yield warning
    judged = own_reward(results, margin)
    yield from _together(results, judged, cut)
    for system in results.trained:
        limit = texts.at_limit(system.name)
        but = f", but {limit}" if limit else ""
        outcome = judged.get(system.name)
        sentences = [] if outcome is None else [f"Training on {system.title} {helped(results, outcome, margin)}{but}."]
        if effects := side_effects(results, system, runs, cut):
            sentences.append(effects if sentences else f"Training on {system.title}: {effects}")
        yield from [" ".join(sentences)] if sentences else []
    standings: dict[str, list[str]] = {}
    for metric in results.metrics:
        if standing := standing_by(results, metric):
            standings.setdefault(standing, []).append(metric)
    for standing, metrics in standings.items():
        yield f"By {joined(metrics)}: {standing}."
    alike: dict[str, list[str]] = {}
    for title, seeds in unchanged(results).items():
        alike.setdefault(joined([*map(str, seeds)]), []).append(title)
    for of_seeds, titles in alike.items():
        yield (
            f"On every article by every metric, {joined(titles)} {'scores' if len(titles) == 1 else 'score'} like the "
            f"start in seed {of_seeds}: a run that never beat its start in validation leaves the weights of the start."
        )
    yield from findings_of_texts(texts, results)
    for name, remark in results.remarks.items():
        yield f"{results.systems[name].title} is not comparable with the models: {remark}."
    by_seeds: dict[str, list[str]] = {}
    for name, seeds in results.left_out.items():
        by_seeds.setdefault(joined([*map(str, seeds)]), []).append(name)
    if by_seeds:
        counted = any(is_rewarded(name) and name not in results.systems for name in results.left_out)
        members = "; ".join(f"{joined(names)} (seed {of_seeds})" for of_seeds, names in by_seeds.items())
        exception = ", but for its corrections" if counted else ""
        yield f"Trained in this folder and left out of this comparison{exception}: {members}."
    if results.failed:
        yield f"Cells without a result: {len(results.failed)}; their reasons are below."


def _together(results: Results, judged: Mapping[str, OwnReward], cut: Mapping[str, Difference] | None) -> Iterator[str]:
    """How many of several rewards helped, and for which of them more than length is shown to have grown."""
    better = [results.systems[name] for name, outcome in judged.items() if outcome.verdict.word == "better"]
    if len(judged) < 2 or not better:
        return
    left = {system.title: left_besides_length(results, system, cut) for system in better}
    gains = {title: gain for title, gain in left.items() if gain is not None}
    shown = [title for title, gain in gains.items() if gain.low > 0]
    sentence = f"{len(better)} of {len(judged)} rewards helped by their own measure"
    if gains:
        titles = "all" if len(gains) == len(judged) else joined(list(gains))
        sentence += f"; the summaries of {titles} have another length, and a gain besides length is shown for "
        sentence += joined(shown) or "none"
    yield f"{sentence}."


def standing_by(results: Results, metric: str) -> str:
    """Which trained model is the best by a metric, and which outputs of other systems are above it; "" without two."""
    top = best(results, metric)
    if top is None or not (top.tied or top.differing):
        return ""
    titles = {name: system.title for name, system in results.systems.items()}
    means = {
        name: mean_of(system.metrics[metric]).mean
        for name, system in results.systems.items()
        if metric in system.metrics and name not in results.remarks
    }
    judged = (top.best, *top.tied, *top.differing)
    highest = max(means[name] for name in judged)
    above = [titles[name] for name, mean in means.items() if mean > highest and name not in top.apart]
    scope = " of the trained models" if above else ""
    scope += " that are judged" if above and top.apart else " of those that are judged" if top.apart else ""
    if top.seeds < 2:
        first = [titles[name] for name in judged if means[name] == highest]
        has = "has" if len(first) == 1 else "have"
        standing = f"{joined(first)} {has} the highest mean{scope} in one seed; another may give another order"
    elif top.shown:
        standing = f"{titles[top.best]} is the best{scope}"
    else:
        tied, differing = (joined([titles[name] for name in names]) for names in (top.tied, top.differing))
        standing = (
            f"{titles[top.best]} has the highest mean{scope}; tested with all pairs, it is not shown to differ from"
        )
        if len(top.tied) < 4:
            standing += f" {tied}" + (f"; it differs from {differing}" if differing else "")
        else:
            others = f" any other but {differing}" if differing else " any other"
            standing = f"no row is shown to be the best{scope} (the highest is not shown to differ from{others})"
    if above:
        standing += f". {joined(above)} {'has' if len(above) == 1 else 'have'} a higher mean than all of them"
    if top.apart:
        of_reason: dict[str, list[str]] = {}
        for name, why in top.apart.items():
            of_reason.setdefault(why, []).append(titles[name])
        standing += f". Not judged: {joined([f'{joined(names)} ({why})' for why, names in of_reason.items()])}"
    return standing
