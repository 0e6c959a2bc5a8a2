"""Measure the headroom of the simulated corpus: untrained policies under every reward, on held-out stories.

    python scripts/measure_headroom.py --stories 500

Prints the size of the corpus, the similarity of synonyms in its word vectors, the mean score of each policy (with half
the 95% interval), and the paired gain of the best policy of each reward over the likelihood mode.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import rewards
from rlsum.simulation import policies as story_policies
from rlsum.simulation.grammar import KINDS, SYNONYMS
from rlsum.simulation.stories import Story, stories
from rlsum.simulation.word_vectors import synonym_margin, train_vectors, write_vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stories", type=int, default=500, help="test stories to score")
    parser.add_argument("--train", type=int, default=4000, help="stories behind the vectors and the searched policies")
    parser.add_argument("--search", type=int, default=60, help="stories of a kind that a searched policy is fitted on")
    parser.add_argument(
        "--optimise", nargs="*", default=["rouge-l", "sms"], help="rewards to search the best policy for"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--twmd", action="store_true", help="also TWMD with the demo's encoder (minutes)")
    options = parser.parse_args()

    train = list(stories(options.seed, "train", options.train))
    test = list(stories(options.seed, "test", options.stories))
    describe_corpus(train)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt.gz"
        vectors = train_vectors(line for story in train for line in story.article)
        write_vectors(path, vectors)
        print(
            "synonyms: mean cosine {:.3f}, random words {:.3f}, nearer {:.2%}".format(
                *synonym_margin(vectors, SYNONYMS)
            )
        )
        movers = {name: rewards.load(name, vectors=str(path), normalize="unit") for name in ("wms", "sms", "s+wms")}
        metrics = {name: rewards.load(name) for name in ("rouge-1", "rouge-2", "rouge-l")} | movers
        if options.twmd:
            metrics["twmd"] = rewards.load("twmd", encoder="minilm")
        print(f"words to weigh without a vector: {movers['wms'].oov_rate(map(text, test)):.1%} of the references'")
        measure(policies(train, metrics, options.optimise, options.search), metrics, test)


def text(story: Story) -> str:
    return "\n".join(story.highlights)


def describe_corpus(train: Sequence[Story]) -> None:
    tokens = [" ".join(story.article).split() for story in train]
    counts = Counter(token for words in tokens for token in words)
    names = Counter({token: count for token, count in counts.items() if token[0].isupper()})
    lengths = np.percentile([len(words) for words in tokens], [5, 50, 95]).astype(int)
    summaries = np.percentile([len(text(story).split()) for story in train], [5, 50, 95]).astype(int)
    print(f"{len(train)} stories; tokens at 5/50/95%: article {lengths}, summary {summaries}")
    print(f"{len(counts) - len(names)} word types, {len(names)} names (the most frequent {max(names.values())} times)")


def policies(
    train: Sequence[Story], metrics: dict[str, rewards.Reward], optimised: Sequence[str], size: int
) -> dict[str, Callable[[Story], str]]:
    """Name -> policy; ``best for X`` is searched on training stories."""
    sample = {kind: [story for story in train if story.kind == kind][:size] for kind in KINDS}
    found: dict[str, Callable[[Story], str]] = {
        "lead-3": story_policies.lead,
        "likelihood mode": story_policies.likelihood_mode,
        "random reference": story_policies.random_reference,
        "oracle": story_policies.oracle,
    }
    for name in optimised:
        reward = metrics[name]

        def score(candidates: Sequence[str], references: Sequence[str], reward: rewards.Reward = reward) -> float:
            return float(reward(candidates, [[reference] for reference in references]).mean())

        plans = {kind: story_policies.search_templates(kind, score, sample[kind]) for kind in KINDS}
        found[f"best for {name}"] = lambda story, plans=plans: story_policies.fill(story, plans[story.kind])
        print(f"\nbest for {name}:", *(f"  {kind}: {' / '.join(plans[kind])}" for kind in KINDS), sep="\n")
    return found


def measure(
    found: dict[str, Callable[[Story], str]], metrics: dict[str, rewards.Reward], test: Sequence[Story]
) -> None:
    references = [[text(story)] for story in test]
    candidates = {name: [policy(story) for story in test] for name, policy in found.items()}
    scores = {
        name: {metric: 100 * reward(texts, references) for metric, reward in metrics.items()}
        for name, texts in candidates.items()
    }
    print("\n" + " ".join(["policy".ljust(18), *(metric.rjust(12) for metric in metrics), "tokens".rjust(7)]))
    for name, texts in candidates.items():
        length = np.mean([len(candidate.split()) for candidate in texts])
        print(" ".join([name.ljust(18), *(interval(scores[name][metric]) for metric in metrics), f"{length:7.1f}"]))
    print("\nheadroom over the likelihood mode (paired)")
    for name in list(found)[2:]:
        gains = (interval(scores[name][metric] - scores["likelihood mode"][metric]) for metric in metrics)
        print(" ".join([name.ljust(18), *gains]))


def interval(values: np.ndarray) -> str:
    return f"{values.mean():6.2f} ±{1.96 * values.std(ddof=1) / np.sqrt(len(values)):4.2f}"


if __name__ == "__main__":
    main()
