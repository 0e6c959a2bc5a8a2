"""``rlsum data``: inspect or simulate a corpus, convert outputs of other systems and human judgments."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from pydantic.dataclasses import dataclass
from rich.console import Console

from rlsum.cli.judgments import judgments
from rlsum.cli.options import ArticleColumn, ArticleFile, Language, ReferenceLists, expanded
from rlsum.cli.usage import Told
from rlsum.config import Config, DataConfig
from rlsum.errors import UserError
from rlsum.files import check_free, write_lines
from rlsum.objective import STRICT
from rlsum.pages.table import Table, text_table
from rlsum.pages.terminal import show
from rlsum.readers import CorpusError
from rlsum.records import write_outputs
from rlsum.sections import left_open

if TYPE_CHECKING:
    from rlsum.data.corpus import Corpus
    from rlsum.data.describe import CorpusDescription
    from rlsum.training.inspection import Inspected, Part

app = typer.Typer(
    cls=Told,
    help="Inspect or simulate a corpus, convert outputs of other systems and human judgments.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.command()(judgments)


UNSAID = ("train", "valid", "train_split", "valid_split", "train_limit", "valid_limit", "columns")


@dataclass(frozen=True, config=STRICT)
class Reading(left_open(DataConfig, without=UNSAID)):  # type: ignore[misc]
    """Keys of the section ``data`` that a command line may say otherwise: all but ``UNSAID``."""

    ELSE: ClassVar = "; default: the configuration's"


@app.command()
@expanded
def inspect(
    *,
    path: Annotated[
        str, typer.Argument(help="A configuration, such as NAME.yaml; or a file, folder, or hub name hf://owner/name.")
    ],
    split: Annotated[str, typer.Option(help="train or valid; test of a folder or hub name, too.")] = "train",
    pretrained: Annotated[str | None, typer.Option(help="Read as this pretrained model does.")] = None,
    language: Language = None,
    reading: Reading,
    vocabulary: Annotated[int | None, typer.Option(help="Number of words that the model knows at most.")] = None,
    limit: Annotated[int | None, typer.Option(help="Rows to inspect, drawn with --seed.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the choice of rows.")] = None,
) -> None:
    """Describe a corpus as a model reads it: rows left out, lengths, unknown words, copying, an example.

    A configuration says how. For anything else it is read as the configuration that `rlsum init` would write. Options
    say otherwise.

    **Examples**

    rlsum data inspect articles.yaml --split valid

    rlsum data inspect raw.csv --pretrained facebook/bart-base
    """
    from rlsum import yaml_files
    from rlsum.config import check
    from rlsum.training.inspection import inspected

    configured = path.endswith((".yaml", ".yml")) or (not Path(path).exists() and path in yaml_files.names())
    part: Part = "valid" if configured and split in ("valid", "validation") else "train"
    if configured and split not in ("train", "valid", "validation"):
        raise UserError(f"--split {split}: {path} has train and valid; give the file of the others")
    if configured and pretrained is not None:
        raise UserError(f"--pretrained {pretrained}: {path} names its model; set model.pretrained there")
    if configured:
        values = yaml_files.read(Path(path))
    else:
        values = _drafted(path, split, reading, language, pretrained)
        language = None
    data = {**vars(reading), f"{part}_limit": limit}
    options = {"data": data, "vocabulary": {"size": vocabulary}, "training": {"seed": seed}, "language": language}
    config = check(yaml_files.merge(values, _given(options)), path)
    _show(inspected(config, part), config, f"{path} ({split})")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Options that are given, by section."""
    kept = {name: _given(value) if isinstance(value, dict) else value for name, value in options.items()}
    return {name: value for name, value in kept.items() if value is not None and value != {}}


