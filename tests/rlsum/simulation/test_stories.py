from __future__ import annotations

import itertools
import json
import random
import re
from collections import Counter

import numpy as np
import pytest

from rlsum.simulation.grammar import KINDS, LAZY, MOST_FACTS, SYNONYMS, draw_templates, event, word
from rlsum.simulation.stories import SPLITS, reference, stories, story, write_corpus

STORIES = list(stories(1, "train", 600))
FROZEN = (
    "rescue",
    "the offer of cheese by Nakles surprised few and was refused with thanks .",
    "17 hikers were recovered from mount Viastekum .",
)


def names(sentences: tuple[str, ...]) -> set[str]:
    return {token for token in " ".join(sentences).split() if token[0].isupper()}


def test_a_story_is_a_function_of_seed_split_and_index():
    assert story(3, "valid", 7) == story(3, "valid", 7)
    others = [story(4, "valid", 7), story(3, "test", 7), story(3, "valid", 8)]
    assert all(other.article != story(3, "valid", 7).article for other in others)


def test_the_stream_of_stories_is_frozen():
    """Published numbers rest on it: a change here needs new figures in the documentation."""
    item = story(1, "test", 0)
    assert (item.kind, item.article[1], item.highlights[0]) == FROZEN


def test_an_unknown_split_names_the_known_ones():
    with pytest.raises(ValueError, match=r"split='dev'.*train, valid, test"):
        story(1, "dev", 0)


def test_articles_have_the_promised_size():
    assert {len(item.article) for item in STORIES} <= set(range(8, 16))
    tokens = [len(" ".join(item.article).split()) for item in STORIES]
    assert np.quantile(tokens, 0.05) >= 100
    assert np.quantile(tokens, 0.95) <= 175
    assert max(tokens) < 200


def test_summaries_have_two_to_four_sentences():
    assert {len(item.highlights) for item in STORIES} == {2, 3, 4}
    assert 20 <= np.mean([len(" ".join(item.highlights).split()) for item in STORIES]) <= 30


def test_every_kind_of_story_is_told():
    assert set(KINDS) == {item.kind for item in STORIES}
    assert len(KINDS) == 10


def test_texts_are_tokenised_and_every_sentence_ends():
    for item in STORIES:
        for sentence in (*item.article, *item.highlights):
            assert re.fullmatch(r"(?:[a-z]+|[A-Z][a-z]+|[0-9]+|,)(?: (?:[a-z]+|[A-Z][a-z]+|[0-9]+|,))* \.", sentence)


@pytest.mark.parametrize("kind", KINDS)
def test_each_sentence_about_a_fact_holds_all_that_references_say_of_it(kind: str):
    """Otherwise the reference would ask for what the article does not tell."""
    for fact in (event(kind).main, *event(kind).facts):
        needed = {slot for line in fact.summed for slot in re.findall(r"\{(\w+)\}", line)}
        assert len(fact.summed) == len(set(fact.summed))
        for line in fact.told:
            assert needed <= set(re.findall(r"\{(\w+)\}", line)), (fact.name, line)


def test_names_and_numbers_of_the_summary_stand_in_the_article():
    for item in STORIES:
        article = set(" ".join(item.article).split())
        values = [token for token in " ".join(item.highlights).split() if token[0].isupper() or token.isdigit()]
        assert values
        assert set(values) <= article


def test_the_lead_answers_nothing():
    for item in STORIES:
        assert not set(item.article[0].split()) & set(item.facts.values())


def test_facts_that_matter_stand_anywhere_but_first():
    places = Counter(
        place for item in STORIES for place, line in enumerate(item.article) if names((line,)) & names(item.highlights)
    )
    assert places[0] == 0
    assert all(places[place] > 100 for place in range(1, 8))
    assert max(places) >= 12


def test_articles_hold_names_that_do_not_matter():
    beside = [len(names(item.article) - set(item.facts.values())) for item in STORIES]
    assert min(beside) >= 1
    assert np.mean(beside) > 3


def test_names_are_new_and_splits_share_none():
    seen = {split: Counter(n for item in stories(1, split, 300) for n in names(item.article)) for split in SPLITS}
    for one, two in itertools.combinations(SPLITS, 2):
        assert not set(seen[one]) & set(seen[two])
    assert np.mean([count == 1 for count in seen["train"].values()]) > 0.97


def test_the_vocabulary_is_modest_and_free_of_names():
    words = {token for item in stories(1, "train", 2000) for line in item.article for token in line.split()}
    lower = {token for token in words if not token[0].isupper()}
    assert 800 <= len({token for token in lower if token.isalpha()}) <= 1500
    assert not {token.lower() for token in words - lower} & lower


def test_references_use_other_words_than_the_article():
    new = [set(" ".join(item.highlights).split()) - set(" ".join(item.article).split()) for item in STORIES]
    assert np.mean([len(words) >= 2 for words in new]) > 0.7


def test_synonym_sets_do_not_overlap_and_cover_the_tables():
    flat = [member for group in SYNONYMS for member in group]
    assert len(flat) == len(set(flat))
    events = [event(kind) for kind in KINDS]
    facts = [line for story in events for fact in (story.main, *story.facts) for line in (*fact.told, *fact.summed)]
    rest = [line for story in events for line in (*story.leads, *story.others, *story.bystanders)]
    used = {key for line in (*facts, *rest) for key in re.findall(r"~(\w+)", line)}
    assert used <= {group[0] for group in SYNONYMS}
    assert {group[0] for group in SYNONYMS} <= used


def test_every_word_of_a_synonym_set_is_used_in_articles_and_references():
    many = list(stories(1, "train", 4000))
    told = {token for item in many for line in item.article for token in line.split()}
    summed = {token for item in many for line in item.highlights for token in line.split()}
    flat = {member for group in SYNONYMS for member in group}
    assert flat <= told
    assert len(flat & summed) > 0.8 * len(flat)


def test_shares_of_mentioned_facts():
    rng = random.Random(0)
    draws = [draw_templates("fire", rng) for _ in range(5000)]
    for fact in event("fire").facts:
        share = np.mean([bool(set(fact.summed) & set(templates)) for templates in draws])
        assert share == pytest.approx((1 - LAZY) * fact.share, abs=0.06)
    assert max(map(len, draws)) == 1 + MOST_FACTS


def test_a_template_is_worded_from_slots_synonyms_and_alternatives():
    rng = random.Random(0)
    drawn = {word("(a|b c) ~firm called {x} .", {"x": "Bim"}, rng) for _ in range(100)}
    assert drawn == {f"{a} {firm} called Bim ." for a in ("a", "b c") for firm in ("firm", "company", "business")}
    assert word("(a|b c) ~firm called {x} .", {"x": "Bim"}, None) == "a firm called Bim ."


def test_a_fresh_reference_states_the_same_facts():
    item = STORIES[0]
    drawn = {reference(item.kind, item.facts, random.Random(i)) for i in range(50)}
    assert len(drawn) > 30
    assert all(names(sentences) <= names(item.article) for sentences in drawn)


def test_a_corpus_is_written_the_same_twice(tmp_path):
    sizes = {"train": 5, "valid": 2, "test": 3}
    first, second = write_corpus(tmp_path / "a", 1, sizes), write_corpus(tmp_path / "b", 1, sizes)
    for split, size in sizes.items():
        assert first[split].read_bytes() == second[split].read_bytes()
        rows = [json.loads(line) for line in first[split].read_text().splitlines()]
        assert len(rows) == size
        assert rows[0] == story(1, split, 0).row()
        assert list(rows[0]) == ["id", "article", "highlights"]
        assert "\n" in rows[0]["article"]
