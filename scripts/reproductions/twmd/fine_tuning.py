"""Table 4: the encoder fine-tuned on the judgments of WMT15-16 and tested on WMT17 (and WMT18)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from reproductions.claims import within
from reproductions.estimate import Estimate
from reproductions.published import Entry, shown
from reproductions.reproduction import Reproduction
from reproductions.twmd.metrics import CENTERINGS, EncoderSetup, Metric
from reproductions.twmd.pairs import SCORE, SentencePairs, correlations, scores
from reproductions.twmd.tables import over_groups
from rewards.embedding.learned import METRIC, check_learnable, learned
from rewards.specs import Spec
from rlsum.data.corpus import drawn
from rlsum.errors import UserError
from rlsum.judgments.collection import Judgments
from rlsum.metric_fitting.examples import JudgedExample, examples, held_out
from rlsum.metric_fitting.fitting import about, fit
from rlsum.metric_fitting.options import FitOptions
from rlsum.pages.table import text_table

STATISTICS: tuple[str, str] = ("kendall", "pearson")
OTHERS = ("BLEURTbase-pre", "BLEURTbase", "BLEURT-pre", "BLEURT")


def table4(
    setup: EncoderSetup,
    training: Sequence[Judgments],
    data: Sequence[SentencePairs],
    folder: Path,
    options: FitOptions,
    limit: int | None = None,
) -> Reproduction:
    """TWMD and TWMD-batch before and after training. The learned metrics stay in ``folder``.

    A metric that the same training has already written there is not trained again.
    """
    known = examples([row for judgments in training for row in judgments.rows], SCORE)
    train, valid = held_out(drawn(known, limit, options.seed), 0.1, options.seed)
    rows, gains = [], {}
    for metric in setup.metrics(("TWMD",), ("none", "batch")):
        start = metric.reward(setup)
        path, spec = folder / metric.label, _spec(setup, metric)
        if not has_fitted(path, spec, train, valid, options):
            fit(spec, train, valid, path, options)
        tuned = learned(path=str(path))
        for pairs in data:
            both = scores(pairs, [start, tuned])
            averages: list[dict[str, Estimate]] = [
                {name: _average(setup, pairs, row, name) for name in STATISTICS} for row in both
            ]
            gains[f"{metric.label} on {pairs.name}"] = averages[1]["pearson"] - averages[0]["pearson"]
            published = _published(setup, pairs.name, metric.name, metric.centering)
            rows.append((metric.label, pairs.name, *(_numbers(row) for row in averages), published))
    for peer in OTHERS:
        rows += [(peer, pairs.name, "", "", _published(setup, pairs.name, peer, "none")) for pairs in data]
    caption = (
        f"Table 4. Trained on {len(train):,} judgments, {len(valid):,} held out, {options.epochs} epochs at most; "
        f"{setup.description}; average tau / r x 100"
    )
    header = ("metric", "data", "before", "after", f"published, {setup.published_encoder}")
    table = text_table(caption, header, rows)
    claim = within("Training on human judgments raises r", gains, low=0.0)
    return Reproduction("table4", (table,), claims=(claim,))


def has_fitted(
    folder: Path, spec: Spec, train: Sequence[JudgedExample], valid: Sequence[JudgedExample], options: FitOptions
) -> bool:
    """Whether ``folder`` holds the result of `fit` with the same arguments. Raises UserError if it cannot be read."""
    if not (folder / METRIC).is_file():
        return False
    try:
        stored = json.loads((folder / METRIC).read_bytes())
    except ValueError as error:
        raise UserError(f"{folder / METRIC}: not JSON ({error}); remove the folder") from error
    wanted = json.loads(json.dumps(about(spec, check_learnable(spec), train, valid, options)))
    del wanted["signature"]
    return bool(stored.get("finished")) and all(stored.get(name) == value for name, value in wanted.items())


def _spec(setup: EncoderSetup, metric: Metric) -> Spec:
    options = {"encoder": setup.encoder, "centering": CENTERINGS[metric.centering], "direction": metric.direction}
    return Spec("twmd", options if setup.layer is None else {**options, "layer": setup.layer})


def _average(setup: EncoderSetup, pairs: SentencePairs, row, statistic: str) -> Estimate:  # type: ignore[no-untyped-def]
    draws = setup.resamples if statistic == "pearson" else 0
    return over_groups(correlations(pairs, row, statistic, draws, setup.seed))["avg"]


def _numbers(averages: dict[str, Estimate]) -> str:
    return " / ".join(f"{100 * averages[name].value:.1f}" for name in STATISTICS)


def _published(setup: EncoderSetup, data: str, metric: str, centering: str) -> str:
    """The published numbers; those of BLEURT are filed under the encoder size, too."""
    entries = [Entry("table4", f"{data} avg", setup.published_encoder, metric, centering, name) for name in STATISTICS]
    return " / ".join(dict.fromkeys(shown(setup.published.get(entry)) for entry in entries))