def _drafted(path: str, split: str, reading: Reading, language: str | None, pretrained: str | None) -> dict[str, Any]:
    """The configuration that `rlsum init` would write for a corpus, as far as it says how texts are read."""
    from rewards.text.languages import NAMES
    from rlsum import yaml_files
    from rlsum.data.looking.look import look_at
    from rlsum.drafts import draft
    from rlsum.drafts.drafted import name_of
    from rlsum.drafts.pretrained import pretrained as facts

    if Path(drafted := f"{name_of(Path(path))}.yaml").is_file():
        typer.echo(f"{drafted} is here: `rlsum data inspect {drafted}` shows what a training reads", err=True)
    start = None if pretrained is None else facts(pretrained)
    look = look_at(path, reading.source_column, reading.reference_column, reading.reference_lists, language, split)
    if start is None and language is None and len({*look.seen} - {None}) != 1:
        assumed = next(filter(None, look.seen), "en")
        typer.echo(f"{path}: the language is not clear; read as {NAMES[assumed]} (--language CODE)", err=True)
        look = replace(look, given=assumed)
    values = draft.run_values("inspected", {"train": Path(path), "valid": Path(path)}, look, start)
    written: dict[str, Any] = yaml_files.parse(draft.run(values, start))
    return yaml_files.merge(written, {"data": {"train": path, "valid": path, "train_split": split}})


def _show(inspection: Inspected, config: Config, title: str) -> None:
    from rlsum.data.describe import describe

    data, rows, texts = config.data, inspection.rows, inspection.corpus.rows
    limits = data.max_source, data.max_target
    words = None if inspection.vocabulary is None else inspection.vocabulary.index
    described = describe(inspection.corpus, rows, inspection.lengths, limits, words)
    if config.model is not None and config.model.own_tokenizer:
        print(f"read by {getattr(config.model, 'pretrained', config.model.kind)}: pieces of words, as they are written")
    else:
        language = f" of language {config.language}" if config.language else ""
        case = "lower-cased" if data.lowercase else "as they are written"
        print(f"read by a model of words{language}: tokenizer {data.tokenizer}, {case}")
    show(_tables(inspection.corpus, described, title, *limits), Console())
    print(f"\nexample {texts[0]['id']}\n  article: {' '.join(inspection.written(rows[0]['src_tokens'][:80]))} ...")
    for number, text in enumerate(texts[0]["references"], 1):
        print(f"  reference {number}:", *text.split("\n"), sep="\n    ")


