"""Chen, Ding, Levinboim and Soricut 2020, made anew: every table and figure, measured beside published.

    OMP_NUM_THREADS=1 python scripts/reproduce_twmd.py all --data ../shared/data/human --out runs/twmd

Prints each table with the published numbers and says which of the paper's findings hold; writes CSV, Markdown and PNG
into the folder. Data that are not there are skipped with a line. Scores are remembered in OUT/scores: a study that was
stopped goes on, and a second one on the same data takes seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from reproductions.published import Published, read_published
from reproductions.study import Study, tell, write
from reproductions.twmd import fine_tuning, geometry, layers, sinkhorn, speed, tables, temperature
from reproductions.twmd.metrics import Setting
from reproductions.twmd.pairs import Pairs, pairs_of

from rewards.errors import RewardError
from rlsum.errors import UserError
from rlsum.judgments.collection import Judgments
from rlsum.judgments.registry import load
from rlsum.metric_fitting.training import FitOptions
from rlsum.records import RecordError

PUBLISHED = Path("../shared/published/twmd_2020.csv")
STUDIES: dict[str, tuple[str, ...]] = {  # -> the data it needs
    "table1": ("sts",),
    "table2": ("wmt17",),
    "table3": ("wmt18",),
    "table4": ("wmt15", "wmt16", "wmt17"),
    "figures1-2": ("wmt17",),
    "figure3": ("wmt15", "wmt16", "wmt17"),
    "figure4": ("wmt17",),
    "appendix-a": ("wmt17",),
    "appendix-b": ("wmt15", "wmt16"),
    "appendix-c": ("wmt17",),
    "centering-values": ("wmt17",),
    "speed": ("wmt17",),
}
FILES = {
    "sts": "sts/sts2012_2016.tsv.gz",
    **{f"wmt{year}": f"wmt_da/wmt{year}_da_seg.tsv.gz" for year in (15, 16, 17, 18)},
}
READERS = {"sts": "sts", "wmt": "wmt-da"}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    setting = Setting(
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
    made = studies(setting, data, options)
    wanted = list(STUDIES) if "all" in options.studies else list(dict.fromkeys(options.studies))
    try:
        print(f"encoder {setting.description}; {options.resamples:,} resamples, seed {options.seed}")
        for name in wanted:
            missing = [each for each in STUDIES[name] if not data.path(each).exists()]
            if missing:
                print(f"\n{name}: skipped, {', '.join(f'no {data.path(each)} (--{each} PATH)' for each in missing)}")
                continue
            started = time.perf_counter(), time.process_time()
            study = made[name]()
            print(flush=True)
            tell(study)
            wall, cpu = time.perf_counter() - started[0], time.process_time() - started[1]
            written = ", ".join(str(each) for each in write(study, options.out))
            print(f"{name}: {wall:.0f} seconds, {cpu:.0f} of a processor; {written}", flush=True)
    except (UserError, RecordError, RewardError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def studies(setting: Setting, data: Data, options: argparse.Namespace) -> dict[str, Callable[[], Study]]:
    training = FitOptions(options.epochs, seed=options.seed)
    return {
        "table1": lambda: tables.table1(setting, data.pairs("sts"), options.sts_protocol),
        "table2": lambda: tables.wmt_table(setting, data.pairs("wmt17"), "table2", "WMT17"),
        "table3": lambda: tables.wmt_table(setting, data.pairs("wmt18"), "table3", "WMT18"),
        "table4": lambda: fine_tuning.table4(
            setting,
            [data.judgments("wmt15"), data.judgments("wmt16")],
            [data.pairs(each) for each in ("wmt17", "wmt18") if data.path(each).exists()],
            options.out / "learned",
            training,
            options.train_limit,
        ),
        "figures1-2": lambda: geometry.figures(setting, data.pairs("wmt17").references),
        "figure3": lambda: temperature.figure3(
            setting, [data.pairs(each) for each in ("wmt15", "wmt16", "wmt17", "wmt18") if data.path(each).exists()]
        ),
        "figure4": lambda: sinkhorn.figure4(setting, data.pairs("wmt17")),
        "appendix-a": lambda: layers.appendix_a(setting, data.pairs("wmt17")),
        "appendix-b": lambda: temperature.appendix_b(setting, data.joined("wmt15", "wmt16")),
        "appendix-c": lambda: tables.appendix_c(setting, data.pairs("wmt17")),
        "centering-values": lambda: layers.batch_against_corpus(setting, data.pairs("wmt17")),
        "speed": lambda: speed.cost(setting, data.pairs("wmt17")),
    }


class Data:
    """The judgments of a run, each read once."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.judgments = cache(self._judgments)
        self.pairs = cache(self._pairs)

    def path(self, name: str) -> Path:
        """Where the data are, whether or not they are there."""
        return getattr(self.options, name) or self.options.data / FILES[name]

    def _judgments(self, name: str) -> Judgments:
        return load(f"{READERS[name.rstrip('0123456789')]}:{self.path(name)}")

    def _pairs(self, name: str) -> Pairs:
        return pairs_of(self.judgments(name), name.upper(), self.options.limit)

    def joined(self, *names: str) -> Pairs:
        """Several years together; a group is a language pair of a year."""
        found = [row for name in names for row in self.judgments(name).rows]
        return pairs_of(Judgments("+".join(names), tuple(found)), "WMT15-16", self.options.limit, yearly=True)


def published_numbers(path: Path | None) -> Published:
    if path is None and not PUBLISHED.exists():
        print(f"no {PUBLISHED}: the published numbers are not available (--published FILE)")
        return Published()
    return read_published(path or PUBLISHED)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "studies", nargs="+", choices=["all", *STUDIES], metavar="STUDY", help=", ".join(["all", *STUDIES])
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data/human"), help="folder with sts/ and wmt_da/")
    for name in FILES:
        parser.add_argument(f"--{name}", type=Path, metavar="PATH", help=f"instead of DATA/{FILES[name]}")
    parser.add_argument("--published", type=Path, metavar="FILE", help=f"published numbers (CSV); {PUBLISHED}")
    parser.add_argument("--out", type=Path, default=Path("runs/twmd"), help="folder for CSV, Markdown and PNG")
    parser.add_argument("--encoder", default="minilm", help="minilm, a directory, or a hub name")
    parser.add_argument("--layer", help="by default 10 of 12, 19 of 24, else at 5/6 of the depth")
    parser.add_argument("--beside", default="roberta-base", metavar="ENCODER", help="whose published numbers to show")
    parser.add_argument("--sts-protocol", choices=("official", "plain"), default="official")
    parser.add_argument(
        "--direction",
        choices=("precision", "recall", "f1"),
        default="precision",
        help="precision averages over candidate tokens: what the authors' code calls recall",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="the first N pairs of each group, to try things")
    parser.add_argument("--resamples", type=int, default=1_000, help="of the bootstrap")
    parser.add_argument("--epochs", type=int, default=2, help="of table 4, at most")
    parser.add_argument("--train-limit", type=int, metavar="N", help="so many judgments of WMT15-16 for table 4")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
