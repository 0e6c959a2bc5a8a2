"""A process of benchmark_step.py: for each line with the name of a case, it prints the CPU seconds of one update.

    PYTHONPATH=CHECKOUT python scripts/speed/timed_updates.py rlsum

An update is samples, greedy texts, ROUGE-L, one pass with gradient, backward pass, clipping and Adam. Of rlsum only the
contract of ``Model`` is used, so that other checkouts can be timed, too. Peers are timed in a clone of their
repository (``rohithreddy024`` or ``atulkum``, then the folder) by their own ``train_one_batch``; their reward costs
nothing here.
"""

from __future__ import annotations

import importlib.machinery
import json
import os
import queue
import random
import resource
import string
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from rlsum.data.batch import Batch
    from rlsum.data.vocabulary import Vocabulary

Update = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """Sizes of an update of eight articles. ``gamma`` is the weight of the rewarded loss; no text ends early."""

    gamma: float
    coverage: bool = False
    samples: int = 1
    source: int = 400
    target: int = 100
    words: int = 50_000
    embedding: int = 128
    hidden: int = 256


small = partial(Case, coverage=True, samples=4, source=150, target=60, words=10_000, hidden=128)
CASES = {
    "likelihood": Case(0.0),
    "self-critical": Case(1.0),
    "mixed": Case(0.97),
    "likelihood, coverage": Case(0.0, coverage=True),
    "self-critical, coverage": Case(1.0, coverage=True),
    "mixed, coverage": Case(0.97, coverage=True),
    "self-critical, 5 samples": Case(1.0, samples=5),
    "mixed, 5 samples": Case(0.97, samples=5),
    "likelihood, small": small(0.0),
    "self-critical, small": small(1.0),
    "mixed, small": small(0.97),
}
PEERS = ("rohithreddy024", "atulkum")
ARTICLES = 8
COPIED = 20  # unknown words of an article, for the peers


def main() -> None:
    """Answer each line of the input: its case is prepared and run once to warm up where the last was another."""
    answers, sys.stdout = sys.stdout, sys.stderr  # peers print
    torch.set_num_threads(1)
    prepare = prepare_ours if sys.argv[1] == "rlsum" else peer(sys.argv[1], sys.argv[2])
    prepared, update = "", None
    for line in sys.stdin:
        if line.strip() != prepared:
            torch.manual_seed(1)
            prepared, update = line.strip(), None  # the last one's memory is free before the next is prepared
            update = prepare(CASES[prepared])
            run(update)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(json.dumps({"seconds": run(update), "peak": peak}), file=answers, flush=True)


def run(update: Update | None) -> float | None:
    """CPU seconds of an update; None for what an implementation does not have."""
    if update is None:
        return None
    started = time.process_time()
    update()
    return time.process_time() - started


# ---- this repository ----------------------------------------------------------------------------------------------


def prepare_ours(case: Case) -> Update:
    """An update of the pointer-generator that is on the path."""
    import rewards
    from rlsum.data.vocabulary import EOS, Vocabulary
    from rlsum.models.decoding import Sampling
    from rlsum.models.pointer_generator.model import PointerGenerator
    from rlsum.models.pointer_generator.options import PointerGeneratorConfig

    words = [word(i) for i in range(case.words - 5)] + ["."]
    vocabulary = Vocabulary.of_counts(Counter(words), len(words))
    batch = random_batch(vocabulary, words, case)
    sizes = PointerGeneratorConfig(embedding=case.embedding, hidden=case.hidden, coverage=case.coverage)
    model = PointerGenerator(sizes, vocabulary)
    with torch.no_grad():
        model.word_out.bias[EOS] = -1e9
    k, sampling = case.samples, Sampling(max_length=case.target)
    reward = rewards.from_spec("rouge-l(stemmer=false)")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def update() -> None:
        of_samples, of_references = None, model(batch, batch.target) if case.gamma == 0 else None
        loss = torch.zeros(())
        if case.gamma:
            drawn = model.draw_and_score(batch, k, sampling, None, True, case.gamma < 1)
            samples, greedy, (of_samples, of_references) = drawn
            rewarded = reward(model.to_text(batch, samples), [r for r in batch.references for _ in range(k)])
            rewarded = rewarded.reshape(-1, k) - reward(model.to_text(batch, greedy), batch.references)[:, None]
            weight = torch.as_tensor(rewarded, dtype=torch.float32).flatten()
            loss = -case.gamma * (weight * of_samples.log_prob.mean(-1)).mean()
        if case.gamma < 1:
            loss = loss - (1 - case.gamma) * of_references.log_prob.mean()
        if case.coverage:
            loss = loss + sum(scored.coverage.mean() for scored in (of_samples, of_references) if scored is not None)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        optimizer.step()
        optimizer.zero_grad()

    return update


def word(number: int) -> str:
    """A word of letters, since some rewards weigh no others."""
    letters = ""
    for _ in range(4):
        number, digit = divmod(number, 26)
        letters += string.ascii_lowercase[digit]
    return f"q{letters}"


def text(length: int, words: list[str], rng: random.Random) -> list[str]:
    """Random words in sentences of twenty, the full stop counted, one word in 33 unknown."""
    unknown = [f"unknown{string.ascii_lowercase[i]}" for i in range(26)]
    drawn = [rng.choice(unknown) if rng.random() < 0.03 else rng.choice(words) for _ in range(length)]
    return ["." if i % 20 == 19 else token for i, token in enumerate(drawn)]


