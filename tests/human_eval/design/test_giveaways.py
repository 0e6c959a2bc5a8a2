"""Traits that tell systems apart without reading, and texts without them."""

import re
from dataclasses import replace

import pytest

from human_eval.design.giveaways import giveaways, normalised
from human_eval.design.outputs import align
from rlsum.records import Output

PRINTED = 'The storm hit Ohio (twice), Mr. Lee said. "It\'s over," he added. Nobody was hurt in {n} towns.'
NOISE = ("A dog ran.", "Two cats slept in Rome all day.", "It rained, and then it stopped.")


def written(change, count=20):
    """Two systems with the same kind of texts, of which ``change`` rewrites the second's."""
    outputs = []
    for n in range(count):
        first, second = PRINTED.format(n=n), f"{PRINTED.format(n=n + 100)} {NOISE[n % 3]}"
        if n % 2:
            first, second = f"{first} {NOISE[0]} {NOISE[1]}", PRINTED.format(n=n + 100)
        for system, text in (("one", first), ("two", change(second))):
            outputs.append((f"{system}:{n}", Output(f"a{n}", f"Article {n}.", (), text, system)))
    return align(outputs)


def tokens(text):
    text = re.sub(r"([.,:;?!()])", r" \1 ", text).replace('"It', "`` It").replace('"', "''").replace("'s", " 's")
    return " ".join(text.replace("(", "-LRB-").replace(")", "-RRB-").split())


CHANGES = {
    "are in lower case": str.lower,
    "have spaces before punctuation": tokens,
    "have markers such as <s> or [UNK]": lambda text: text.replace(". ", ". [UNK] "),
    "have several lines": lambda text: text.replace(". ", ".\n"),
    "end without a full stop": lambda text: text[:-6],
    "are the longer ones": lambda text: f"{text} {text}",
}


def test_systems_that_write_alike_give_nothing_away():
    assert giveaways(written(str)) == []


@pytest.mark.parametrize("trait", CHANGES)
def test_each_trait_is_told_with_the_systems(trait):
    (found,) = giveaways(written(CHANGES[trait]))
    assert (found.trait, found.systems) == (trait, ("two", "one"))
    assert found.shares == (1.0, 0.0)
    assert str(found) == f"100% of the summaries of two {trait}, 0% of one"


@pytest.mark.parametrize("trait", ["are in lower case", "have spaces before punctuation", "have several lines"])
def test_normalised_texts_give_nothing_of_it_away(trait):
    assert giveaways(normalised(written(CHANGES[trait]))) == []


def test_tokens_become_print_and_print_stays():
    text = PRINTED.format(n=3)
    rows = [Output("a", "The article.", (), each, system) for each, system in ((text, "one"), (tokens(text), "two"))]
    found = normalised(align([(row.system, row) for row in rows]))
    assert found.candidates["a"] == {"one": text, "two": text}


def test_if_one_is_in_lower_case_all_are_but_for_sentences():
    source = written(str.lower)
    texts = normalised(source).candidates["a0"]
    assert texts["one"].startswith('The storm hit ohio (twice), mr. Lee said. "It\'s over,"')
    assert texts["two"].startswith('The storm hit ohio (twice), mr. Lee said. "It\'s over,"')
    assert normalised(source).articles == source.articles


def test_sentence_markers_go_and_unknown_words_stay():
    rows = [Output("a", "x", (), f"<s> {system} saw [UNK] . </s>", system) for system in ("one", "two")]
    assert normalised(align([(row.system, row) for row in rows])).candidates["a"]["one"] == "one saw [UNK]."


def test_empty_texts_have_no_trait():
    source = written(str)
    empty = {item: {**texts, "two": ""} for item, texts in source.candidates.items()}
    assert [found.trait for found in giveaways(replace(source, candidates=empty))] == ["are the longer ones"]
