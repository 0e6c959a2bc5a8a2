from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from measure_headroom import (
    likeliest_templates,
    likelihood_mode,
    random_reference,
    search_templates,
    synonym_margin,
)
from rouge_score.rouge_scorer import RougeScorer

from rlsum.simulation.grammar import FILLER, KINDS, SYNONYMS, draw_templates, event
from rlsum.simulation.policies import fill, lead, oracle
from rlsum.simulation.stories import Story, stories
from rlsum.simulation.word_vectors import train_vectors

STORIES = list(stories(1, "train", 600))
TEST = list(stories(1, "test", 120))


def rouge(candidates: list[str], items: list[Story]) -> np.ndarray:
    scorer = RougeScorer(["rougeL"])
    pairs = zip(candidates, items, strict=True)
    return np.array([scorer.score("\n".join(item.highlights), text)["rougeL"].fmeasure for text, item in pairs])


def test_the_likeliest_summary_is_the_one_drawn_most_often():
    kind, rng = "trial", random.Random(0)
    drawn = Counter(tuple(draw_templates(kind, rng)) for _ in range(4000))
    assert drawn.most_common(1)[0][0][1] == FILLER
    assert likeliest_templates(kind)[1] == FILLER


@pytest.mark.parametrize("kind", KINDS)
def test_the_likeliest_summary_drops_the_facts(kind: str):
    main, *rest = likeliest_templates(kind)
    assert main in event(kind).main.summed
    assert rest == [FILLER]


def test_oracle_beats_a_random_reference_beats_the_likelihood_mode_beats_the_lead():
    items = list(stories(1, "test", 400))
    order = (
        oracle,
        random_reference,
        likelihood_mode,
        lead,
    )
    scores = [rouge([policy(item) for item in items], items).mean() for policy in order]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] - scores[2] > 0.04


def test_the_oracle_needs_no_training_to_beat_the_likelihood_mode_significantly():
    gain = rouge([oracle(i) for i in TEST], TEST) - rouge([likelihood_mode(i) for i in TEST], TEST)
    assert gain.mean() / (gain.std(ddof=1) / math.sqrt(len(gain))) > 2.5


def test_search_climbs_from_the_oracle():
    sample = [item for item in STORIES if item.kind == "strike"][:12]

    def score(candidates, references):
        by_reference = {"\n".join(item.highlights): item for item in sample}
        return rouge(list(candidates), [by_reference[text] for text in references]).mean()

    found = search_templates("strike", score, sample)
    references = ["\n".join(item.highlights) for item in sample]
    start = score([oracle(item) for item in sample], references)
    assert score([fill(item, found) for item in sample], references) >= start


def test_planted_synonyms_lie_nearer_than_random_words():
    vectors = train_vectors(line for story in stories(1, "train", 1500) for line in story.article)
    synonyms, random_words, nearer = synonym_margin(vectors, SYNONYMS)
    assert synonyms > random_words + 0.5
    assert nearer > 0.98
