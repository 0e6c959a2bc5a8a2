"""``rlsum init`` and ``rlsum configs``: a configuration for one's own data, and those of the package."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import yaml

from rlsum import yaml_files
from rlsum.errors import UserError
from rlsum.files import check_free

if TYPE_CHECKING:
    from rlsum.data.look import Look

START = """\
# Maximum likelihood on {data}: {rows:,} articles to train on.
# Start with: rlsum train {name}.yaml     Other keys: rlsum train --keys all
run: runs/{name}
data:
  train: {train}
  valid: {valid}
  source_column: {source}{others}
  reference_column: {reference}
  tokenizer: {tokenizer}
  lowercase: {lowercase}
  max_source: {max_source}           # half of the articles have at most {source_50} tokens, 95% at most {source_95}
  max_target: {max_target}            # half of the summaries have at most {target_50}, 95% at most {target_95}
vocabulary:
  size: 30000               # words that the model can write; others are copied from the article
  min_count: 20             # a rarer word is copied, too: too few examples to learn it from
  embeddings: null          # a word2vec, GloVe or fastText file of your own helps a small corpus
model: {model}   # or a pretrained one: model={{kind: seq2seq, pretrained: facebook/bart-base}}
objective: {{kind: mle}}
training:
  steps: {steps}               # about {epochs} passes over the articles
  batch_size: 16
  learning_rate: {rate}
  schedule: linear
  warmup: 20
  validate_every: {every}
  validate_decoded: 100     # validation articles that are also decoded and scored
  patience: 5               # stops after so many validations without gain
decoding: {{min_length: {min_target}, max_length: {max_target}, block_ngrams: 3}}
metrics: [{metrics}]
"""

REWARDED = """\
# The same model, trained on a reward: rlsum train {name}-rewarded.yaml --init runs/{name}
# Other rewards: rlsum rewards. A control, the same updates without the reward: objective.gamma=0 run=NEW
base: {base}
run: runs/{name}-rewarded
model: null                 # sizes, words and weights come from --init
objective:
  kind: mixed               # reward and likelihood together
  reward: {reward}
  gamma: 0.93               # weight of the reward; the rest is likelihood
  estimator: reinforce++-baseline
  samples: 5                # summaries that are drawn of each article and scored
sampling: {{temperature: 0.7, block_ngrams: 3}}
training:
  steps: {rewarded}
  learning_rate: {rewarded_rate}
  validate_every: {rewarded_every}
"""

COMPARED = """\
# Which reward helps on {data}? Likelihood, then each reward and a control, in two seeds, and a report:
# rlsum compare {name}-compare.yaml --plan     Other keys: rlsum compare --keys
folder: runs/{name}-compare
test: {test}
seeds: [1, 2]
start: {{base: {name}.yaml}}
cell: {{base: {name}-rewarded.yaml}}
rewards:                    # others: rlsum rewards
  rouge-l: {reward}
  rouge-1: {second}
controls: [none]            # none: the same updates by likelihood alone; also shuffled, constant
metrics: [{metrics}]
outputs:
  lead: {lead}     # {sentences} of each article: what a summarizer must beat
decoding:
  beam: {{beam: 4}}
