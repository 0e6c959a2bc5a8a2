"""Reproduce Clark, Celikyilmaz and Smith (2019): sentence mover's similarity and people, on summaries and essays.

    OMP_NUM_THREADS=1 python scripts/reproduce.py movers --data ../shared/data/human --out runs/movers

Prints each table and the verdict on each finding of the paper; writes Markdown and PNG to OUT. The published
tables are not available; measured numbers are compared with the text of the paper. Tables without data are skipped.
Scores are cached in OUT/scores, so that a stopped run continues and a second run takes seconds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from reproductions.movers import data
from reproductions.movers.correlations import measure
from reproductions.movers.metrics import MoverSetup
from reproductions.movers.references import references
from reproductions.movers.table2 import table2
from reproductions.reproduction import Reproduction, run
from rlsum.errors import UserError
from rlsum.evaluation.statistics import OF_CORRELATIONS
from rlsum.judgments.collection import Judgments
from rlsum.meta_evaluation.cache import scores_file

ALL = "all"
STUDIES = ("table2", "references")
SHARED = Path(os.environ.get("RLSUM_SHARED", "../shared"))
VECTORS = SHARED / "data" / "vectors" / "cnndm_word2vec_300d_30k.txt.gz"


def main(arguments: Sequence[str]) -> None:
    options = parsed(arguments)
    started = time.process_time()
    wanted = STUDIES if ALL in options.studies else tuple(dict.fromkeys(options.studies))
    options.out.mkdir(parents=True, exist_ok=True)
    setup = MoverSetup(
        None if options.vectors == "none" else Path(options.vectors),
        None if options.encoder == "none" else options.encoder,
        options.resamples,
        options.seed,
        scores_file(options.out / "scores"),
    )
    texts = judged(options)
    print(f"{'; '.join(setup.rewards)}\n{setup.description}; {options.resamples:,} resamples", flush=True)
    runs = studies(setup, texts, essays_by_reference(options, texts) if "references" in wanted else {}, options)
    for name in wanted:
        if name in runs:
            run(name, runs[name], options.out)
        else:
            print(f"\n{name}: skipped, needs essays")
    print(f"{time.process_time() - started:.0f} CPU seconds")


def studies(
    setup: MoverSetup, texts: Sequence[Judgments], essays: Mapping[str, Judgments], options: argparse.Namespace
) -> dict[str, Callable[[], Reproduction]]:
    """The reproductions by name, on ``texts`` and on ``essays`` by reference."""

    def correlations() -> Reproduction:
        return table2(setup, [measure(setup, texts_of, options.seed + number) for number, texts_of in enumerate(texts)])

    return {
        "table2": correlations,
        **({"references": lambda: references(setup, essays, options.seed)} if essays else {}),
    }


def judged(options: argparse.Namespace) -> list[Judgments]:
    """The available texts. Raises UserError if there are none, or for a given path that does not exist."""
    texts = []
    for name in data.FILES:
        path = path_of(options, name)
        if not path.exists() and getattr(options, name) is None:
            print(f"{name}: skipped, no {path} (--{name} PATH)")
            continue
        texts.append(data.summaries(path) if name == data.SUMMARIES else data.essays(path, options.essay))
    if not texts:
        raise UserError(f"no judged texts in {options.data}; give --data, --summaries or --essays")
    return texts


def essays_by_reference(options: argparse.Namespace, texts: Sequence[Judgments]) -> dict[str, Judgments]:
    """The essays compared with each of several references; empty without essays."""
    if data.ESSAYS not in {judgments.name for judgments in texts}:
        return {}
    path = path_of(options, data.ESSAYS)
    return data.against_each(path, data.best_essays(path, options.references, options.seed))


def path_of(options: argparse.Namespace, name: str) -> Path:
    """The path of summaries or essays, which may not exist."""
    path: Path | None = getattr(options, name)
    return path or options.data / data.FILES[name]


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "reproduce.py movers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", default=ALL, choices=[ALL, *STUDIES], metavar="STUDY",
                        help=f"{ALL} (the default), {', '.join(STUDIES)}")  # fmt: skip
    parser.add_argument("--data", type=Path, default=SHARED / "data" / "human", help="folder of the public data")
    for name, file in data.FILES.items():
        parser.add_argument(f"--{name}", type=Path, metavar="PATH", help=f"instead of DATA/{file}")
    parser.add_argument(
        "--essay", default="", metavar="ID", help="the reference essay (default: the longest best-scored)"
    )
    parser.add_argument("--vectors", default=str(VECTORS), metavar="FILE", help="word vectors, or none")
    parser.add_argument("--encoder", default="minilm", help="minilm, a directory, a hub name, or none")
    parser.add_argument("--out", type=Path, default=Path("runs/movers"), help="folder for Markdown and PNG")
    parser.add_argument("--references", type=int, default=10, help="best-scored essays to try as the reference")
    parser.add_argument("--resamples", type=int, default=OF_CORRELATIONS.resamples, help="resamples per interval")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for name, least in (("references", 1), ("resamples", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name} must be at least {least}")
    return options
