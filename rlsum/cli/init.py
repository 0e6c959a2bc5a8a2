"""``rlsum init``: configurations for one's own data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rlsum.cli.reading import Language, ReferenceLists
from rlsum.errors import UserError
from rlsum.files import check_free

if TYPE_CHECKING:
    from rlsum.data.look import Look
    from rlsum.drafts.pretrained import Pretrained

PARTS = ("train", "valid", "test")
FEW = 1000  # articles, for a model from nothing


def init(
    data: Annotated[Path, typer.Argument(help="A file of articles and summaries, or a folder with train and valid.")],
    name: Annotated[str | None, typer.Option(help="Name of the run and its files. Default: that of DATA.")] = None,
    pretrained: Annotated[
        str | None, typer.Option(metavar="MODEL", help="An encoder-decoder to fine-tune: on the hub, or a folder.")
    ] = None,
    language: Language = None,
    source_column: Annotated[str | None, typer.Option(help="Column of the articles. Default: by name, length.")] = None,
    reference_column: Annotated[str | None, typer.Option(help="Column of the summaries. Default: likewise.")] = None,
    reference_lists: ReferenceLists = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the files that it writes.")] = False,
) -> None:
    """Look at your data, and write configurations for it, with comments, into this folder.

    Writes NAME.yaml, which trains by likelihood, NAME-rewarded.yaml, which goes on with a reward, and
    NAME-compare.yaml, which does both for two rewards, two seeds and a control, and reports which helped. Columns,
    language, lengths, tokenizer, casing and metrics follow from the data. One file is divided into
    NAME-data/train.jsonl, valid and test, by article, or as its column `split` says.

    **Examples**

    rlsum init articles.csv

    rlsum init articles.csv --pretrained facebook/bart-base

    rlsum init my-corpus --name mine --source-column body
    """
    from rlsum.data.look import leads, look, overlap, split, splits_of
    from rlsum.drafts import draft
    from rlsum.drafts.pretrained import pretrained as facts
    from rlsum.records import write_outputs

    if not data.exists():
        raise UserError(f"{data}: no such file or folder; give your data, such as articles.csv")
    name = name or re.sub(r"[^\w-]+", "-", data.resolve().name.split(".")[0])
    folder, lead = Path(f"{name}-data"), Path(f"{name}-data") / "lead.jsonl"
    files = splits_of(data)
    written = {} if files else {part: folder / f"{part}.jsonl" for part in PARTS}
    start = None if pretrained is None else facts(pretrained)
    found = look(files.get("train", data), source_column, reference_column, reference_lists, language)
    for path in (*(Path(f"{name}{end}.yaml") for end in ("", "-rewarded", "-compare")), lead, *written.values()):
        check_free("name", path, overwrite)
    parts, by = ({}, "") if files else split(found)
    notes = [*_notes(found, start)]
    if files:
        notes += [f"{both:,} articles are in {pair}" for pair, both in overlap(files, found).items()]
    else:
        notes.append(f"parts: {', '.join(f'{len(rows):,} {part}' for part, rows in parts.items())}, {by}")
        for part, rows in parts.items():
            _write(written[part], rows)
        files, found = written, replace(found, rows=len(parts["train"]))
    test = files.get("test", files["valid"])
    sentences, outputs = leads(test, found)
    write_outputs(lead, outputs)
    values = draft.run_values(name, files, found, start)
    texts = {"": draft.run(values, start), **draft.later(values, test, lead, sentences)}
    for end, text in texts.items():
        Path(f"{name}{end}.yaml").write_text(text, encoding="utf-8")
    for line in (*notes, _few(found, start), _commands(name, test, found)):
        typer.echo(line, nl=bool(line))


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def _notes(found: Look, start: Pretrained | None) -> Iterator[str]:
    """What was seen and chosen."""
    from rewards.text.languages import language_of

    lengths, (source_why, why), source = found.roles.lengths, found.roles.why, found.columns.source
    others = [f"{each!r} ({lengths[each]:,.0f})" for each in lengths if each not in (source, *found.references)]
    yield f"articles: {source!r}, {source_why} (half of them have at least {lengths[source]:,.0f} characters)"
    yield (
        f"summaries: {', '.join(map(repr, found.references))}, {why} ({lengths[found.reference]:,.0f} characters)"
        + (f"; other texts: {', '.join(others)}" if others else "")
    )
    if lengths[found.reference] > lengths[source]:
        yield "the summaries are longer than the articles: if it is the other way round, name both columns"
    if found.broken:
        yield f"rows that cannot be read are left out: {len(found.broken):,}, the first {found.broken[0]}"
    if found.language != "en" or found.given:
        how = "as given" if found.given else "by its letters and frequent words; if it is another, give --language CODE"
        yield f"language: {language_of(found.language).name} ({found.language}), {how}"
    if start is not None:
        trained = "low-rank updates are trained" if start.lora else "all are trained"
        if start.large and not start.lora:
            trained += " (low-rank updates, which need less memory, need peft, and layers that it knows)"
        yield f"model: {start.weights / 1e6:,.1f} million weights, {trained}; it reads texts as they are written"
    elif not found.spaced:
        yield "texts: without spaces between words; the model reads characters"
    else:
        case = "without capitals" if found.lowercase else "with capitals; the model reads them lower-cased"
        yield f"texts: {'tokenised' if found.tokenised else 'raw'}, {case}"


def _few(found: Look, start: Pretrained | None) -> str:
    if start is not None or found.rows >= FEW:
        return ""
    return (
        f"{found.rows:,} articles are few for a model from nothing: expect it to stay below the lead of the articles, "
        "a row of the comparison; a pretrained one learns from less (--pretrained NAME)"
    )


def _commands(name: str, test: Path, found: Look) -> str:
    language = "" if found.language == "en" else f" --language {found.language}"
    return (
        f"{name}.yaml, {name}-rewarded.yaml, {name}-compare.yaml: read them. All at once, with a report:\n"
        f"  rlsum compare {name}-compare.yaml --plan\n  rlsum compare {name}-compare.yaml\n"
        "or one model of each:\n"
        f"  rlsum train {name}.yaml\n  rlsum train {name}-rewarded.yaml --init runs/{name}\n"
        f"  rlsum generate runs/{name} {test} -o outputs/{name}.jsonl\n"
        f"  rlsum generate runs/{name}-rewarded {test} -o outputs/{name}-rewarded.jsonl\n"
        f"  rlsum evaluate outputs/{name}.jsonl outputs/{name}-rewarded.jsonl{language}"
    )
