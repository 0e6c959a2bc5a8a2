"""``rlsum explain``: why two texts score what they do, as a picture, a page or data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from rewards.explain import Explanation

ENDINGS = (".png", ".html", ".json")


def explain(
    candidate: Annotated[str, typer.Argument(help="The text that is scored; its lines are its sentences.")],
    reference: Annotated[str, typer.Argument(help="What it is compared with.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="PLAN.png", help="A picture (.png), a page (.html) or data (.json).")
    ],
    metrics: Annotated[
        str, typer.Option(help="Metrics with their options; a page or data take several, a picture one.")
    ],
    theme: Annotated[
        Literal["light", "dark"], typer.Option(help="Of a picture; a page follows the reader's own.")
    ] = "light",
    overwrite: Annotated[bool, typer.Option(help="Replace PLAN.png.")] = False,
) -> None:
    """Show what makes a score: which words and sentences move where, or which tokens resemble each other.

    For wms, sms, s+wms and MoverScore's v1 and v2 the optimal transport plan, as in Figure 1 of Clark et al. (2019):
    each item of the candidate, where its weight goes, and how far. For the other contextual metrics the matrix of
    cosines. A page needs no network; pointing at a text shows where it goes.

    **Examples**

    rlsum explain --metrics 's+wms(vectors=vectors.txt.gz, normalize=unit)' "They have fun." "Kids play." -o plan.png

    rlsum explain --metrics 'sms(vectors=vectors.txt.gz), twmd' "They have fun." "Kids play." -o plan.html
    """
    import rewards
    from rewards.explain import explain as explained
    from rlsum.cli.destination import check_free
    from rlsum.errors import UserError

    if out.suffix not in ENDINGS:
        raise UserError(f"--out {out}: the ending says what is written; use one of {', '.join(ENDINGS)}")
    check_free("--out", out, overwrite)
    scorers = rewards.from_specs(metrics)
    if out.suffix == ".png" and len(scorers) > 1:
        raise UserError(f"--out {out}: a picture shows one metric, {len(scorers)} are given; use .html or .json")
    found = [explained(scorer, candidate, reference) for scorer in scorers.values()]
    _write(out, found, theme)
    for explanation in found:
        typer.echo(f"{explanation.metric} {explanation.score:.4f}")
    typer.echo(out)


def _write(out: Path, found: list[Explanation], theme: str) -> None:
    from rlsum.explain.page import html
    from rlsum.explain.picture import png

    if out.suffix == ".json":
        data = [explanation.as_json() for explanation in found]
        out.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    elif out.suffix == ".html":
        out.write_text(html(found), encoding="utf-8", errors="replace")  # half a surrogate pair cannot be written
    else:
        picture, complete = png(found[0], theme)
        out.write_bytes(picture)
        if not complete:
            typer.echo("some signs are in no installed font and drawn as boxes; a page (.html) has them", err=True)
