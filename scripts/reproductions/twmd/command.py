"""Reproduce the tables and figures of Chen, Ding, Levinboim and Soricut (2020), with the published numbers.

    OMP_NUM_THREADS=1 python scripts/reproduce.py twmd all --data ../shared/data/human --out runs/twmd

Prints each table with the published numbers and the verdict on each finding of the paper; writes Markdown and PNG to
OUT. Tables without data are skipped. Scores are cached in OUT/scores, so that a stopped run continues and a second
run on the same data takes seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from reproductions.published import Published, read_published
from reproductions.reproduction import Reproduction, run
from reproductions.twmd import fine_tuning, geometry, layers, sinkhorn, tables, temperature
from reproductions.twmd.metrics import EncoderSetup
from reproductions.twmd.pairs import SentencePairs, pairs_of
from rlsum.judgments.collection import Judgments
from rlsum.judgments.registry import load
from rlsum.metric_fitting.options import FitOptions

PUBLISHED = Path("../shared/published/twmd_2020.csv")
STUDIES: dict[str, tuple[str, ...]] = {  # name -> data
    "table1": ("sts",),
    "table2": ("wmt17",),
    "table3": ("wmt18",),
    "table4": ("wmt15", "wmt16", "wmt17"),
    "figures1-2": ("wmt17",),
    "figure3": ("wmt15", "wmt16", "wmt17"),
    "figure4": ("wmt17",),
    "appendix-a": ("wmt17",),
    "appendix-c": ("wmt17",),
    "centering-values": ("wmt17",),
}
FILES = {
    "sts": "sts/sts2012_2016.tsv.gz",
    **{f"wmt{year}": f"wmt_da/wmt{year}_da_seg.tsv.gz" for year in (15, 16, 17, 18)},
}
READERS = {"sts": "sts", "wmt": "wmt-da"}


def main(arguments: Sequence[str]) -> None:
    options = parsed(arguments)
    setup = EncoderSetup(
        options.encoder,
        options.layer,
        options.direction,
        published_numbers(options.published),
        options.beside,
        options.resamples,
        options.seed,
        options.out / "scores",
    )
    data = Data(options)
    runs = studies(setup, data, options)
    wanted = list(STUDIES) if "all" in options.studies else list(dict.fromkeys(options.studies))
    print(f"encoder {setup.description}; {options.resamples:,} resamples, seed {options.seed}")
    for name in wanted:
        missing = [item for item in STUDIES[name] if not data.path(item).exists()]
        if missing:
            print(f"\n{name}: skipped, {', '.join(f'no {data.path(item)} (--{item} PATH)' for item in missing)}")
        else:
            run(name, runs[name], options.out)


def studies(setup: EncoderSetup, data: Data, options: argparse.Namespace) -> dict[str, Callable[[], Reproduction]]:
    training = FitOptions(options.epochs, seed=options.seed)
    return {
        "table1": lambda: tables.table1(setup, data.pairs("sts"), options.sts_protocol),
        "table2": lambda: tables.wmt_table(setup, data.pairs("wmt17"), "table2", "WMT17"),
        "table3": lambda: tables.wmt_table(setup, data.pairs("wmt18"), "table3", "WMT18"),
        "table4": lambda: fine_tuning.table4(
            setup,
            [data.judgments("wmt15"), data.judgments("wmt16")],
            [data.pairs(name) for name in ("wmt17", "wmt18") if data.path(name).exists()],
            options.out / "learned",
            training,
            options.train_limit,
        ),
        "figures1-2": lambda: geometry.figures(setup, data.pairs("wmt17").references),
        "figure3": lambda: temperature.figure3(
            setup, [data.pairs(name) for name in ("wmt15", "wmt16", "wmt17", "wmt18") if data.path(name).exists()]
        ),
        "figure4": lambda: sinkhorn.figure4(setup, data.pairs("wmt17")),
        "appendix-a": lambda: layers.appendix_a(setup, data.pairs("wmt17")),
        "appendix-c": lambda: tables.appendix_c(setup, data.pairs("wmt17")),
        "centering-values": lambda: layers.batch_against_corpus(setup, data.pairs("wmt17")),
    }


class Data:
    """The judgments of a run; each file is read once."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.judgments = cache(self._judgments)
        self.pairs = cache(self._pairs)

    def path(self, name: str) -> Path:
        """The path of the data, which may not exist."""
        return getattr(self.options, name) or self.options.data / FILES[name]

    def _judgments(self, name: str) -> Judgments:
        return load(f"{READERS[name.rstrip('0123456789')]}:{self.path(name)}")

    def _pairs(self, name: str) -> SentencePairs:
        return pairs_of(self.judgments(name), name.upper(), self.options.limit)


def published_numbers(path: Path | None) -> Published:
    if path is None and not PUBLISHED.exists():
        print(f"no {PUBLISHED}: the published numbers are not available (--published FILE)")
        return {}
    return read_published(path or PUBLISHED)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "reproduce.py twmd", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "studies", nargs="+", choices=["all", *STUDIES], metavar="STUDY", help=", ".join(["all", *STUDIES])
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data/human"), help="folder with sts/ and wmt_da/")
    for name in FILES:
        parser.add_argument(f"--{name}", type=Path, metavar="PATH", help=f"instead of DATA/{FILES[name]}")
    parser.add_argument("--published", type=Path, metavar="FILE", help=f"published numbers (CSV); {PUBLISHED}")
    parser.add_argument("--out", type=Path, default=Path("runs/twmd"), help="folder for Markdown and PNG")
    parser.add_argument("--encoder", default="minilm", help="minilm, a directory, or a hub name")
    parser.add_argument("--layer", help="default: 10 of 12, 19 of 24, otherwise at 5/6 of the depth")
    parser.add_argument("--beside", default="roberta-base", metavar="ENCODER", help="encoder of the published numbers")
    parser.add_argument("--sts-protocol", choices=("official", "plain"), default="official")
    parser.add_argument(
        "--direction",
        choices=("precision", "recall", "f1"),
        default="precision",
        help="precision averages over candidate tokens, which the authors' code calls recall",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="use only the first N pairs of each group, for a trial")
    parser.add_argument("--resamples", type=int, default=1_000, help="bootstrap resamples")
    parser.add_argument("--epochs", type=int, default=2, help="maximum number of epochs of table4")
    parser.add_argument("--train-limit", type=int, metavar="N", help="use N judgments of WMT15-16 for table4")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)