@app.command()
def convert(
    path: Annotated[str, typer.Argument(help="A corpus, such as train.source with train.target beside it.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="NEW.jsonl", help="Records file to write.")],
    split: Annotated[str, typer.Option(help="Of a folder or hub name: train, valid or test.")] = "train",
    id_column: Annotated[str | None, typer.Option(help="Default: id if there is one, else file and line.")] = None,
    source_column: Annotated[str, typer.Option(help="Column of the articles.")] = "article",
    reference_column: Annotated[str, typer.Option(help="Column of the summaries.")] = "highlights",
    reference_lists: ReferenceLists = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
) -> None:
    """Convert a corpus in any format to JSONL with id, source and references; texts stay as they are.

    **Examples**

    rlsum data convert xsum/train.source -o train.jsonl

    rlsum data convert book.xlsx --source-column text --reference-column summary1 -o train.jsonl
    """
    from rlsum.data.columns import Columns
    from rlsum.data.corpus import raw_records

    check_free("out", out, overwrite)
    rows = raw_records(path, split, Columns(id_column, source_column, reference_column, lists=reference_lists))
    count = write_lines(out, (json.dumps(row, ensure_ascii=False) for row in rows))
    typer.echo(f"{out}: {count:,} articles with references")


@app.command()
def outputs(
    path: Annotated[Path, typer.Argument(help="JSONL, CSV or parquet with a column of a system's outputs.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Records file to write.")],
    candidate: Annotated[str, typer.Option(help="Column of the system's summaries, a sentence a line.")],
    reference: Annotated[str, typer.Option(help="Column of the references; '' if there are none.")] = "reference",
    source: Annotated[str | None, typer.Option(help="Column of the articles, if the file has them.")] = None,
    articles: ArticleFile = None,
    article_column: ArticleColumn = None,
    id_column: Annotated[str, typer.Option(help="Column of the ids, in both files; else row by row.")] = "id",
    reference_lists: ReferenceLists = None,
    system: Annotated[str | None, typer.Option(help="Name of the system. Default: the name of its column.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing records file.")] = False,
) -> None:
    """Convert outputs of another system to the records that `rlsum evaluate` reads.

    **Example**

    rlsum data outputs systems.jsonl.gz --candidate pointer_gen --articles test.jsonl.gz -o pointer_gen.jsonl
    """
    from rlsum.data.articles import Articles
    from rlsum.data.system_outputs import OutputColumns, convert

    if source is not None and articles is not None:
        raise CorpusError(f"--source {source} and --articles {articles}: leave one of them out")
    check_free("out", out, overwrite)
    joined = Articles.read(articles, article_column, id_column) if articles is not None else None
    columns = OutputColumns(candidate, reference or None, source, id_column)
    count = write_outputs(out, convert(path, columns, system or candidate, joined, reference_lists))
    typer.echo(f"{out}: {count} records of {system or candidate}")
    if source is None and articles is None:
        typer.echo(
            "Without articles (--source or --articles), metrics and properties that need them cannot be computed."
        )
    if not reference:
        typer.echo("Without references, only people and rewards that need none can judge them.")


@app.command()
def simulate(
    out_dir: Annotated[Path, typer.Argument(help="Folder for train.jsonl, valid.jsonl, test.jsonl, vectors.txt.gz.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same files.")] = 1,
    train: Annotated[int, typer.Option(min=1, help="Training stories.")] = 4000,
    valid: Annotated[int, typer.Option(min=0, help="Validation stories.")] = 400,
    test: Annotated[int, typer.Option(min=0, help="Test stories.")] = 1000,
    vectors: Annotated[bool, typer.Option(help="Also train word vectors on the training articles.")] = True,
    overwrite: Annotated[bool, typer.Option(help="Replace existing files.")] = False,
) -> None:
    """Write simulated news stories as JSONL, with word vectors trained on their articles.

    **Example**

    rlsum data simulate corpus --seed 1 --train 4000
    """
    from rlsum.simulation.stories import stories, write_corpus
    from rlsum.simulation.word_vectors import TooLittleText, train_vectors, write_vectors

    sizes = {"train": train, "valid": valid, "test": test}
    vectors_path = out_dir / "vectors.txt.gz"
    for path in (*(out_dir / f"{split}.jsonl" for split in sizes), *([vectors_path] if vectors else [])):
        check_free("out_dir", path, overwrite, "OUT_DIR")
    table = {}
    if vectors:
        try:
            table = train_vectors(sentence for story in stories(seed, "train", train) for sentence in story.article)
        except TooLittleText as error:
            raise TooLittleText(f"--train {train}: {error}, or use --no-vectors") from error
    for split, path in write_corpus(out_dir, seed, sizes).items():
        typer.echo(f"{path}: {split}")
    if vectors:
        write_vectors(vectors_path, table)
        typer.echo(f"{vectors_path}: {len(table)} word vectors")


def _tables(corpus: Corpus, described: CorpusDescription, title: str, max_source: int, max_target: int) -> list[Table]:
    from rlsum.data.describe import LEAD_TOKENS, QUANTILES

    rows = [
        ("used", f"{len(corpus.rows)}", ""),
        *((f"skipped, {reason}", f"{count}", corpus.examples[reason]) for reason, count in corpus.skipped.items()),
        ("duplicate ids, kept", f"{corpus.duplicate_ids}", ""),
    ]
    sides = (("articles", described.articles, max_source), ("summaries", described.summaries, max_target))
    lengths = [
        (name, f"{side.mean:.1f}", *(f"{value:.0f}" for value in side.quantiles), f"{side.share_cut:.1%} at {limit}")
        for name, side, limit in sides
        if side
    ]
    shares = (
        (f"article tokens outside the {described.vocabulary or 0:,} words", described.oov_articles, ".2%"),
        ("summary tokens outside them", described.oov_summaries, ".2%"),
        ("  of these, found in the article", described.oov_copyable, ".1%"),
        ("summary tokens found in the article", described.copied, ".1%"),
        (f"summary tokens found in its first {LEAD_TOKENS} tokens", described.copied_lead, ".1%"),
        ("sentences a summary", described.summary_sentences, ".2f"),
    )
    known = 3 if described.vocabulary is None else 0  # a pretrained model knows every piece
    words = [(name, "-" if math.isnan(share) else format(share, form)) for name, share, form in shares[known:]]
    return [
        text_table(title, ("rows", "count", "first"), rows),
        text_table("", ("tokens", "mean", *(f"{quantile:.0%}" for quantile in QUANTILES), "cut"), lengths),
        text_table("", ("within the cuts", "share"), words),
    ]
