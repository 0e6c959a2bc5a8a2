"""``rlsum human-eval build``: outputs of two or more systems -> a blind study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from human_eval.criteria import StudyWording
    from human_eval.design.outputs import AlignedOutputs
    from human_eval.study import Study, StudyKey


def build(
    outputs: Annotated[list[Path], typer.Argument(help="Outputs files (JSONL), one or more systems in each.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the study; must be new or empty.")],
    baseline: Annotated[
        str | None, typer.Option(help="System to compare with each other one (default: all with all).")
    ] = None,
    items: Annotated[
        int | None,
        typer.Option(help="Articles, sampled from those that every system has (default: 100, or all if fewer)."),
    ] = None,
    judges: Annotated[int, typer.Option(help="Judges of each pair on each article.")] = 3,
    booklet: Annotated[int, typer.Option(help="Most pairs that one judge gets, checks not counted.")] = 20,
    criteria: Annotated[
        Path | None, typer.Option(help="YAML or JSON list of {id, question, help} (default: four criteria).")
    ] = None,
    title: Annotated[str | None, typer.Option(help="What judges read on top.")] = None,
    instructions: Annotated[Path | None, typer.Option(help="Text file that judges read first.")] = None,
    identical: Annotated[int, typer.Option(help="Checks in each booklet: the same summary twice.")] = 1,
    shuffled: Annotated[
        int | None,
        typer.Option(
            help="Checks in each booklet: a summary against its shuffled words (default: 1, or 0 if all are too short)."
        ),
    ] = None,
    swapped: Annotated[int, typer.Option(help="Checks in each booklet: an earlier pair again, sides swapped.")] = 1,
    seed: Annotated[
        int | None, typer.Option(help="Makes the same study again. Keep it secret: it unblinds (default: drawn).")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="Where the secret key goes (default: key.json in the study).")
    ] = None,
) -> None:
    """Build a blind study of pairs: which of two summaries of an article is better, in which way?

    Sides are balanced within each pair on an article, each booklet, each pair of systems and over all. Nothing in the
    folder but key.json names a system; every command but `analyse` works without it.

    **Examples**

    rlsum human-eval build rouge.jsonl sms.jsonl -o study

    rlsum human-eval build outputs/*.jsonl -o study --baseline rouge-l --items 50 --criteria criteria.yaml
    """
    from human_eval.design.build import StudyDesign, build
    from human_eval.design.outputs import read_aligned
    from human_eval.files import check_destinations, save

    key = key or out / "key.json"
    check_destinations(out, key)
    wording = _wording(title, instructions, criteria)
    aligned = read_aligned(outputs)
    mixed = _shuffled(shuffled, aligned)
    design = StudyDesign(_items(items, aligned), baseline, judges, booklet, identical, mixed, swapped)
    study, secret = build(aligned, design, wording, _drawn() if seed is None else seed)
    save(out, study, key, secret)
    _report(aligned, study, secret, out, key)


def _items(given: int | None, aligned: AlignedOutputs) -> int:
    """How many articles: as asked for, else the usual number where there are as many."""
    from human_eval.design.build import StudyDesign
    from human_eval.formatting import counted

    if given is not None or len(aligned.articles) >= StudyDesign.items:
        return StudyDesign.items if given is None else given
    there = counted(len(aligned.articles), "article")
    typer.echo(
        f"{there} that every system has, fewer than {StudyDesign.items}: nothing is sampled, everything is judged"
    )
    return len(aligned.articles)


def _shuffled(given: int | None, aligned: AlignedOutputs) -> int:
    """How many checks by shuffled words: as asked for, else the usual number where any text is long enough for it."""
    from human_eval.design.build import StudyDesign
    from human_eval.design.checks import SHUFFLED_WORDS, can_be_shuffled

    if given is not None:
        return given
    if any(can_be_shuffled(text) for texts in aligned.candidates.values() for text in texts.values()):
        return StudyDesign.shuffled
    typer.echo(f"No checks by shuffled words: no output has {SHUFFLED_WORDS} different words; the other checks remain")
    return 0


def _drawn() -> int:
    """A seed that nobody guesses: whoever has it and the outputs can tell the systems."""
    import secrets

    return secrets.randbits(63)


def _wording(title: str | None, instructions: Path | None, criteria: Path | None) -> StudyWording:
    from human_eval.criteria import StudyWording, read_criteria
    from human_eval.study import StudyError

    given: dict[str, Any] = {}
    if title is not None:
        given["title"] = title
    if instructions is not None:
        try:
            given["instructions"] = instructions.read_text(encoding="utf-8-sig").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"--instructions {instructions}: cannot be read ({error}); give a text file") from error
    if criteria is not None:
        given["criteria"] = read_criteria(criteria)
    return StudyWording(**given)


def _report(aligned: AlignedOutputs, study: Study, key: StudyKey, out: Path, key_path: Path) -> None:
    from human_eval.design.blinding import naming_note, naming_tasks
    from human_eval.files import TASKS
    from human_eval.formatting import counted, spread

    for system, count in aligned.left_out.items():
        typer.echo(f"{system}: {counted(count, 'output')} left out, as another system lacks the article")
    if key.ties:
        typer.echo(f"Not judged, and counted as no difference: {counted(len(key.ties), 'pair')} of identical outputs")
    if naming := naming_tasks(study, key.systems):
        typer.echo(f"Attention: {naming_note(naming)}; look at them in {out / TASKS}")
    sizes = [len(booklet) for booklet in study.booklets]
    extra = sum(secret.kind != "pair" for secret in key.tasks.values())
    typer.echo(
        f"{out}: {counted(len(study.tasks), 'task')} ({counted(extra, 'check')} among them) in "
        f"{counted(len(sizes), 'booklet')} of {spread(sizes, 'task')}, on {counted(len(study.articles), 'article')}; "
        "every judge gets one booklet"
    )
    typer.echo(f"{key_path}: the key, for `rlsum human-eval analyse` alone; keep it away from judges")
