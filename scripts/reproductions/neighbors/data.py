"""The judged texts of the paper from a folder of public data: HUSE and ASAP-SAS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reproductions.neighbors.tasks import JudgedTexts, NeighborTask, judged
from rlsum.judgments.registry import load

TOPICS = range(1, 11)
TESTED, BEST = 3, 8  # the topic that is scored, and the topic whose examples the paper found best
SUMMARIES, ESSAYS, ALL_ESSAYS = "summaries", "essays", "essays of any length"
SENTENCES = {ESSAYS: "5-15", ALL_ESSAYS: ""}


def find_tasks(folder: Path, say: Callable[[str], None]) -> list[NeighborTask]:
    """The tasks whose data exist; ``say`` is called with a line for each skipped one.

    Summaries are scored by each other, public test essays of topic 3 by the training essays of topic 8 with ``b = 1``.
    Raises RecordError for invalid data.
    """
    tasks, huse, essays = [], folder / "huse" / "huse_summarization.jsonl", folder / "asap_sas"
    if huse.is_file():
        texts = judged(load(f"huse:{huse}"), SUMMARIES)
        tasks.append(NeighborTask(SUMMARIES, texts, texts))
    else:
        say(f"skipped: {SUMMARIES}: no {huse}")
    if not essays.is_dir():
        say(f"skipped: {ESSAYS}: no {essays}")
        return tasks
    examples = training_essays(folder, BEST)
    for name, sentences in SENTENCES.items():  # split at white space after a full stop
        tested = judged(load(f"asap-sas:{essays}", part="test", sets=str(TESTED), sentences=sentences), name)
        tasks.append(NeighborTask(name, tested, examples, b=1.0))
    return tasks


def training_essays(folder: Path, topic: int) -> JudgedTexts:
    """The training essays of a topic."""
    return judged(load(f"asap-sas:{folder / 'asap_sas'}", part="train", sets=str(topic)), f"topic {topic}")
