"""``rlsum human-eval build``: outputs of two or more systems -> a blind study."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import Field
from pydantic.dataclasses import dataclass

from human_eval.answers import KINDS, LETTERS, PAIR
from human_eval.criteria import MARKING_INSTRUCTIONS, MARKING_TITLE, StudyWording, read_criteria, read_marking, standard
from human_eval.criteria import instructions as usual
from human_eval.design.blinding import naming_note, naming_tasks
from human_eval.design.build import build as build_study
from human_eval.design.build import pairs_of, texts_at_once
from human_eval.design.checks import KEPT, error_rates, most_failures
from human_eval.design.design import StudyDesign
from human_eval.design.giveaways import NORMALISED, giveaways, normalised
from human_eval.design.outputs import AlignedOutputs, read_aligned
from human_eval.enrolment import read_consent, read_questions
from human_eval.files import TASKS, check_destinations, save
from human_eval.formatting import counted, spread
from human_eval.interface import read_interface, untranslated
from human_eval.minutes import minutes
from human_eval.parsing import read_text
from human_eval.study import CHECKS, Criterion, Enrolment, Study, StudyError, StudyKey
from human_eval.training import read_training
from rewards.text.cleaning import clean as cleaned
from rlsum.cli.options import ArticleColumn, ArticleFile, expanded
from rlsum.data.articles import Articles
from rlsum.errors import UserError, option
from rlsum.scoring.debris import Survey

READ = "judges read it: --clean leaves it out"


Answers = Annotated[
    str,
    typer.Option(
        help=f"What judges answer: {', '.join(KINDS)}. -bad: also that both are bad. Those that are not about a pair "
        "show up to five systems at once."
    ),
]
Clean = Annotated[
    bool,
    typer.Option("--clean", help="Show summaries without thinking blocks, special tokens, HTML, Markdown, preambles."),
]
Normalise = Annotated[
    bool,
    typer.Option("--normalise", help="Write all summaries in one form: a paragraph, usual punctuation, same case."),
]
Key = Annotated[
    Path | None, typer.Option(metavar="KEY.json", help="File for the secret key (default: key.json in the study).")
]


@dataclass(frozen=True)
class Building:
    """What judges read and are asked."""

    criteria: Path | None = None
    """YAML or JSON list of {id, question, help, answers}; default: four standard criteria"""
    title: str | None = None
    """title that judges read"""
    instructions: Path | None = None
    """text file with the instructions that judges read"""
    consent: Path | None = None
    """text file with what judges agree to before they begin"""
    about: Path | None = None
    """YAML or JSON list of questions about the judge: {id, question, choices, screen_out}"""
    marking: str | None = None
    """judges mark errors: 'standard' categories, or a YAML or JSON list of {id, label, help, whole}; without
    ``criteria`` they do nothing else"""
    training: Path | None = None
    """YAML or JSON {pass_mark, attempts, tasks}: practice tasks with known answers, for the app"""
    language: str = "en"
    """language of the judge's pages: a code such as en, or a YAML file {language, texts}"""
    seed: int | None = Field(default=None, ge=0)
    """seed, which must stay secret because it unblinds; default: random"""


@expanded
def build(
    *,
    outputs: Annotated[list[Path], typer.Argument(help="Outputs of one or more systems each: records, or lines.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write the study into; must be new or empty.")],
    articles: ArticleFile = None,
    article_column: ArticleColumn = None,
    design: StudyDesign,
    how: Building,
    answers: Answers = PAIR,
    clean: Clean = False,
    normalise: Normalise = False,
    key: Key = None,
) -> None:
    """Build a blind study in which judges compare summaries of an article by several criteria.

    Left and right are balanced within each pair on an article, each booklet, each pair of systems and overall. Only
    key.json names the systems, and only `analyse` needs it.

    **Examples**

    rlsum human-eval build rouge.jsonl sms.jsonl -o study

    rlsum human-eval build outputs/*.jsonl -o study --baseline rouge-l --items 50 --criteria criteria.yaml

    rlsum human-eval build outputs/*.jsonl -o study --answers ranking

    rlsum human-eval build rouge.txt sms.txt --articles test.jsonl -o study
    """
    key = key or out / "key.json"
    check_destinations(out, key)
    asked = _criteria(answers, how)
    aligned = read_aligned(outputs, None if articles is None else Articles.read(articles, article_column))
    survey = Survey.of((*written, ()) for texts in aligned.candidates.values() for written in texts.items())
    aligned = aligned.rewritten(lambda text: cleaned(text, survey.prefixes)) if clean else aligned
    aligned = normalised(aligned) if normalise else aligned
    texts = texts_at_once(aligned.systems, asked)
    asked = standard(answers, texts).criteria if asked and how.criteria is None else asked
    wording = _wording(how, asked, texts)
    if how.language != "en" and (how.instructions is None or how.criteria is None):
        typer.echo("Warning: the standard instructions and criteria are English; give --instructions and --criteria")
    seed = secrets.randbits(63) if how.seed is None else how.seed  # it unblinds a study, so it must be unpredictable
    built, secret = build_study(aligned, design, wording, seed, typer.echo)
    save(out, built, key, secret)
    for note in survey.sentences(clean, READ):
        typer.echo(note)
    _report(aligned, built, secret, out, key)


