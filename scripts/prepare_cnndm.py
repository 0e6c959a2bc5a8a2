"""Write a training folder of real CNN/DailyMail stories: original CNN share, seeded samples, other systems' outputs.

    python scripts/prepare_cnndm.py ../shared/data/cnndm --out runs/cnndm/data --systems

The source folder has ``train``, ``val`` and ``test`` as ``.jsonl.gz`` with id, article, highlights and source (cnn or
dailymail), and for ``--systems`` ``systems_test_outputs.jsonl.gz`` (id, reference, one column per system). Writes
``train.jsonl``, ``valid.jsonl``, ``test.jsonl`` in seeded random order and, with ``--systems``, the records of See et
al.'s (2017) outputs and of the first three sentences (lead-3) of the same test articles.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rlsum.readers import read_file
from rlsum.records import Output, write_outputs

SEE_SYSTEMS = ("see2017_pointer_gen", "see2017_pointer_gen_cov")
Row = dict[str, Any]


def main() -> None:
    options = _options()
    splits = {name: _read(options.folder, name) for name in ("train", "val", "test")}
    held_out = {row["highlights"] for name in ("val", "test") for row in splits[name]}
    train = [row for row in splits["train"] if row["highlights"] not in held_out]
    print(f"train: {len(splits['train']) - len(train)} rows dropped because val or test has the same summary")
    print(f"test: {sum(_ambiguous(splits['test']))} rows dropped because their summary is not unique")
    test = [row for row, ambiguous in zip(splits["test"], _ambiguous(splits["test"]), strict=True) if not ambiguous]

    chosen = {
        "train": _mix(train, options.cnn_share, options.train, options.seed),
        "valid": _mix(splits["val"], options.cnn_share, options.valid, options.seed + 1),
        "test": random.Random(options.seed + 2).sample(test, min(options.test, len(test))),
    }
    for name, rows in chosen.items():
        _write(options.out / f"{name}.jsonl", rows)
    if options.systems:
        _write_systems(options.folder, options.out, chosen["test"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder with train, val and test .jsonl.gz")
    parser.add_argument("--out", type=Path, required=True, help="folder to write, e.g. runs/cnndm/data")
    parser.add_argument("--train", type=int, default=None, help="training rows (default: all DailyMail plus CNN)")
    parser.add_argument("--valid", type=int, default=1000, help="validation rows")
    parser.add_argument("--test", type=int, default=1000, help="test rows, drawn from all without regard to source")
    parser.add_argument("--cnn-share", type=float, default=0.095, help="CNN's share of train and valid, as in test")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--systems", action="store_true", help="also write other systems' outputs and lead-3")
    options = parser.parse_args()
    if not 0 <= options.cnn_share < 1:
        parser.error(f"--cnn-share {options.cnn_share}: must be at least 0 and below 1")
    return options


def _read(folder: Path, name: str) -> list[Row]:
    reads = list(read_file(folder / f"{name}.jsonl.gz"))
    if broken := Counter(read.problem for read in reads if read.problem):
        print(f"{name}: broken rows dropped: {dict(broken)}")
    return [read.fields for read in reads if not read.problem]


def _ambiguous(rows: list[Row]) -> list[bool]:
    """Rows whose id was found by their summary, and whose summary another row has too."""
    counts = Counter(row["highlights"] for row in rows)
    return [bool(row.get("id_ambiguous")) or counts[row["highlights"]] > 1 for row in rows]


def _mix(rows: list[Row], cnn_share: float, total: int | None, seed: int) -> list[Row]:
    """``total`` rows (None: as many as the DailyMail rows allow) of which ``cnn_share`` are CNN's, shuffled."""
    chance = random.Random(seed)
    cnn = [row for row in rows if row["source"] == "cnn"]
    daily_mail = [row for row in rows if row["source"] != "cnn"]
    total = min(total or len(rows), int(len(daily_mail) / (1 - cnn_share)))
    from_cnn = min(round(total * cnn_share), len(cnn))
    chosen = chance.sample(cnn, from_cnn) + chance.sample(daily_mail, total - from_cnn)
    chance.shuffle(chosen)
    return chosen


def _write(path: Path, rows: Iterable[Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    sources: Counter[str] = Counter()
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            fields = {name: row[name] for name in ("id", "article", "highlights")}
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")
            sources[row["source"]] += 1
    print(f"{path}: {sources.total()} rows, {dict(sorted(sources.items()))}")


def _write_systems(folder: Path, out: Path, test: list[Row]) -> None:
    """See et al.'s outputs are scored against the reference in their own tokenisation, lead-3 against ours."""
    from rewards.text.sentences import sentences

    outputs = {read.fields["id"]: read.fields for read in read_file(folder / "systems_test_outputs.jsonl.gz")}
    for system in SEE_SYSTEMS:
        theirs = ((row, outputs[row["id"]]) for row in test)
        records = (
            Output(row["id"], row["article"], (other["reference"],), other[system], system) for row, other in theirs
        )
        print(f"{out / system}.jsonl: {write_outputs(out / f'{system}.jsonl', records)} records")
    leads = (
        Output(
            row["id"], row["article"], (row["highlights"],), "\n".join(sentences(row["article"])[:3]), system="lead-3"
        )
        for row in test
    )
    print(f"{out / 'lead3.jsonl'}: {write_outputs(out / 'lead3.jsonl', leads)} records")


if __name__ == "__main__":
    main()
