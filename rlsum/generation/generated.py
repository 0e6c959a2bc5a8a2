"""A checkpoint and a corpus to a file of outputs: what `rlsum generate` does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlsum.files import check_free
from rlsum.generation.options import Generating, check_own, choice_of, decoding_of
from rlsum.pages.shown import Advance, frame, quiet
from rlsum.records import Output, read_outputs

if TYPE_CHECKING:
    import datasets

    from rlsum.config import Config
    from rlsum.generation.choosing import SampleChoice
    from rlsum.models.decoding import Decoding
    from rlsum.models.summarizer import Model

SHOWN = 3  # outputs in a notebook


@dataclass(frozen=True)
class Generated:
    """The file of outputs that a ``system`` wrote, and a path to it; ``summaries`` of them."""

    file: Path
    system: str
    summaries: int

    def __fspath__(self) -> str:
        return str(self.file)

    @property
    def outputs(self) -> list[Output]:
        """The outputs, read from the file."""
        return read_outputs(self.file)

    def __repr__(self) -> str:
        return f"Generated {self.file}: {self.summaries:,} summaries by {self.system}"

    def _repr_html_(self) -> str | None:
        """The first outputs, an article with its summary each."""
        from rlsum.pages.blocks import LEGEND, Example, Examples, Paragraph, Piece
        from rlsum.pages.templates import fragment

        shown = tuple(
            Example(row.id, row.source, next(iter(row.references), ""), {row.system: (Piece(row.candidate, "plain"),)})
            for row in self.outputs[:SHOWN]
        )
        return fragment([Paragraph(repr(self)), Examples(shown, f"The first {len(shown)}.")], LEGEND)

    def to_frame(self) -> Any:
        """An output a row: id, source, references, candidate, system."""
        fields = ("id", "source", "references", "candidate", "system")
        return frame(fields, ([getattr(output, name) for name in fields] for output in self.outputs))


def generate(
    checkpoint: str | PathLike[str],
    corpus: str | Path,
    out: str | Path,
    how: Generating | None = None,
    *,
    say: Callable[[str], None] = print,
    advance: Advance = quiet,
) -> Generated:
    """Summarize articles into the file ``out`` with a run, a checkpoint or a pretrained model of transformers.

    ``corpus``: a file, a folder or a hub name. Of several jobs, each may write one ``how.shard``. A stopped job
    continues when the same call is made again. Of several processes, the first one says and writes. Raises UserError
    before anything is decoded.

    >>> generate("runs/articles", "articles-data/test.jsonl", "out.jsonl", Generating(beam=2, limit=2))
    out.jsonl: 2 summaries by articles, beam 2, ...
    Generated out.jsonl: 2 summaries by articles
    """
    corpus, out, how = str(corpus), Path(out), how or Generating()
    file = how.written.file(out)
    check_free("out", file, how.overwrite)
    choice_of(how)  # raises before anything is loaded
    from rlsum.generation.outputs import SummaryTask, check_device, write_summaries
    from rlsum.training.parallel.processes import launched

    config, described, load = _summarizer(fspath(checkpoint), how)
    choice = choice_of(how, config.language, clean=config.model is not None and config.model.clean)
    decoding = decoding_of(config.decoding, how, sampled=how.method == "sample" or choice is not None)
    processes, own_device = launched(how.device)
    device = check_device(own_device)
    if processes.rank != 0:
        say, advance = (lambda text: None), (lambda name, done, total: None)
    if line := described(decoding):
        say(line)
    with processes.main_first():
        rows = articles(corpus, config, how, choice)
    model = load()
    rows = model.read(rows, config.tokenization)
    system = how.system or Path(config.run).name
    task = SummaryTask(model, rows, decoding, system, how, choice)
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        advance(system, done, len(task.written))

    before = write_summaries(out, task, device, count, processes)
    chosen = "" if choice is None else f", each of {choice.samples} samples ({choice.name})"
    earlier = f", {before:,} of them by an earlier job" if before else ""
    searched = f", beam {decoding.beam}{decoding.stopping}" if decoding.stopping else ""
    say(f"{file}: {done:,} summaries by {system}{chosen}{searched}{earlier}")
    return Generated(file, system, done)


def _summarizer(checkpoint: str, how: Generating) -> tuple[Config, Callable[[Decoding], str], Callable[[], Model]]:
    """The configuration of a run or of a pretrained model, what there is to say of it (or ""), and what loads it."""
    from rlsum.generation import plain
    from rlsum.training.checkpoint import find_or_none, step_of
    from rlsum.training.start.origin import check_files, load_model

    stored = find_or_none(checkpoint)
    if stored is None:
        config, unfollowed = plain.configuration(checkpoint, how)
        return config, lambda decoding: plain.summary(config, decoding, unfollowed), lambda: plain.load(config)
    check_own(how, stored.folder)
    check_files(stored)
    untrained = f"{stored.folder}: these are the weights that the run began with; no later validation was better"
    line = untrained if step_of(stored.folder) == 0 else ""
    return stored.config, lambda decoding: line, lambda: load_model(stored)


def articles(corpus: str, config: Config, how: Generating, choice: SampleChoice | None) -> datasets.Dataset:
    """The articles, with the columns that the run or the options name, and that a choice reads.

    Raises UserError for ids that are not unique, an article without such a column, or a reward that cannot choose.
    """
    from rlsum.data.corpus import load_corpus
    from rlsum.generation.outputs import check_ids

    columns, tokens = config.reading
    read = () if choice is None else choice.columns
    columns = replace(
        columns,
        id=how.id_column or columns.id,
        source=how.source_column or columns.source,
        reference=how.reference_column or columns.reference,
        lists=how.reference_lists or columns.lists,
        optional=how.reference_column is None,
        further=tuple(dict.fromkeys([*columns.further, *read])),
        further_optional=True,
    )
    rows = load_corpus(corpus, columns, tokens, split=how.split, limit=how.limit, num_proc=config.data.num_proc).rows
    check_ids(rows["id"], corpus)
    if choice is not None:
        kept = [name for name in ("id", "source", "columns") if name in rows.column_names]
        choice.check_articles(rows.select_columns(kept), corpus)
    return rows
