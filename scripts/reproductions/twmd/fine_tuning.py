"""Table 4: the encoder trained on the judgments of WMT15-16, tested on WMT17 (and WMT18)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reproductions.claims import within
from reproductions.estimate import Estimate
from reproductions.published import Entry, shown
from reproductions.study import Study
from reproductions.twmd.metrics import CENTERINGS, Metric, Setting
from reproductions.twmd.pairs import SCORE, Pairs, correlations, scores
from reproductions.twmd.tables import over_groups, record
from rewards.embedding.learned import learned
from rewards.specs import Spec
from rlsum.evaluation.weighted import Statistic
from rlsum.judgments.collection import Judgments
from rlsum.metric_fitting.examples import drawn, examples, held_out
from rlsum.metric_fitting.fitting import fit, has_fitted
from rlsum.metric_fitting.training import FitOptions
from rlsum.pages.table import Cell, Table

STATISTICS: tuple[Statistic, Statistic] = ("kendall", "pearson")
OTHERS = ("BLEURTbase-pre", "BLEURTbase", "BLEURT-pre", "BLEURT")


def table4(
    setting: Setting,
    training: Sequence[Judgments],
    data: Sequence[Pairs],
    folder: Path,
    options: FitOptions,
    limit: int | None = None,
) -> Study:
    """TWMD and TWMD-batch before and after training; learned metrics are left in ``folder``, one a metric.

    One that the same training has left there is not trained again.
    """
    known = examples([row for each in training for row in each.rows], SCORE)
    train, valid = held_out(drawn(known, limit, options.seed), 0.1, options.seed)
    rows, records, gains = [], [], {}
    for metric in setting.metrics(("TWMD",), ("none", "batch")):
        start = metric.reward(setting)
        place, spec = folder / metric.label, _spec(setting, metric)
        if not has_fitted(place, spec, train, valid, options):
            fit(spec, train, valid, place, options)
        tuned = learned(str(place))
        for pairs in data:
            both = scores(pairs, [start, tuned])
            found: list[dict[Statistic, Estimate]] = [
                {each: _average(setting, pairs, row, each) for each in STATISTICS} for row in both
            ]
            gains[f"{metric.label} on {pairs.name}"] = found[1]["pearson"] - found[0]["pearson"]
            published = _published(setting, pairs.name, metric.name, metric.centering)
            rows.append((metric.label, pairs.name, *(_told(each) for each in found), published))
            for each in STATISTICS:
                line = record(setting, "table4", f"{pairs.name} avg", metric, each, found[1][each])
                records.append({**line, "before_x100": round(100 * found[0][each].value, 3)})
    for name in OTHERS:
        rows += [(name, pairs.name, "", "", _published(setting, pairs.name, name, "none")) for pairs in data]
    caption = (
        f"Table 4. Trained on {len(train):,} judgments, {len(valid):,} held out, {options.epochs} epochs at most; "
        f"{setting.description}; average tau / r x 100"
    )
    header = ("metric", "data", "before", "after", f"published, {setting.beside}")
    table = Table(caption, header, tuple(tuple(map(Cell, row)) for row in rows))
    claim = within("Training on human judgments raises r", gains, low=0.0)
    return Study("table4", (table,), tuple(records), claims=(claim,))


def _spec(setting: Setting, metric: Metric) -> Spec:
    options = {"encoder": setting.encoder, "centering": CENTERINGS[metric.centering], "direction": metric.direction}
    return Spec("twmd", options if setting.layer is None else {**options, "layer": setting.layer})


def _average(setting: Setting, pairs: Pairs, row, statistic: Statistic) -> Estimate:  # type: ignore[no-untyped-def]
    draws = setting.resamples if statistic == "pearson" else 0
    return over_groups(correlations(pairs, row, statistic, draws, setting.seed))["avg"]


def _told(found: dict[Statistic, Estimate]) -> str:
    return " / ".join(f"{100 * found[each].value:.1f}" for each in STATISTICS)


def _published(setting: Setting, data: str, metric: str, centering: str) -> str:
    """Numbers of BLEURT stand in the file under the encoder size; they are looked up as the others are."""
    entries = [Entry("table4", f"{data} avg", setting.beside, metric, centering, each) for each in STATISTICS]
    return " / ".join(dict.fromkeys(shown(setting.published.get(entry)) for entry in entries))
