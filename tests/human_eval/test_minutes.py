import re
from pathlib import Path

from human_eval.criteria import StudyWording
from human_eval.design.build import build
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import align
from human_eval.minutes import A_TASK, minutes
from human_eval.planning.recruitment import Effort, in_words, recruitment
from rlsum.records import Output

ROOT = Path(__file__).resolve().parents[2]
A_PAIR = re.compile(
    r"(?:pair|task|comparison) takes (?:about )?(\S+)\s+minutes|(\S+)\s+minutes?\s+(?:a|per)\s+(?:pair|task|comparison)"
    r"|minutes at (\S+) a task"
)


def news(pairs):
    """A study of articles of 650 words, in one booklet without checks."""
    rows = [
        (system, Output(f"article-{n}", f"word{n} " + "word " * 649, (), f"{system}{n} " * 55, system))
        for system in ("one", "two")
        for n in range(pairs)
    ]
    design = StudyDesign(items=pairs, judges=1, booklet=pairs, identical=0, shuffled=0)
    return build(align(rows), design, StudyWording(), 0)[0]


def test_app_plan_readme_and_docs_tell_the_same_minutes_a_task():
    """They told 2 to 4, 3 and 5."""
    for pairs in (1, 25):
        study = news(pairs)
        assert minutes(study, study.tasks) == pairs * A_TASK  # what the first page says
    needed = recruitment(Effort(checks=0), 25, 1, 1)
    assert f"about {minutes(study, study.tasks)} minutes at {A_TASK:g} a task" in in_words(Effort(checks=0), needed)
    told = {}
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))):
        found = A_PAIR.findall(path.read_text(encoding="utf-8"))
        told |= {path.name: {"".join(groups) for groups in found}} if found else {}
    assert {"README.md", "study.md", "studies.md"} <= told.keys()
    assert {number for numbers in told.values() for number in numbers} == {f"{A_TASK:g}"}
