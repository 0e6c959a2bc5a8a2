from __future__ import annotations

import hashlib
import json
import random
import re

import pytest

from rlsum.simulation.grammar import KINDS, SYNONYMS, event, word
from rlsum.simulation.stories import SPLITS, reference, stories, story, write_corpus

STORIES = list(stories(1, "train", 600))
FROZEN = {"train": "4ab475657924b4d2", "valid": "e98d5b7c78e3bac4", "test": "63b30edfbf8a8ca8"}


def names(sentences: tuple[str, ...]) -> set[str]:
    return {token for token in " ".join(sentences).split() if token[0].isupper()}


def test_a_story_is_a_function_of_seed_split_and_index():
    assert story(3, "valid", 7) == story(3, "valid", 7)
    others = [story(4, "valid", 7), story(3, "test", 7), story(3, "valid", 8)]
    assert all(other.article != story(3, "valid", 7).article for other in others)


def test_the_stream_of_stories_is_frozen():
    """Published numbers rest on it: a change here needs new figures in the documentation."""
    digests = {
        split: hashlib.sha256("".join(map(repr, stories(1, split, 300))).encode()).hexdigest()[:16] for split in SPLITS
    }
    assert digests == FROZEN


def test_an_unknown_split_names_the_known_ones():
    with pytest.raises(ValueError, match=r"split='dev'.*train, valid, test"):
        story(1, "dev", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_each_sentence_about_a_fact_holds_all_that_references_say_of_it(kind: str):
    """Otherwise the reference would ask for what the article does not tell."""
    for fact in (event(kind).main, *event(kind).facts):
        needed = {slot for line in fact.in_summary for slot in re.findall(r"\{(\w+)\}", line)}
        assert len(fact.in_summary) == len(set(fact.in_summary))
        for line in fact.in_article:
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


def test_synonym_sets_do_not_overlap_and_cover_the_tables():
    flat = [member for group in SYNONYMS for member in group]
    assert len(flat) == len(set(flat))
    events = [event(kind) for kind in KINDS]
    facts = [
        line for story in events for fact in (story.main, *story.facts) for line in fact.in_article + fact.in_summary
    ]
    rest = [line for story in events for line in (*story.leads, *story.others, *story.bystanders)]
    used = {key for line in (*facts, *rest) for key in re.findall(r"~(\w+)", line)}
    assert used <= {group[0] for group in SYNONYMS}
    assert {group[0] for group in SYNONYMS} <= used


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
