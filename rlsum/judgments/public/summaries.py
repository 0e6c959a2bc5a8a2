"""Judgments of news summaries: SummEval, FRANK and RoSE, each in the layout that its authors publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from rlsum.errors import RecordError
from rlsum.judgments.collection import Judgments, mean
from rlsum.judgments.public.tables import finite, parsing, read_objects
from rlsum.judgments.records import Judgment

CRITERIA = ("coherence", "consistency", "fluency", "relevance")
TEXTS, ANNOTATIONS = "benchmark_data.json", "human_annotations.json"


def summeval(path: Path, *, judges: Literal["expert", "turker"] = "expert", references: int | None = None) -> Judgments:
    """SummEval (Fabbri et al. 2021): ``model_annotations.aligned.jsonl``, a summary a line.

    ``judges``: three experts or five crowd workers, 1 to 5 on four criteria; overall is the mean of the four.
    ``references``: how many of the eleven references are read; the first is the original.
    """
    rows = []
    for where, row in read_objects(path):
        with parsing(where, "a summary of SummEval"):
            answers = row[f"{judges}_annotations"]
            raw = {
                name: tuple(finite(annotation[name], f"{where}: {name}") for annotation in answers) for name in CRITERIA
            }
            raw["overall"] = tuple(sum(scores) / len(CRITERIA) for scores in zip(*raw.values(), strict=True))
            texts = tuple(map(str, row["references"][:references]))
            scores = {name: mean(values) for name, values in raw.items()}
            source = str(row.get("text", ""))
            identity = str(row["id"]), str(row["model_id"])
            rows.append(Judgment(*identity, str(row["decoded"]), texts, source, scores=scores, raw_scores=raw))
    notes = [f"{judges} judges; overall is the mean of {', '.join(CRITERIA)}"]
    if rows and not any(row.source for row in rows):
        notes.append("this layout has no sources; the authors' scripts pair it with CNN/DailyMail")
    return Judgments("summeval", tuple(rows), {}, notes, dict.fromkeys((*CRITERIA, "overall"), (1.0, 5.0)))


def frank(path: Path, *, split: Literal["valid", "test"] | None = None) -> Judgments:
    """FRANK (Pagnoni et al. 2021): a folder with ``benchmark_data.json`` and ``human_annotations.json``, or a file.

    overall is the share of sentences without an error; the other scores count one category of errors each, 1 without
    any. Groups are the corpora.
    """
    folder = path if path.is_dir() else path.parent
    for name in (TEXTS, ANNOTATIONS):
        if not (folder / name).is_file():
            raise RecordError(f"{folder}: no {name}; FRANK's texts and judgments are in two files of one folder")
    texts: dict[tuple[str, str], tuple[str, tuple[str, ...], str]] = {}
    for where, row in read_objects(folder / TEXTS):
        with parsing(where, "a summary of FRANK"):
            texts[row["hash"], row["model_name"]] = row["summary"], (row["reference"],), row["article"]
    rows, left_out = [], Counter[str]()
    for where, row in read_objects(folder / ANNOTATIONS):
        with parsing(where, "an annotation of FRANK"):
            identity = row["hash"], row["model_name"]
            if split is not None and row["split"] != split:
                left_out["of the other split"] += 1
            elif identity not in texts:
                left_out[f"without a text in {TEXTS}"] += 1
            else:
                scores = {"overall": finite(row["Factuality"], f"{where}: Factuality"), **_categories(row, where)}
                candidate, references, source = texts[identity]
                rows.append(Judgment(*identity, candidate, references, source, row["dataset"], scores))
    return Judgments("frank", tuple(rows), left_out, ["overall is Factuality"], {"overall": (0.0, 1.0)})


def _categories(row: Mapping[str, Any], where: str) -> dict[str, float]:
    """The categories of errors; "Flip_..." are for the authors' ablation."""
    fields = ("hash", "model_name", "dataset", "split", "Factuality")
    names = [name for name in row if name not in fields and not name.startswith("Flip_")]
    return {name: finite(row[name], f"{where}: {name}") for name in names if isinstance(row[name], int | float)}


def rose(path: Path) -> Judgments:
    """RoSE (Liu et al. 2023): a file of its data set, an article a line with ``annotations`` and ``system_outputs``.

    overall is ``acu``, the share of the reference's atomic content units that the summary has; ``normalized_acu``
    is against its length. Files of other protocols have their own scores, and none named overall.
    """
    rows = []
    for where, row in read_objects(path):
        with parsing(where, "an article of RoSE"):
            for system, annotation in row["annotations"].items():
                label = f"{where}: {system}"
                numbers = {name: value for name, value in annotation.items() if isinstance(value, int | float)}
                scores: dict[str, float | None] = {k: finite(value, f"{label} {k}") for k, value in numbers.items()}
                if "acu" in scores:
                    scores["overall"] = scores["acu"]
                texts = row["system_outputs"][system], (row["reference"],), row["source"]
                rows.append(Judgment(str(row["example_id"]), system, *texts, scores=scores))
    shares = dict.fromkeys(("acu", "overall"), (0.0, 1.0)) if rows and "overall" in rows[0].scores else {}
    return Judgments("rose", tuple(rows), {}, ["overall is acu, not divided by length"] if shares else [], shares)