def random_batch(vocabulary: Vocabulary, words: list[str], case: Case) -> Batch:
    """Articles and summaries as long as the case says, the end token of the summaries counted."""
    from rlsum.data.batch import collate

    rng = random.Random(1)
    articles, summaries = (
        [text(length, words, rng) for _ in range(ARTICLES)] for length in (case.source, case.target - 1)
    )
    rows: dict[str, list[Any]] = {
        "id": [str(i) for i in range(ARTICLES)],
        "source": [" ".join(tokens) for tokens in articles],
        "references": [[" ".join(tokens)] for tokens in summaries],
        "src_tokens": articles,
        "tgt_tokens": summaries,
        "tgt_whole": [True] * ARTICLES,
    }
    return collate(rows, vocabulary)


# ---- peers ----------------------------------------------------------------------------------------------------------


class Absent(ModuleType):
    """A module that a peer imports and an update does not use. Every attribute of it is another one."""

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(name)

    def __call__(self, *_: object, **__: object) -> Absent:
        """Any call gives another one."""
        return Absent("result")


def peer(name: str, folder: str) -> Callable[[Case], Update | None]:
    """The updates of a clone. What it lacks (several samples, coverage in one of them) is None."""
    import torch._dynamo  # noqa: F401  before the stand-ins: it looks for their specs

    for module in ("tensorflow", "tensorflow.core", "tensorflow.core.example", "tensorflow.core.example.example_pb2"):
        sys.modules[module] = Absent(module)
        sys.modules[module].__spec__ = importlib.machinery.ModuleSpec(module, None)
    sys.modules["tensorflow.core.example"].example_pb2 = Absent("example_pb2")  # type: ignore[attr-defined]
    sys.modules["Queue"] = queue  # Python 2's name
    rouge = ModuleType("rouge")
    rouge.Rouge = FreeRouge  # type: ignore[attr-defined]
    sys.modules["rouge"] = rouge
    sys.path.insert(0, folder)
    if name == "atulkum":
        sys.path.insert(0, os.path.join(folder, "training_ptr_gen"))
    config = importlib.import_module("data_util.config")
    return lambda case: {"rohithreddy024": prepare_rohithreddy024, "atulkum": prepare_atulkum}[name](case, config)


class FreeRouge:
    """A reward without cost."""

    def get_scores(self, candidates: list[str], references: list[str]) -> list[dict]:
        """The same score for every text, with a little noise so that advantages are not all 0."""
        return [{"rouge-l": {"f": random.random()}} for _ in candidates]


def prepare_rohithreddy024(case: Case, config: Any) -> Update | None:
    """Text-Summarizer-Pytorch: one sample an article, no coverage, attention over the decoder's own states."""
    if case.coverage or case.samples > 1:
        return None
    configure(case, config)
    train: Any = importlib.import_module("train")
    data: Any = importlib.import_module("data_util.data")
    model = importlib.import_module("model").Model()
    step = train.Train.__new__(train.Train)
    step.model, step.trainer = model, torch.optim.Adam(model.parameters(), lr=1e-4)
    step.start_id, step.end_id, step.pad_id, step.unk_id = 2, -1, 1, 0  # no word ends a text
    step.vocab = None
    data.outputids2words = lambda ids, vocab, unknown: [f"w{i}" for i in ids]
    mle, rl = case.gamma < 1, case.gamma > 0
    step.opt = SimpleNamespace(
        train_mle="yes" if mle else "no",
        train_rl="yes" if rl else "no",
        mle_weight=1 - case.gamma,
        rl_weight=case.gamma,
    )
    batch = peer_batch(case)
    return lambda: step.train_one_batch(batch, 0)


def prepare_atulkum(case: Case, config: Any) -> Update | None:
    """pointer_summarizer: likelihood only. Its coverage is switched for the whole process, so one case a process."""
    if case.gamma or case.coverage:
        return None
    configure(case, config)
    sys.modules["config"] = config  # implicit relative imports of Python 2
    for module in ("data_util.batcher", "data_util.data", "data_util.utils"):
        sys.modules[module] = Absent(module)
    train, model = importlib.import_module("train"), importlib.import_module("model").Model(None)
    step = train.Train.__new__(train.Train)
    step.model = model
    parts = (model.encoder, model.decoder, model.reduce_state)
    step.optimizer = torch.optim.Adagrad([p for module in parts for p in module.parameters()], lr=0.15)
    batch = peer_batch(case)
    return lambda: step.train_one_batch(batch)


def configure(case: Case, config: Any) -> None:
    config.hidden_dim, config.emb_dim, config.vocab_size = case.hidden, case.embedding, case.words
    config.batch_size, config.max_enc_steps, config.max_dec_steps = ARTICLES, case.source, case.target
    config.use_gpu = False


def peer_batch(case: Case) -> SimpleNamespace:
    """A batch of random ids under the names that both peers use."""
    rng, source, target = np.random.default_rng(1), (ARTICLES, case.source), (ARTICLES, case.target)
    return SimpleNamespace(
        enc_batch=rng.integers(4, case.words, source),
        enc_batch_extend_vocab=rng.integers(4, case.words + COPIED, source),
        enc_padding_mask=np.ones(source, np.float32),
        enc_lens=np.full(ARTICLES, case.source),
        dec_batch=rng.integers(4, case.words, target),
        target_batch=rng.integers(4, case.words, target),
        dec_padding_mask=np.ones(target, np.float32),
        dec_lens=np.full(ARTICLES, case.target),
        max_art_oovs=COPIED,
        art_oovs=[[f"unknown{i}" for i in range(COPIED)]] * ARTICLES,
        original_abstracts=["a reference"] * ARTICLES,
    )


if __name__ == "__main__":
    main()
