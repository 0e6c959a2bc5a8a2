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
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from rlsum.data.remembered import counted
from rlsum.readers import read_file
from rlsum.records import Output, write_outputs

SEE_SYSTEMS = ("see2017_pointer_gen", "see2017_pointer_gen_cov")
Row = dict[str, Any]


def main() -> None:
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.out) as folder:
        splits = {name: Split.of(options.folder, name, Path(folder)) for name in ("train", "val", "test")}
        held_out = {*splits["val"].summaries, *splits["test"].summaries}
        train = [row for row, summary in enumerate(splits["train"].summaries) if summary not in held_out]
        dropped = len(splits["train"].summaries) - len(train)
        print(f"train: {dropped} rows dropped because val or test has the same summary")
        test = splits["test"].unique()
        print(f"test: {len(splits['test'].summaries) - len(test)} rows dropped because their summary is not unique")
        valid = range(len(splits["val"].summaries))
        drawn = random.Random(options.seed + 2).sample(test, min(options.test, len(test)))
        chosen = {
            "train": splits["train"].rows(_mix(splits["train"], train, options.cnn_share, options.train, options.seed)),
            "valid": splits["val"].rows(_mix(splits["val"], valid, options.cnn_share, options.valid, options.seed + 1)),
            "test": splits["test"].rows(drawn),
        }
        for name, rows in chosen.items():
            _write(options.out / f"{name}.jsonl", rows)
        if options.systems:
            _write_systems(options.folder, options.out, [*splits["test"].rows(drawn)])


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


@dataclass
class Split:
    """The rows of a file, which lie on the disk; of each its place there, its source, and a hash of its summary."""

    file: IO[bytes]
    places: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    summaries: list[bytes] = field(default_factory=list)
    ambiguous: set[int] = field(default_factory=set)  # rows whose id was found by their summary

    @classmethod
    def of(cls, folder: Path, name: str, scratch: Path) -> Split:
        """Read a file of ``folder`` into one of ``scratch``, without broken rows."""
        split = cls((scratch / name).open("w+b"))
        broken: Counter[str] = Counter()
        for read in counted(read_file(folder / f"{name}.jsonl.gz"), f"reading {name}"):
            if read.problem:
                broken[read.problem] += 1
                continue
            split.places.append(split.file.tell())
            split.file.write(json.dumps(read.fields).encode() + b"\n")
            if read.fields.get("id_ambiguous"):
                split.ambiguous.add(len(split.sources))
            split.sources.append("cnn" if read.fields["source"] == "cnn" else "dailymail")
            split.summaries.append(blake2b(read.fields["highlights"].encode(), digest_size=16).digest())
        if broken:
            print(f"{name}: broken rows dropped: {dict(broken)}")
        return split

    def unique(self) -> list[int]:
        """The rows whose summary no other has, and whose id was not found by it."""
        counts = Counter(self.summaries)
        return [row for row, text in enumerate(self.summaries) if counts[text] == 1 and row not in self.ambiguous]

    def rows(self, numbers: Iterable[int]) -> Iterable[Row]:
        """Some rows, in the order of their numbers."""
        for number in numbers:
            self.file.seek(self.places[number])
            yield json.loads(self.file.readline())


def _mix(split: Split, rows: Sequence[int], cnn_share: float, total: int | None, seed: int) -> list[int]:
    """``total`` rows (None: as many as the DailyMail rows allow) of which ``cnn_share`` are CNN's, shuffled."""
    chance = random.Random(seed)
    cnn = [row for row in rows if split.sources[row] == "cnn"]
    daily_mail = [row for row in rows if split.sources[row] != "cnn"]
    total = min(total or len(rows), int(len(daily_mail) / (1 - cnn_share)))
    from_cnn = min(round(total * cnn_share), len(cnn))
    chosen = chance.sample(cnn, from_cnn) + chance.sample(daily_mail, total - from_cnn)
    chance.shuffle(chosen)
    return chosen


def _write(path: Path, rows: Iterable[Row]) -> None:
    sources: Counter[str] = Counter()
    with path.open("w", encoding="utf-8") as file:
        for row in counted(rows, f"writing {path.name}"):
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
            Output(row["id"], row["article"], (output["reference"],), output[system], system) for row, output in theirs
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
