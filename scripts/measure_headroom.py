"""Measure the headroom of the simulated corpus: untrained policies under every reward, on held-out stories.

    python scripts/measure_headroom.py --stories 500

Prints the size of the corpus, the similarity of synonyms in its word vectors, the mean score of each policy (with half
the 95% interval), and the paired gain of the best policy of each reward over the likelihood mode.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

import rewards
from rlsum.simulation.grammar import (
    DRAWN,
    FILLER,
    IN_ORDER,
    KINDS,
    LAZY,
    MOST_FACTS,
    SYNONYMS,
    Event,
    Fact,
    event,
    options_of,
)
from rlsum.simulation.policies import central_templates, fill, lead, oracle
from rlsum.simulation.stories import Story, reference, stories
from rlsum.simulation.word_vectors import train_vectors, write_vectors


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
        "lead-3": lead,
        "likelihood mode": likelihood_mode,
        "random reference": random_reference,
        "oracle": oracle,
    }
    for name in optimised:
        reward = metrics[name]

        def score(candidates: Sequence[str], references: Sequence[str], reward: rewards.Reward = reward) -> float:
            return float(reward(candidates, [[reference] for reference in references]).mean())

        plans = {kind: search_templates(kind, score, sample[kind]) for kind in KINDS}
        found[f"best for {name}"] = lambda story, plans=plans: fill(story, plans[story.kind])
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


def likelihood_mode(story: Story) -> str:
    """The most probable reference summary: the result of exact search under a perfect likelihood model."""
    return fill(story, likeliest_templates(story.kind))


def random_reference(story: Story) -> str:
    """Another draw from the distribution of references: how well one writer's summary predicts another's."""
    rng = random.Random(f"fresh:{story.id}:{sorted(story.facts.items())}")
    return "\n".join(reference(story.kind, story.facts, rng))


def search_templates(
    kind: str, score: Callable[[Sequence[str], Sequence[str]], float], sample: Sequence[Story]
) -> tuple[str, ...]:
    """Hill climbing from ``central_templates`` for the highest score on the references of ``sample``.

    Steps: reword a sentence, drop one, swap neighbours, add a fact or the filler. ``score`` maps candidates and
    references to one number. ``sample`` holds stories of this kind, none of which is used for evaluation. Approximates
    the policy with the highest expected reward given an article.
    """
    references = ["\n".join(story.highlights) for story in sample]

    def value(templates: tuple[str, ...]) -> float:
        return score([fill(story, templates) for story in sample], references)

    best = central_templates(kind)
    reached = value(best)
    while True:
        highest, templates = max((value(change), change) for change in _changes(kind, best))
        if highest <= reached:
            return best
        best, reached = templates, highest


def _changes(kind: str, templates: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    table = event(kind)
    wordings = [fact.summed for fact in (table.main, *table.facts)] + [(FILLER,)]
    for i, current in enumerate(templates):
        same = next(options for options in wordings if current in options)
        yield from ((*templates[:i], other, *templates[i + 1 :]) for other in same if other != current)
        if len(templates) > 1:
            yield (*templates[:i], *templates[i + 1 :])
        if i:
            yield (*templates[: i - 1], current, templates[i - 1], *templates[i + 1 :])
    for options in wordings:
        if not set(options) & set(templates):
            yield from ((*templates, other) for other in options)


@cache
def likeliest_templates(kind: str) -> tuple[str, ...]:
    """The templates of the most probable reference summary: the mode of ``draw_templates`` and ``word``."""
    story = event(kind)
    plans = [((), math.log(LAZY)), *_fact_plans(story)]
    best = max(plans, key=lambda plan: plan[1] + sum(_likeliest_wording(fact)[1] for fact in plan[0]))[0]
    rest = [_likeliest_wording(fact)[0] for fact in best] or [FILLER]
    return (_likeliest_wording(story.main)[0], *rest)


def _fact_plans(story: Event) -> Iterator[tuple[tuple[Fact, ...], float]]:
    """All (ordered facts, log-probability) of summaries with content."""
    probability: dict[tuple[Fact, ...], float] = {}
    for chosen in itertools.product((True, False), repeat=len(story.facts)):
        facts = tuple(fact for fact, taken in zip(story.facts, chosen, strict=True) if taken)[:MOST_FACTS]
        share = math.prod(f.share if taken else 1 - f.share for f, taken in zip(story.facts, chosen, strict=True))
        probability[facts] = probability.get(facts, 0.0) + share
    nothing = probability.pop(())
    for facts, share in probability.items():
        orders = list(itertools.permutations(facts))
        for order in orders:
            in_order = (1 - IN_ORDER) / len(orders) + IN_ORDER * (order == facts)
            yield order, math.log((1 - LAZY) * share / (1 - nothing) * in_order)


def _likeliest_wording(fact: Fact) -> tuple[str, float]:
    def log_probability(template: str) -> float:
        times = 1 + (template == fact.summed[0])
        draws = [len(options_of(match)) for match in DRAWN.finditer(template)]
        return math.log(times / (len(fact.summed) + 1)) - sum(math.log(count) for count in draws)

    return max(((template, log_probability(template)) for template in fact.summed), key=lambda pair: pair[1])


def synonym_margin(
    vectors: Mapping[str, np.ndarray], groups: Iterable[Sequence[str]], draws: int = 20_000, seed: int = 0
) -> tuple[float, float, float]:
    """Mean cosine within groups, mean cosine of random words, and the probability that the former is higher.

    Pairs with a word without a vector are left out. Vectors must have unit length.
    """
    pairs = [pair for group in groups for pair in itertools.combinations(group, 2)]
    inside = np.array([vectors[one] @ vectors[two] for one, two in pairs if one in vectors and two in vectors])
    table = np.stack(list(vectors.values()))
    one, two = np.random.default_rng(seed).integers(len(table), size=(2, draws))
    apart = (table[one] * table[two]).sum(axis=1)[one != two]
    return float(inside.mean()), float(apart.mean()), float((inside[:, None] > apart[None, :]).mean())


def interval(values: np.ndarray) -> str:
    return f"{values.mean():6.2f} ±{1.96 * values.std(ddof=1) / np.sqrt(len(values)):4.2f}"


if __name__ == "__main__":
    main()
