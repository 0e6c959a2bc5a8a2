"""The judged texts of the paper, found in a folder of public data: HUSE, ASAP-SAS and ASAP-AES."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reproductions.neighbors.tasks import Judged, Task, joined, judged
from rlsum.judgments.registry import load

TOPICS = range(1, 11)
TESTED, BEST = 3, 8  # the topic that is scored, and the topic whose examples the paper found best
NOT_PUBLIC = "its judgments are not public; it runs where they are given"
SENTENCES = "5-15"

SUMMARIES, DIALOGUE, OPEN_ENDED = "summaries", "dialogue", "open-ended"
HUSE = (SUMMARIES, DIALOGUE, OPEN_ENDED)
ESSAYS, ALL_ESSAYS = "essays", "essays of any length"
TASKS = (*HUSE, ESSAYS, ALL_ESSAYS)


@dataclass(frozen=True)
class Places:
    """Where the data are: a ``folder`` with ``huse``, ``asap_sas``, ``asap_aes_set3``; others as `load` reads them."""

    folder: Path
    dialogue: str | None = None
    open_ended: str | None = None


def find_tasks(places: Places, say: Callable[[str], None]) -> list[Task]:
    """The tasks of Table 1 whose data are there; ``say`` is told what is left out and why.

    HUSE texts are scored by each other, essays of topic 3 by the training essays of topic 8 with ``b = 1``. Raises
    RecordError for data that are there and cannot be used.
    """
    tasks = []
    huse = places.folder / "huse" / "huse_summarization.jsonl"
    given = {
        SUMMARIES: f"huse:{huse}" if huse.is_file() else None,
        DIALOGUE: places.dialogue,
        OPEN_ENDED: places.open_ended,
    }
    for name, data in given.items():
        if data is None:
            say(f"skipped: {name}: {f'no {huse}' if name == SUMMARIES else NOT_PUBLIC + f' by --{name} DATA'}")
            continue
        texts = judged(load(data), name)
        tasks.append(Task(name, texts, texts))
    if has_essays(places, say):
        examples = training_essays(places, BEST)
        for name, sentences in ((ESSAYS, SENTENCES), (ALL_ESSAYS, "")):
            tasks.append(Task(name, tested_essays(places, name, sentences), examples, b=1.0))
    return tasks


def has_essays(places: Places, say: Callable[[str], None]) -> bool:
    """Whether there are ASAP-SAS essays; ``say`` is told where not."""
    there = (places.folder / "asap_sas").is_dir()
    if not there:
        say(f"skipped: essays: no {places.folder / 'asap_sas'}")
    return there


def tested_essays(places: Places, name: str, sentences: str) -> Judged:
    """Public test essays of topic 3, of so many sentences (split at white space behind a full stop)."""
    data = f"asap-sas:{places.folder / 'asap_sas'}"
    return judged(load(data, part="test", sets=str(TESTED), sentences=sentences), name)


def training_essays(places: Places, topic: int) -> Judged:
    """The training essays of a topic."""
    data = f"asap-sas:{places.folder / 'asap_sas'}"
    return judged(load(data, part="train", sets=str(topic)), f"topic {topic}")


def all_training_essays(places: Places) -> list[Judged]:
    """Those of every topic, and last of all topics but the tested one together."""
    each = [training_essays(places, topic) for topic in TOPICS]
    others = [essays for topic, essays in zip(TOPICS, each, strict=True) if topic != TESTED]
    return [*each, joined(others, f"all but {TESTED}")]


def reference_essay(places: Places) -> str:
    """The longest training essay of topic 3 to which both raters gave the best score: a reference, one of many."""
    found = load(f"asap-sas:{places.folder / 'asap_sas'}", part="train", sets=str(TESTED), references=1)
    return found.rows[0].references[0]


def other_essays(places: Places) -> tuple[Judged, str] | None:
    """ASAP-AES set 3, 5 to 15 sentences, 0 to 3 points, and a reference chosen likewise: another "topic 3"."""
    path = places.folder / "asap_aes_set3" / "asap_aes_set3.tsv.gz"
    if not path.is_file():
        return None
    found = load(f"asap-aes:{path}", references=1, sentences=SENTENCES)
    return judged(found, "essays of ASAP-AES"), found.rows[0].references[0]


def random_texts(data: str) -> list[str]:
    """The distinct references of judgments, to make a baseline of random pairs from."""
    texts = dict.fromkeys(reference for row in load(data).rows for reference in row.references)
    return [text for text in texts if text.strip()]
