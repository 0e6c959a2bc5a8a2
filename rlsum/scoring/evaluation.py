"""Systems evaluated: means, properties and differences as a report, as JSON, and as files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rewards.base import Reward, Specs
from rewards.references import Lists
from rewards.scoring import headings, short_signature
from rewards.text.identification import read_as_english
from rlsum.errors import UserError, option
from rlsum.evaluation.statistics import Interval
from rlsum.pages.blocks import Block, Bullets, Heading, section, signature_section
from rlsum.pages.formats import csv_text, file_names, write_report
from rlsum.pages.pictures.drawing import COLOURS, Mode, Picture, drawn, short_name
from rlsum.pages.shown import Advance, Shown, frame, quiet
from rlsum.parsing import options_checked
from rlsum.records import Output, finite
from rlsum.scoring.comparison import OF_CORPUS, PairedDifference, Resampling, compare_all, intervals
from rlsum.scoring.notes import notes_on_differences, notes_on_scores
from rlsum.scoring.outputs import SystemScores, load_available, outputs_of, read_systems, score_systems
from rlsum.scoring.scored import STANDARD
from rlsum.scoring.tables import difference_table, metric_table, property_table
from rlsum.scoring.text_column import TextColumns
from rlsum.yaml_files import File

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Means = Mapping[str, Mapping[str, Interval]]  # system -> metric or property -> mean with interval
PICTURE, REPORT = "differences.png", file_names()
COLUMNS = ("system", "metric", *Interval._fields, "of")  # of a mean; of: texts with a score and without
FILES = (*REPORT.values(), "report.json", "scores.csv", "differences.csv", PICTURE)


@dataclass(frozen=True, repr=False)
class Evaluation(Shown):
    """Systems with their outputs, in one order throughout; all others are compared with ``compared_with``.

    ``debris``: what is said of texts that have more than a text in them, beside the scores.
    """

    outputs: Mapping[str, Sequence[Output]]
    metrics: Means
    properties: Means
    comparisons: Sequence[PairedDifference]
    compared_with: str
    resampling: Resampling
    signatures: Mapping[str, str]
    headings: Mapping[str, str]
    corpus: Mapping[str, Mapping[str, float]]
    missing: Mapping[str, str]
    debris: Sequence[str] = ()
    notes: Sequence[str] = ()

    def blocks(self, long_signatures: bool = False) -> list[Block]:
        """Tables of scores, properties and differences, then the signatures, by default their short forms."""
        counts = {system: len(outputs) for system, outputs in self.outputs.items()}
        sizes = ", ".join(f"{system} {count:,}" for system, count in counts.items())
        articles = f"Articles: {sizes}; {self.resampling.note}."
        tables = [
            metric_table(
                self.metrics,
                self.missing,
                "Scores x 100",
                [articles, *self.notes, *self.debris, *notes_on_scores(self.metrics, self.outputs)],
                self.headings,
                self.corpus,
                counts,
            ),
            property_table(self.properties, "Properties of the summaries", sizes=counts),
        ]
        if self.comparisons:
            notes = notes_on_differences(self.comparisons, self.outputs, self.compared_with)
            tables.append(difference_table(self.comparisons, self.resampling, f"Against {self.compared_with}", notes))
        signatures = list(self.signatures.values())
        return [
            *tables,
            Bullets(signatures if long_signatures else [short_signature(text) for text in signatures], "code"),
        ]

    def pictures(self) -> list[Block]:
        """The differences, if systems are compared."""
        return [picture(self.comparisons, self.resampling)] if self.comparisons else []

    def to_frame(self) -> Any:
        """A row a system and metric: raw mean, its interval, the number of texts with a score, and that of all."""
        rows = (
            (system, name, *mean, len(self.outputs[system]))
            for system, row in self.metrics.items()
            for name, mean in row.items()
        )
        return frame(COLUMNS, rows)

    def save(self, folder: str | Path) -> list[Path]:
        """Write the report into ``folder`` as HTML, Markdown, LaTeX, CSV, JSON and, if systems are compared, PNG.

        Returns the paths. HTML and Markdown have a picture of the differences, and long signatures.
        """
        folder, tables = Path(folder), [block for block in self.blocks() if not isinstance(block, Bullets)]
        blocks = [
            Heading("Scores of " + ", ".join(self.outputs), 1),
            *tables,
            *(section("Differences", picture(self.comparisons, self.resampling)) if self.comparisons else []),
            *signature_section(self.signatures.values()),
        ]
        texts = {
            "report.json": to_json(self) + "\n",
            "scores.csv": csv_text(score_rows(self)),
            "differences.csv": csv_text(difference_rows(self)),
        }
        (folder / PICTURE).unlink(missing_ok=True)  # of an earlier report
        return write_report(folder, REPORT, blocks, texts)


def evaluate(
    outputs: File | Sequence[File] | Mapping[str, Sequence[str]] | Mapping[str, Sequence[Output]],
    references: Sequence[Sequence[str] | str] = (),
    metrics: Specs = STANDARD,
    *,
    language: str | None = None,
    sources: Sequence[str] = (),
    columns: Mapping[str, Sequence[Any]] | None = None,
    candidate_column: str | None = None,
    reference_column: str | None = None,
    reference_lists: Lists | None = None,
    clean: bool = False,
    baseline: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    advance: Advance = quiet,
) -> Evaluation:
    """Systems by metrics with intervals, properties, and differences from ``baseline`` (by default the first system).

    ``outputs``: files of outputs, or of texts (a line, or in a column) with files of ``references``; or system -> its
    texts, with the ``references``, ``sources`` and further ``columns`` of all systems. ``reference_lists``: what a list
    of texts in a column of references is, ``alternatives`` or the ``sentences`` of one text, where its name does not
    say so. ``language``: the ISO 639-1 code of the texts. ``clean``: score and measure texts without what is no part of
    them, see ``cleaned``.
    """
    scorers, missing = load_available(metrics, language)
    if isinstance(outputs, Mapping):
        systems = outputs_of(outputs, references, sources, columns)
    else:
        paths = [outputs] if isinstance(outputs, str | PathLike) else outputs
        gold: list[Any] = [*references]
        with options_checked():
            named = TextColumns(candidate_column, reference_column, reference_lists)
        systems = read_systems([*map(Path, paths)], [*map(Path, gold)], named)
    baseline = baseline or next(iter(systems))
    if baseline not in systems:
        choices = ", ".join(systems)
        raise UserError(f"{option('baseline', baseline)}: not among the systems; choose one of {choices}")
    resampling = Resampling(resamples=resamples, seed=seed)
    scores, used, debris = score_systems(systems, scorers, clean, advance)
    return _evaluation(systems, scores, baseline, resampling, used, missing, debris)


def _evaluation(
    outputs: Mapping[str, Sequence[Output]],
    scores: Mapping[str, SystemScores],
    compared_with: str,
    resampling: Resampling,
    rewards: Mapping[str, Reward],
    missing: Mapping[str, str],
    debris: Sequence[str],
) -> Evaluation:
    """Means of every system, and its differences from ``compared_with`` on every metric of ``rewards``.

    ``missing`` maps metric -> why it cannot be computed. ``debris``: see ``Evaluation``.
    """
    missing = {**missing, **{name: reason for scored in scores.values() for name, reason in scored.missing.items()}}
    signatures = {label: reward.signature for label, reward in rewards.items() if label not in missing}
    references = (next(iter(output.references), output.candidate) for members in outputs.values() for output in members)
    return Evaluation(
        outputs=outputs,
        metrics={system: intervals(scored.metrics, resampling, signatures) for system, scored in scores.items()},
        properties={system: intervals(scored.properties, resampling) for system, scored in scores.items()},
        comparisons=compare_all(list(scores.values()), scores[compared_with], resampling),
        compared_with=compared_with,
        resampling=resampling,
        signatures=signatures,
        headings=headings(rewards),
        corpus={system: scored.corpus for system, scored in scores.items() if scored.corpus},
        missing=missing,
        debris=debris,
        notes=[
            *read_as_english(signatures, references, option("language", "")),
            *(note for label in signatures for note in getattr(rewards[label], "notes", ())),
        ],
    )


def to_json(evaluation: Evaluation) -> str:
    """Raw scores, not times 100; what is undefined is null."""
    data = {
        "resampling": asdict(evaluation.resampling),
        "systems": [
            {
                "system": system,
                "articles": len(outputs),
                "metrics": {name: mean._asdict() for name, mean in evaluation.metrics[system].items()},
                "properties": {name: mean._asdict() for name, mean in evaluation.properties[system].items()},
                "corpus": dict(evaluation.corpus.get(system, {})),
            }
            for system, outputs in evaluation.outputs.items()
        ],
        "differences": [{**asdict(item), "interval": item.interval._asdict()} for item in evaluation.comparisons],
        "signatures": dict(evaluation.signatures),
        "missing": dict(evaluation.missing),
        "debris": list(evaluation.debris),
        "notes": list(evaluation.notes),
    }
    return json.dumps(finite(data), indent=2, ensure_ascii=False, allow_nan=False)


def score_rows(evaluation: Evaluation) -> Iterator[Sequence[Any]]:
    """A row a system and metric or property, raw."""
    yield COLUMNS
    for system, outputs in evaluation.outputs.items():
        for name, mean in (*evaluation.metrics[system].items(), *evaluation.properties[system].items()):
            yield system, name, *mean, len(outputs)
        for name, value in evaluation.corpus.get(system, {}).items():
            yield system, f"{name}{OF_CORPUS}", value, "", "", evaluation.metrics[system][name].n, len(outputs)


def difference_rows(evaluation: Evaluation) -> Iterator[Sequence[Any]]:
    """A row a comparison, raw."""
    yield "system", "baseline", "metric", "difference", *Interval._fields[1:], "p", "p_holm"
    for item in evaluation.comparisons:
        yield item.system, item.baseline, item.metric, *item.interval, item.p, item.p_holm


def picture(comparisons: Sequence[PairedDifference], resampling: Resampling) -> Picture:
    """Every difference with its interval, times 100; the first on top."""
    defined = [item for item in comparisons if not math.isnan(item.interval.mean)]

    def draw(figure: Figure, _: Mode) -> None:
        axes = figure.add_subplot()
        for place, item in enumerate(defined):
            mean, low, high = (100 * value for value in item.interval[:3])
            axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=2)
            axes.plot([mean], [place], "o", color=COLOURS[0])
        axes.axvline(0, color=COLOURS[-1], linewidth=1)
        axes.set_yticks(range(len(defined)), [short_name(f"{item.system}: {item.metric}") for item in defined])
        axes.invert_yaxis()
        axes.set_xlabel(f"difference from {short_name(comparisons[0].baseline)}, x 100")

    title = f"Differences from {comparisons[0].baseline}"
    description = f"Mean difference and its {resampling.level:.0%} interval."
    return drawn("differences", title, description, (7.0, 0.4 * len(defined) + 1.0), draw)
