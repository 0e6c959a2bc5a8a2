"""The judged texts of the paper from a folder of public data: HUSE, ASAP-SAS and ASAP-AES."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reproductions.neighbors.tasks import JudgedTexts, NeighborTask, joined, judged
from rlsum.judgments.registry import load

TOPICS = range(1, 11)
TESTED, BEST = 3, 8  # the topic that is scored, and the topic whose examples the paper found best
NOT_PUBLIC = "its judgments are not public; they can be given"
SENTENCES = "5-15"

SUMMARIES, DIALOGUE, OPEN_ENDED = "summaries", "dialogue", "open-ended"
HUSE = (SUMMARIES, DIALOGUE, OPEN_ENDED)
ESSAYS, ALL_ESSAYS = "essays", "essays of any length"
TASKS = (*HUSE, ESSAYS, ALL_ESSAYS)


@dataclass(frozen=True)
class DataPaths:
    """A ``folder`` with ``huse``, ``asap_sas``, ``asap_aes_set3``; the other data in any form that `load` reads."""

    folder: Path
    dialogue: str | None = None
    open_ended: str | None = None


def find_tasks(paths: DataPaths, say: Callable[[str], None]) -> list[NeighborTask]:
    """The tasks of Table 1 whose data exist; ``say`` is called with a line for each skipped one.

    HUSE texts are scored by each other, essays of topic 3 by the training essays of topic 8 with ``b = 1``. Raises
    RecordError for invalid data.
    """
    tasks = []
    huse = paths.folder / "huse" / "huse_summarization.jsonl"
    given = {
        SUMMARIES: f"huse:{huse}" if huse.is_file() else None,
        DIALOGUE: paths.dialogue,
        OPEN_ENDED: paths.open_ended,
    }
    for name, data in given.items():
        if data is None:
            say(f"skipped: {name}: {f'no {huse}' if name == SUMMARIES else NOT_PUBLIC + f' by --{name} DATA'}")
            continue
        texts = judged(load(data), name)
        tasks.append(NeighborTask(name, texts, texts))
    if has_essays(paths, say):
        examples = training_essays(paths, BEST)
        for name, sentences in ((ESSAYS, SENTENCES), (ALL_ESSAYS, "")):
            tasks.append(NeighborTask(name, tested_essays(paths, name, sentences), examples, b=1.0))
    return tasks


def has_essays(paths: DataPaths, say: Callable[[str], None]) -> bool:
    """Whether there are ASAP-SAS essays; calls ``say`` if not."""
    exists = (paths.folder / "asap_sas").is_dir()
    if not exists:
        say(f"skipped: essays: no {paths.folder / 'asap_sas'}")
    return exists


def tested_essays(paths: DataPaths, name: str, sentences: str) -> JudgedTexts:
    """Public test essays of topic 3 with the given range of sentences (split at white space after a full stop)."""
    data = f"asap-sas:{paths.folder / 'asap_sas'}"
    return judged(load(data, part="test", sets=str(TESTED), sentences=sentences), name)


def training_essays(paths: DataPaths, topic: int) -> JudgedTexts:
    """The training essays of a topic."""
    data = f"asap-sas:{paths.folder / 'asap_sas'}"
    return judged(load(data, part="train", sets=str(topic)), f"topic {topic}")


def all_training_essays(paths: DataPaths) -> list[JudgedTexts]:
    """The training essays of every topic and, last, of all topics except the tested one together."""
    by_topic = [training_essays(paths, topic) for topic in TOPICS]
    others = [essays for topic, essays in zip(TOPICS, by_topic, strict=True) if topic != TESTED]
    return [*by_topic, joined(others, f"all but {TESTED}")]


def reference_essay(paths: DataPaths) -> str:
    """The longest training essay of topic 3 with the best score from both raters."""
    judgments = load(f"asap-sas:{paths.folder / 'asap_sas'}", part="train", sets=str(TESTED), references=1)
    return judgments.rows[0].references[0]


def other_essays(paths: DataPaths) -> tuple[JudgedTexts, str] | None:
    """ASAP-AES set 3, 5 to 15 sentences, 0 to 3 points, and a reference chosen in the same way."""
    path = paths.folder / "asap_aes_set3" / "asap_aes_set3.tsv.gz"
    if not path.is_file():
        return None
    judgments = load(f"asap-aes:{path}", references=1, sentences=SENTENCES)
    return judged(judgments, "essays of ASAP-AES"), judgments.rows[0].references[0]


def random_texts(data: str) -> list[str]:
    """The distinct references of judgments, for random pairs."""
    texts = dict.fromkeys(reference for row in load(data).rows for reference in row.references)
    return [text for text in texts if text.strip()]
