"""Put all that a GPU machine without a network needs into one folder.

    python scripts/gpu/prepare.py FOLDER CORPUS

CORPUS has train, valid and test (`train.jsonl` and so on, any format that `rlsum train` reads). FOLDER gets the code as
it is committed, wheels of what that machine lacks, articles and summaries in lower case, compressed, and `run.sh`,
which `bash FOLDER/run.sh first` and `bash FOLDER/run.sh second` call there. That machine has Python 3.12, torch,
transformers, accelerate, peft and what these need.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path

HERE = Path(__file__).resolve().parent
SPLITS = {"train": 14_000, "valid": 500, "test": 800}  # rows at most
NEEDED = ("pydantic", "pydantic_core", "typing-inspection", "annotated-types", "datasets", "dill", "multiprocess",
          "nltk", "choix", "krippendorff", "starlette", "uvicorn", "itsdangerous")  # fmt: skip
BUILT = ("rouge-score",)  # of Python alone, published as source
WELCOME = (  # the rest that the metrics need, if it fits
    ("pot",),
    ("spacy", "thinc", "blis", "cymem", "preshed", "murmurhash", "srsly", "catalogue", "wasabi", "confection", "weasel",
     "cloudpathlib", "smart-open", "spacy-legacy", "spacy-loggers"),
)  # fmt: skip
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_24_x86_64", "manylinux_2_17_x86_64",
             "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("corpus", type=Path, help="folder with train, valid and test")
    parser.add_argument("--source", default="article", help="column of the articles")
    parser.add_argument("--target", default="highlights", help="column of the summaries")
    parser.add_argument("--tokens", type=int, default=400, help="of an article at most")
    parser.add_argument("--model", type=Path, action="append", default=[], help="folder of a small model to take along")
    parser.add_argument("--python", default="3.12", help="version there")
    parser.add_argument("--mib", type=int, default=60, help="size of the folder at most")
    options = parser.parse_args()
    if options.folder.exists():
        sys.exit(f"{options.folder} exists: name a new folder, or remove it")
    files = {split: next(iter(sorted(options.corpus.glob(f"{split}.*"))), None) for split in SPLITS}
    if missing := [split for split, file in files.items() if file is None]:
        sys.exit(f"{options.corpus}: no file {missing[0]}.*; name a folder with {', '.join(SPLITS)}")
    wheels = options.folder / "wheels"
    wheels.mkdir(parents=True)
    for split, file in files.items():
        write(options.folder / f"{split}.jsonl.gz", pairs(file, options.source, options.target, options.tokens), split)
    code = options.folder / "code.tar.gz"
    archive = ["git", "archive", "--format=tar.gz", f"--output={code.resolve()}", "HEAD"]
    subprocess.run(archive, cwd=HERE.parents[1], check=True)
    for name in ("run.sh", "start.yaml", "reward.yaml"):
        shutil.copy(HERE / name, options.folder)
    for model in options.model:
        shutil.copytree(model, options.folder / "models" / model.name)
    download(NEEDED, wheels, options.python)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels)]
    subprocess.run([*build, *(f"{name}=={version(name)}" for name in BUILT)], check=True)
    left_out = []
    for names in WELCOME:
        more = options.folder / "more"
        download(names, more, options.python)
        if mib(options.folder) <= options.mib:
            shutil.copytree(more, wheels, dirs_exist_ok=True)
        else:
            left_out.append(names[0])
        shutil.rmtree(more)
    print(f"{options.folder}: {mib(options.folder):.1f} MiB" + "".join(f", without {name}" for name in left_out))
    if mib(options.folder) > options.mib:
        sys.exit(f"more than --mib {options.mib}: take along fewer models, or shorter articles by --tokens")


def pairs(file: Path, source: str, target: str, tokens: int) -> Iterator[dict[str, str]]:
    """Articles and summaries of a file as words between spaces, the articles cut."""
    from rlsum.readers.formats import read_file

    for number, read in enumerate(read_file(file)):
        if read.problem or not {source, target} <= read.fields.keys():
            sys.exit(f"{file}, row {number + 1}: {read.problem or f'no {source} and {target}; see --source, --target'}")
        article, summary = (words(read.fields[column]) for column in (source, target))
        yield {"id": str(number), "article": " ".join(article.split(" ")[:tokens]), "highlights": summary}


def words(text: object) -> str:
    """Words and punctuation of a text, or of its lines, in lower case."""
    lines = text if isinstance(text, list) else str(text).split("\n")
    return "\n".join(" ".join(re.findall(r"\w+|[^\w\s]", line.lower())) for line in lines)


def write(path: Path, rows: Iterator[dict[str, str]], split: str) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in islice(rows, SPLITS[split]))


def download(names: Sequence[str], folder: Path, python: str) -> None:
    """Wheels of the versions installed here, for the machine there."""
    where = [option for platform in PLATFORMS for option in ("--platform", platform)]
    wanted = [f"{name}=={version(name)}" for name in names]
    call = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "--python-version",
        python,
    ]
    subprocess.run([*call, "--implementation", "cp", *where, "-d", str(folder), *wanted], check=True)


def mib(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20


if __name__ == "__main__":
    main()