def _criteria(answers: str, how: Building) -> tuple[Criterion, ...]:
    """The criteria of a file, or the standard ones, for a kind of answers; none if errors are marked instead."""
    if answers not in KINDS:
        raise StudyError(f"--answers {answers}: expected one of {', '.join(KINDS)}")
    if how.criteria is not None:
        return read_criteria(how.criteria, answers)
    if how.marking and answers != PAIR:
        raise StudyError(f"--answers {answers}: with --marking there are no questions; give them with --criteria")
    return () if how.marking else standard(answers, 2).criteria


def _wording(how: Building, criteria: tuple[Criterion, ...], texts: int) -> StudyWording:
    marking = None if how.marking is None else read_marking(how.marking)
    title, asks = MARKING_TITLE, MARKING_INSTRUCTIONS
    if marking is None:
        title, asks = standard(criteria[0].answers, texts).title, usual(criteria, texts)
    if how.title is not None and not how.title.strip():
        raise UserError(f"--title {how.title!r}: is empty; leave it out for the usual title")
    consent = "" if how.consent is None else read_consent(how.consent)
    interface = read_interface(how.language)
    wording = StudyWording(
        title=how.title or title,
        instructions=asks if how.instructions is None else read_text("--instructions", how.instructions),
        criteria=criteria,
        enrolment=Enrolment(consent, () if how.about is None else read_questions(how.about)),
        interface=interface,
        training=None if how.training is None else read_training(how.training, criteria, marking),
        marking=marking,
    )
    if lacking := untranslated(interface):
        typer.echo(f"Warning: {len(lacking)} texts of judges' pages stay English, such as {lacking[0]!r}")
    return wording


def _report(aligned: AlignedOutputs, study: Study, key: StudyKey, out: Path, key_path: Path) -> None:
    if aligned.repeated:
        typer.echo(f"Warning: {counted(aligned.repeated, 'id')} left out, whose article has an earlier id, too")
    for system, count in aligned.left_out.items():
        typer.echo(f"{system}: {counted(count, 'output')} left out: another system lacks the article")
    for system in aligned.systems:
        if empty := sum(not texts[system].strip() for texts in aligned.candidates.values()):
            typer.echo(f"Warning: {system}: {counted(empty, 'output')} of {len(aligned.candidates)} without any text")
    if key.ties:
        typer.echo(f"Not judged, counted as no difference: {counted(len(key.ties), 'pair')} of identical outputs")
    if study.most_texts == 2 and len(key.systems) > len(LETTERS) and any(c.kind.texts[1] > 2 for c in study.criteria):
        number = len(pairs_of(key.systems, key.baseline))
        at_once = f"{len(key.systems)} systems, more than {len(LETTERS)}, which is the most at once"
        typer.echo(f"{at_once}: a task shows two, and an article has {counted(number, 'pair')}; see --baseline")
    if naming := naming_tasks(study, key.systems):
        typer.echo(f"Warning: {naming_note(naming)}; see {out / TASKS}")
    if all(text == text.lower() != text.upper() for text in study.articles.values()):
        fix = f"{option('articles', 'FILE')} gives them as they were written"
        typer.echo(f"Warning: the articles that judges read are in lower case; {fix}")
    for giveaway in giveaways(aligned):
        mend = "; --normalise removes this" if giveaway.trait in NORMALISED else ""
        typer.echo(f"Warning: judges can tell systems apart: {giveaway}{mend}")
    typer.echo(_kept_by_checks(study, key))
    for warning in _too_small(study, key):
        typer.echo(f"Warning: {warning}")
    sizes = [len(booklet) for booklet in study.booklets]
    judged = [task.item for task in study.tasks if key.tasks[task.id].kind == "pair"]
    spare = len(study.articles) - len(set(judged))
    typer.echo(
        f"{out}: {counted(len(study.tasks), 'task')}, including {counted(len(study.tasks) - len(judged), 'check')}, in "
        f"{counted(len(sizes), 'booklet')} of {spread(sizes, 'task')}, on {counted(len(study.articles), 'article')}"
        f"{f' ({spare:,} only in checks)' if spare else ''}; each judge gets one booklet, of about "
        f"{max(minutes(study, booklet) for booklet in study.booklets)} minutes, as the first page says"
    )
    typer.echo(f"{key_path}: the key, which only `rlsum human-eval analyse` needs; keep it secret")
    typer.echo(f"next, judges' links: rlsum human-eval serve {out}")