"""

SMALL = 5000  # articles to train on
UNICODE = "(tokenizer=unicode, stemmer=false)"  # of ROUGE, for languages other than English


def init(
    data: Annotated[Path, typer.Argument(help="A file of articles and summaries, or a folder with train and valid.")],
    name: Annotated[str | None, typer.Option(help="Name of the run and its files. Default: that of DATA.")] = None,
    source_column: Annotated[str | None, typer.Option(help="Column of the articles. Default: by name, length.")] = None,
    reference_column: Annotated[str | None, typer.Option(help="Column of the summaries. Default: likewise.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files that it writes.")] = False,
) -> None:
    """Look at your data, and write configurations for it, with comments, into this folder.

    Writes NAME.yaml, which trains by likelihood, NAME-rewarded.yaml, which goes on with a reward, and
    NAME-compare.yaml, which does both for two rewards, two seeds and a control, and reports which helped. Columns,
    lengths, tokenizer, casing and metrics follow from the data. One file is split into NAME-data/train.jsonl, valid
    and test.

    **Examples**

    rlsum init articles.csv

    rlsum init my-corpus --name mine --source-column body
    """
    from rlsum.data.look import leads, look, splits_of
    from rlsum.records import write_outputs

    if not data.exists():
        raise UserError(f"{data}: no such file or folder; give your data, such as articles.csv")
    name = name or re.sub(r"[^\w-]+", "-", data.resolve().name.split(".")[0])
    paths = [Path(f"{name}.yaml"), Path(f"{name}-rewarded.yaml"), Path(f"{name}-compare.yaml")]
    for path in paths:
        check_free("--name", path, overwrite)
    files = splits_of(data) if data.is_dir() else {}
    found = look(files.get("train", data), source_column, reference_column)
    if not files:
        files, found = _split(data, name, overwrite, found)
    test = files.get("test", files["valid"])
    sentences, outputs = leads(test, found.source, found.reference)
    first = "the first sentence" if sentences == 1 else f"the first {sentences} sentences"
    lead = Path(f"{name}-data") / "lead.jsonl"
    check_free("--name", lead, overwrite)
    write_outputs(lead, outputs)
    values = _values(data, name, files, found) | {"lead": _quoted(str(lead)), "sentences": first}
    for path, text in zip(paths, (START, REWARDED, COMPARED), strict=True):
        path.write_text(text.format(**values), encoding="utf-8")
    for line in _notes(found):
        typer.echo(line)
    typer.echo(
        f"{paths[0]}, {paths[1]}, {paths[2]}: read them. All at once, with a report:\n"
        f"  rlsum compare {paths[2]} --plan\n  rlsum compare {paths[2]}\n"
        "or one model of each:\n"
        f"  rlsum train {paths[0]}\n  rlsum train {paths[1]} --init runs/{name}\n"
        f"  rlsum generate runs/{name} {test} -o outputs/{name}.jsonl\n"
        f"  rlsum generate runs/{name}-rewarded {test} -o outputs/{name}-rewarded.jsonl\n"
        f"  rlsum evaluate outputs/{name}.jsonl outputs/{name}-rewarded.jsonl"
        + ("" if found.english else f' --metrics "rouge-1{UNICODE}, rouge-2{UNICODE}, rouge-lsum{UNICODE}"')
    )


def _split(data: Path, name: str, overwrite: bool, found: Look) -> tuple[dict[str, Path], Look]:
    """One file as a file for each part, and the look of the first."""
    from rlsum.data.look import split

    files = {part: Path(f"{name}-data") / f"{part}.jsonl" for part in ("train", "valid", "test")}
    parts = split(data, found.source)
    for path in files.values():
        check_free("--name", path, overwrite)
    for part, reads in parts.items():
        lines = (json.dumps({"id": read.name, **read.fields}, ensure_ascii=False) for read in reads)
        files[part].write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return files, replace(found, rows=len(parts["train"]))


def _values(data: Path, name: str, files: dict[str, Path], found: Look) -> dict[str, object]:
    small = found.rows < SMALL  # few articles: a small model, and more passes over them
    steps = min(20_000, max(800, found.rows * 10 // 16))
    names = ("rouge-1", "rouge-2", "rouge-l")
    rouge = {name: name if found.english else f"'{name}{UNICODE}'" for name in names}
    others = [column for column in found.columns if column not in (found.source, found.reference)]
    (source_50, source_95), (target_50, target_95) = found.sources, found.references
    return {
        "data": data,
        "name": name,
        "base": f"{name}.yaml",
        "rows": found.rows,
        "train": _quoted(str(files["train"])),
        "valid": _quoted(str(files["valid"])),
        "test": _quoted(str(files.get("test", files["valid"]))),
        "source": _quoted(found.source),
        "reference": _quoted(found.reference),
        "others": f"     # other columns: {', '.join(map(repr, others))}" if others else "",
        "tokenizer": "whitespace     # the texts are tokenised" if found.tokenised else "spacy          # raw text",
        "lowercase": "false           # the texts have no capitals"
        if found.lowercase
        else "true            # fewer words",
        "max_source": min(200 if small else 400, max(20, -(-source_95 // 10) * 10)),
        "max_target": (longest := min(100, max(10, -(-target_95 // 5) * 5))),
        "min_target": min(longest, target_50) // 2,
        "model": "{embedding: 64, hidden: 64, dropout: 0.3}" if small else "{embedding: 128, hidden: 128}",
        **{"rate": "3e-3" if small else "1e-3", "rewarded_rate": "1e-3" if small else "3e-4"},
        **{"source_50": source_50, "source_95": source_95, "target_50": target_50, "target_95": target_95},
        **{"steps": steps, "epochs": round(steps * 16 / found.rows), "every": max(20, steps // 10)},
        **{"rewarded": max(100, steps // 5), "rewarded_every": max(25, steps // 20)},
        **{"metrics": ", ".join(rouge.values()), "reward": rouge["rouge-l"], "second": rouge["rouge-1"]},
    }


def _quoted(name: str) -> str:
    """A name or path as YAML reads it: an unquoted no would be false."""
    return json.dumps(name, ensure_ascii=False)


def _notes(found: Look) -> list[str]:
    articles, summaries = found.sources, found.references
    lines = [
        f"articles: column {found.source!r}, {articles[0]} tokens in the middle; summaries: {found.reference!r}, "
        f"{summaries[0]} tokens; {'tokenised' if found.tokenised else 'raw text'}, "
        f"{'no capitals' if found.lowercase else 'with capitals'}"
    ]
    if found.broken:
        lines.append(f"rows that cannot be read are left out: {len(found.broken):,}, the first {found.broken[0]}")
    if not found.english:
        lines.append(
            "the articles do not read as English: ROUGE counts words of every script and does not stem; movers and the "
            "tokenizer spacy are made for English"
        )
    if not found.spaced:
        lines.append(
            "no spaces separate the words: write each text as words with spaces between them, or train a pretrained "
            "model, which has its own pieces of words (model={kind: seq2seq, pretrained: NAME})"
        )
    if found.rows < 1000:
        lines.append(
            f"{found.rows:,} articles are few for a model from nothing: expect it to stay below the lead of the "
            "articles, a row of the comparison; a pretrained one learns from less "
            "(model={kind: seq2seq, pretrained: NAME})"
        )
    return lines


def configs(name: Annotated[str | None, typer.Argument(help="Name of a configuration, to print it.")] = None) -> None:
    """List the configurations that `rlsum train NAME` knows, or print one of them to change.

    A printed configuration includes what it takes from its `base`. Those of `accelerate` are for its launcher.

    **Examples**

    rlsum configs

    rlsum configs demo/sms > mine.yaml
    """
    if name is not None:
        typer.echo(_printed(name), nl=False)
        return
    known = yaml_files.names()
    width = max(map(len, known))
    for each in known:
        typer.echo(f"{each:{width}}  {yaml_files.summary(each)}")


def _printed(name: str) -> str:
    path = yaml_files.locate(name)
    text = path.read_text(encoding="utf-8")
    if "base" not in (yaml_files.parse(text) or {}):
        return text
    merged = yaml.safe_dump(yaml_files.read(path), sort_keys=False, allow_unicode=True, width=120)
    return f"# {yaml_files.summary(name)}.\n{merged}"
