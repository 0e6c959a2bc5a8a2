"""The simulated corpus of a comparison, with the word vectors and the two reference systems that come with it."""

from __future__ import annotations

from pathlib import Path

from rlsum.compare.config import Simulated
from rlsum.compare.folder import Folder, FolderError
from rlsum.files import write_atomically
from rlsum.records import Output, write_outputs
from rlsum.simulation.policies import lead, oracle
from rlsum.simulation.stories import stories, write_corpus
from rlsum.simulation.word_vectors import train_from_corpus


def prepare(folder: Folder) -> None:
    """Write the corpus of a comparison that simulates one, its word vectors and the summaries of the lead and the
    oracle, unless all are there. Raises FolderError where they cannot be written.
    """
    sizes, data = folder.comparison.simulate, folder.path / "data"
    if sizes is None or (data / "complete").exists():
        return
    try:
        with folder.lock("data", wait=True):
            if not (data / "complete").exists():  # else another process made it meanwhile
                _write(sizes, data)
    except OSError as error:
        fix = "nothing is lost: mend it and start again"
        raise FolderError(f"{data}: cannot be written ({error.strerror}); {fix}") from error


def _write(sizes: Simulated, data: Path) -> None:
    paths = write_corpus(data, sizes.seed, {"train": sizes.train, "valid": sizes.valid, "test": sizes.test})
    if sizes.vectors:
        train_from_corpus(paths["train"], data / "vectors.txt.gz")
    test = list(stories(sizes.seed, "test", sizes.test))
    for name, policy in {"lead-3": lead, "oracle": oracle}.items():
        texts = ((story.id, "\n".join(story.article), ("\n".join(story.highlights),), policy(story)) for story in test)
        write_outputs(data / f"{name}.jsonl", (Output(*row, name) for row in texts))
    write_atomically(data / "complete", b"")
