"""`rlsum init`: a user's data looked at and divided, and the configurations for it written into this folder."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlsum.errors import UserError, option
from rlsum.files import check_free, write_lines

if TYPE_CHECKING:
    from rewards.references import Lists
    from rlsum.data.looking.look import Look
    from rlsum.drafts.pretrained import Pretrained

ENDS = ("", "-rewarded", "-compare")  # of the names of the configurations
FEW = 1000  # articles, for a model from nothing


@dataclass(frozen=True)
class Drafted:
    """The configurations written for some data: by likelihood (this object is a path to it), rewarded, both compared.

    ``test``: the articles to compare on. ``chats``: whether the model answers, so that outputs are scored clean.
    ``notes``: what was seen in the data and chosen.
    """

    name: str
    test: Path
    language: str
    chats: bool
    notes: tuple[str, ...]

    @property
    def configs(self) -> list[Path]:
        """The three files."""
        return [Path(f"{self.name}{end}.yaml") for end in ENDS]

    def __fspath__(self) -> str:
        return str(self.configs[0])

    def __repr__(self) -> str:
        return "\n".join((*self.notes, f"wrote {', '.join(map(str, self.configs))}: read them"))

    def commands(self) -> str:
        """What to type next."""
        run, rewarded, compare = (shlex.quote(str(path)) for path in self.configs)
        first, second = (shlex.quote(f"runs/{self.name}{end}") for end in ENDS[:2])
        outputs, rewarded_outputs = (shlex.quote(f"outputs/{self.name}{end}.jsonl") for end in ENDS[:2])
        test = shlex.quote(str(self.test))
        options = f" --language {self.language}" * (self.language != "en") + " --clean" * self.chats
        return (
            f"{', '.join(map(str, self.configs))}: read them. All at once, with a report:\n"
            f"  rlsum compare {compare} --plan\n  rlsum compare {compare}\n"
            "or one model of each:\n"
            f"  rlsum train {run}\n  rlsum train {rewarded} --init {first}\n"
            f"  rlsum generate {first} {test} -o {outputs}\n"
            f"  rlsum generate {second} {test} -o {rewarded_outputs}\n"
            f"  rlsum evaluate {outputs} {rewarded_outputs}{options}"
        )


def init(
    data: str | Path,
    name: str | None = None,
    *,
    pretrained: str | None = None,
    language: str | None = None,
    source_column: str | None = None,
    reference_column: str | None = None,
    reference_lists: Lists | None = None,
    overwrite: bool = False,
) -> Drafted:
    """Look at articles with summaries, and write configurations for them into this folder; divides a single file.

    ``pretrained``: a model to fine-tune. ``name``: of the run and its files, by default that of ``data``. The columns
    and the language are seen in the data where they are not given. Raises UserError before anything is written.
    """
    from rlsum.data.looking.look import leads, look_at
    from rlsum.data.looking.parts import overlap, split, splits_of
    from rlsum.drafts import draft
    from rlsum.drafts.pretrained import pretrained as facts
    from rlsum.records import of_table, write_outputs

    data = Path(data)
    if not data.exists():
        raise UserError(f"{data}: no such file or folder; give your data, such as articles.csv")
    name = name or name_of(data)
    folder, files = Path(f"{name}-data"), splits_of(data)
    lead = folder / "lead.jsonl"
    start = None if pretrained is None else facts(pretrained)
    look = look_at(files.get("train", data), source_column, reference_column, reference_lists, language)
    parts, by = ({}, "") if files else split(look)
    written = {part: folder / f"{part}.jsonl" for part in parts}
    for path in (*(Path(f"{name}{end}.yaml") for end in ENDS), lead, *written.values()):
        check_free("name", path, overwrite)
    notes = [*_notes(look, start)]
    if files:
        notes += [f"{both:,} articles are in {pair}" for pair, both in overlap(files, look).items()]
    else:
        notes.append(f"parts: {', '.join(f'{len(rows):,} {part}' for part, rows in parts.items())}, {by}")
        files, look = written, replace(look, rows=len(parts["train"]))
    for part, rows in parts.items():
        write_lines(written[part], (json.dumps(row, ensure_ascii=False, default=of_table) for row in rows))
    test = files.get("test", files["valid"])
    sentences, outputs = leads(test, look)
    write_outputs(lead, outputs)
    values = draft.run_values(name, files, look, start)
    texts = {"": draft.run(values, start), **draft.later(values, test, lead, sentences)}
    for end, text in texts.items():
        Path(f"{name}{end}.yaml").write_text(text, encoding="utf-8")
    chats = start is not None and start.kind == "causal"
    return Drafted(name, test, look.language, chats, (*notes, *_few(look, start)))


def name_of(data: Path) -> str:
    """The name of a run and its files, from that of the data."""
    return re.sub(r"[^\w-]+", "-", data.resolve().name.split(".")[0])


def _notes(look: Look, start: Pretrained | None) -> Iterator[str]:
    """What was seen and chosen."""
    from rewards.text.languages import language_of

    lengths, (source_why, why), source = look.roles.lengths, look.roles.why, look.columns.source
    others = [f"{name!r} ({lengths[name]:,.0f})" for name in lengths if name not in (source, *look.references)]
    yield f"articles: {source!r}, {source_why} (half of them have at least {lengths[source]:,.0f} characters)"
    yield (
        f"summaries: {', '.join(map(repr, look.references))}, {why} ({lengths[look.reference]:,.0f} characters)"
        + (f"; other texts: {', '.join(others)}" if others else "")
    )
    if lengths[look.reference] > lengths[source]:
        yield "the summaries are longer than the articles: if it is the other way round, name both columns"
    if look.broken:
        yield f"rows that cannot be read are left out: {len(look.broken):,}, the first {look.broken[0]}"
    if look.language != "en" or look.given:
        how = f"by its letters and frequent words; if it is another, give {option('language', 'CODE')}"
        how = "as given" if look.given else how
        yield f"language: {language_of(look.language).name} ({look.language}), {how}"
    if start is not None:
        trained = "low-rank updates are trained" if start.lora else "all are trained"
        if start.large and not start.lora:
            trained += " (low-rank updates, which need less memory, need peft, and layers that it knows)"
        read = f"it reads texts as they are written{_prompted(start)}"
        yield f"model: {start.weights / 1e6:,.1f} million weights, {trained}; {read}"
    elif not look.spaced:
        yield "texts: without spaces between words; the model reads characters"
    else:
        case = "without capitals" if look.lowercase else "with capitals; the model reads them lower-cased"
        yield f"texts: {'tokenised' if look.tokenised else 'raw'}, {case}"


def _prompted(start: Pretrained) -> str:
    if start.template is None:
        return ""
    return ", in a turn of its chat" if start.template == "chat" else ", in a plain prompt: it has no chat template"


def _few(look: Look, start: Pretrained | None) -> Iterator[str]:
    if start is None and look.rows < FEW:
        yield (
            f"{look.rows:,} articles are few for a model from nothing: expect it to stay below the lead of the "
            f"articles, a row of the comparison; a pretrained one learns from less ({option('pretrained', 'NAME')})"
        )
