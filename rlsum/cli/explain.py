"""``rlsum explain``: the reasons of a score as a picture, a page or data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rewards.base import labelled
from rewards.references import Lists
from rlsum import api
from rlsum.cli.options import Language, ReferenceLists
from rlsum.errors import UserError
from rlsum.readers import is_text, lines, text_of
from rlsum.records import read_outputs

FEW = 3  # ids in a message


def explain(
    candidate: Annotated[
        str,
        typer.Argument(
            help="The text that is scored, or its file; its lines are its sentences. With --id: a file of outputs."
        ),
    ],
    reference: Annotated[
        str | None, typer.Argument(help="The text to compare it with, or a file. Not with --id.")
    ] = None,
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="PLAN.png", help="A picture (.png), a page (.html) or data (.json).")
    ] = Path("explained.html"),
    metrics: Annotated[
        str, typer.Option(help="Metrics with their options; a page or data take several, a picture one.")
    ] = "rouge-1,rouge-l",
    language: Language = None,
    theme: Annotated[Literal["light", "dark"], typer.Option(help="Of a picture; pages follow the browser.")] = "light",
    identity: Annotated[str | None, typer.Option("--id", help="Output of this id, with its first reference.")] = None,
    system: Annotated[str | None, typer.Option(help="With --id: whose output, if the file has several.")] = None,
    reference_lists: ReferenceLists = None,
    overwrite: Annotated[bool, typer.Option(help="Replace PLAN.png.")] = False,
) -> None:
    """Explain a score: where the weight of words and sentences moves, which tokens are similar, or which words count.

    For wms, sms and s+wms: the optimal transport plan, as in Figure 1 of Clark et al. (2019), with the weight and the
    distance of each move. For the contextual metrics: the matrix of cosines. For ROUGE: the
    words or n-grams that count. For metrics that are models: tokens, sentences or numbers of the scale, with the
    article of the output (or the second text). A page needs no network; point at a text to follow its weight.

    **Examples**

    rlsum explain outputs.jsonl --id story-7

    rlsum explain --metrics 's+wms(vectors=vectors.txt.gz, normalize=unit)' "They have fun." "Kids play." -o plan.png

    rlsum explain --metrics 'sms(vectors=vectors.txt.gz), twmd' "They have fun." "Kids play." -o plan.html

    rlsum explain outputs.jsonl --id story-7 --metrics 'wms(vectors=vectors.txt.gz), rouge-2' -o plan.html
    """
    from rlsum.explain.explained import check_out

    check_out(out, len(labelled(metrics)), overwrite)
    candidate, compared, source = _texts(candidate, reference, identity, system, reference_lists)
    explained = api.explain(candidate, compared, metrics, language, source)
    if not explained.save(out, theme, overwrite=True):
        typer.echo("letters that no installed font has are drawn as boxes; a page (.html) shows them", err=True)
    typer.echo(explained)
    typer.echo(out)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # too long for a name
        return False


def _read(path: str) -> str:
    """The text of a file."""
    text = "\n".join(text_of(*line).rstrip("\r\n") for line in lines(Path(path))).strip()
    if not text:
        raise UserError(f"{path}: empty; give a file with a text")
    typer.echo(f"{path}: one text of {len(text):,} characters", err=True)
    return text


def _texts(
    candidate: str, reference: str | None, identity: str | None, system: str | None, lists: Lists | None
) -> tuple[str, str, str | None]:
    """Candidate and reference: as given, or of the output that --id and --system name, with its article."""
    if identity is None:
        if reference is None or system is not None:
            records = _is_file(candidate) and not is_text(Path(candidate))
            fix = (
                f"give --id, such as {read_outputs(candidate, lists=lists)[0].id}"
                if records
                else "give the reference, too"
            )
            raise UserError(f"{candidate}: explain takes a candidate and a reference, or an output of a file; {fix}")
        files = [text for text in (candidate, reference) if _is_file(text)]
        if len(files) == 1:
            raise UserError(f"{files[0]}: a file, compared with a text; give two texts, or two files of one text each")
        return (_read(candidate), _read(reference), None) if files else (candidate, reference, None)
    if reference is not None:
        raise UserError(f"--id {identity}: give one file of outputs, and no reference")
    outputs = read_outputs(candidate, lists=lists)
    matching = [output for output in outputs if output.id == identity and system in (None, output.system)]
    if len(matching) != 1:
        systems = ", ".join(output.system for output in matching)
        ids = ", ".join(dict.fromkeys(output.id for output in outputs[:FEW]))
        fix = f"name one with --system: {systems}" if matching else f"give one of the file, such as {ids}"
        raise UserError(f"{candidate}: {len(matching)} outputs have the id {identity!r}; {fix}")
    if not matching[0].references:
        raise UserError(f"{candidate}: the output {identity!r} has no reference")
    return matching[0].candidate, matching[0].references[0], matching[0].source