def _too_small(study: Study, key: StudyKey) -> Iterator[str]:
    """What no judgments of this study could show."""
    from human_eval.statistics.preference import least_p  # imports scipy
    from human_eval.statistics.random_judges import FEWEST_ITEMS, FEWEST_JUDGES, to_claim
    from rlsum.evaluation.statistics import ALPHA

    judged = {(task.item, key.tasks[task.id].pair) for task in study.tasks if key.tasks[task.id].kind == "pair"}
    items = len({item for item, _ in judged})
    tests, judges = len(study.asked) * len(pairs_of(key.systems, key.baseline)), len(study.booklets)
    there = counted(items, "article")
    if (p := least_p(items, tests)) > ALPHA:
        fewest = next(n for n in range(items, 100) if least_p(n, tests) <= ALPHA)
        yield (
            f"{there}: no difference can be significant at {ALPHA:g} after Holm's correction over "
            f"{counted(tests, 'test')} (p is {p:.2g} or more); give {fewest} articles or more, or fewer criteria"
        )
    if judges < FEWEST_JUDGES or items < FEWEST_ITEMS:
        yield (
            f"{counted(judges, 'judge')}, {there}: no preference will be claimed, but of these judges alone if a plan "
            f"asks about them; {to_claim(items, len(judged), study.judges_per_item)}"
        )
    elif judges == FEWEST_JUDGES:
        yield (
            f"{counted(judges, 'judge')}: a claim about people in general needs all of them; --spare 2 makes booklets "
            "for others, should some be excluded or not finish"
        )


def _kept_by_checks(study: Study, key: StudyKey) -> str:
    """What the checks of a booklet do to judges who read and to judges who do not."""
    booklets = [Counter(key.tasks[task.id].kind for task in booklet) for booklet in study.booklets]
    counts = {str(kind): min(tasks[kind] for tasks in booklets) for kind in CHECKS}
    number = sum(counts.values())
    if number < 2:
        return f"{counted(number, 'check')} per booklet: no judge is excluded, however careless; add checks"
    # Which summary has fewer errors is an answer, too.
    kinds = [criterion.kind for criterion in study.criteria] or [KINDS[PAIR]]
    rates = error_rates(counts, kinds, study.most_texts)
    text = (
        f"{counted(number, 'check')} per booklet. A judge who fails more than {most_failures(number)} is excluded: "
        f"{1 - rates.random:.1%} of judges who click at random, {1 - rates.none:.0%} of those who always answer 'no "
        f"difference', {1 - rates.left:.0%} of those who always answer 'left', but also {rates.careful:.1%} of careful "
        f"judges (who fail one check in 20) and {rates.hasty:.1%} of hasty ones (one in 10)"
    )
    lax = max(rates.random, rates.none, rates.left if study.criteria else 0.0) > KEPT
    ties = bool(study.criteria) and all(kind.can_tie(study.most_texts) for kind in kinds)
    return f"Warning: {text}; add checks with {'--identical and ' if ties else ''}--shuffled" if lax else text
