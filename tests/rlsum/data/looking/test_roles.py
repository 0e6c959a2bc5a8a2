"""Which column holds the articles, which the summaries: layouts of published corpora and invented ones."""

import pytest

from rlsum.data.looking.roles import lengths, roles
from rlsum.readers import CorpusError

# column -> median characters of its texts; 0: no texts
LAYOUTS = {
    "xsum": ({"document": 2000, "summary": 120, "id": 0}, "document", "summary"),
    "billsum": ({"text": 8000, "summary": 1000, "title": 120}, "text", "summary"),
    "arxiv": ({"article": 30_000, "abstract": 1000, "section_names": 80}, "article", "abstract"),
    "multi-news": ({"document": 10_000, "summary": 1200}, "document", "summary"),
    "wikihow": ({"headline": 300, "title": 35, "text": 3000}, "text", "headline"),
    "mlsum": ({"text": 3000, "summary": 150, "topic": 0, "url": 0, "title": 60, "date": 0}, "text", "summary"),
    "klexikon": ({"wiki_text": 9000, "klexikon_text": 1500, "title": 12}, "wiki_text", "klexikon_text"),
    "gigaword": ({"document": 180, "summary": 50}, "document", "summary"),
    "posts": ({"Post body": 2000, "TL;DR (by author)": 106}, "Post body", "TL;DR (by author)"),
    "reddit tifu": ({"ups": 0, "documents": 2000, "tldr": 120, "title": 50}, "documents", "tldr"),
    "lcsts": ({"id": 0, "summary": 18, "text": 100}, "text", "summary"),
    "headlines": ({"content": 100, "title": 18}, "content", "title"),
    "orangesum": ({"title": 70, "article": 1474, "date": 0, "heading": 157}, "article", "heading"),
    "japanese": ({"url": 0, "title": 27, "text": 1556, "reference_summary": 92}, "text", "reference_summary"),
    "bbc": ({"title": 50, "description": 140, "text": 3000}, "text", "description"),
    "an index": ({"": 0, "Body": 900, "Lead": 90}, "Body", "Lead"),
    "labels beside": ({"source": 0, "author": 15, "topic": 20, "story": 900, "highlights": 200}, "story", "highlights"),
    "names of neither": ({"foo": 100, "bar": 20}, "foo", "bar"),
    "words of names": ({"full_text": 100, "articleTitle": 20, "articleSummary": 40}, "full_text", "articleSummary"),
    "outputs beside": ({"document": 900, "summary": 150, "generated_summary": 120}, "document", "summary"),
    "outputs of a known model": ({"dialogue": 900, "gpt4_summary": 150, "human": 120}, "dialogue", "human"),
    "titles of abstracts": ({"abstract": 900, "title": 80}, "abstract", "title"),
    "instructions": ({"instruction": 40, "input": 800, "output": 90}, "input", "output"),
    "simplified at length": ({"text": 800, "summary": 900, "title": 80}, "text", "summary"),
    "chinese": ({"标题": 18, "正文": 900, "摘要": 90}, "正文", "摘要"),
}  # fmt: skip


def chosen(layout, **given):
    return roles({name: length for name, length in layout.items() if length}, list(layout), **given)


@pytest.mark.parametrize(("layout", "source", "reference"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_summary_is_longer_than_a_title_and_shorter_than_the_article_but_its_name_says_more(
    layout, source, reference
):
    for names in (layout, dict(reversed(layout.items()))):
        found = chosen(names)
        assert (found.source, found.reference) == (source, reference)


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (
            {"article": 900, "summary": 150, "abstract": 300},
            ["'summary' (150", "'abstract' (300", "reference_column="],
        ),
        ({"text": 1000, "a": 200, "b": 100}, ["'a' (200 characters)", "'b' (100 characters)", "reference_column="]),
        ({"content": 1500, "body": 1700, "tldr": 100}, ["'content' (1,500", "'body' (1,700", "source_column="]),
        ({"reference": 100, "candidate": 90}, ["no column of articles", "'reference' (100", "source_column="]),
        ({"id": 0, "text": 100}, ["no column of summaries", "'id', 'text' (100", "reference_column="]),
    ],
)
def test_where_several_would_do_or_none_they_are_listed_with_their_lengths(layout, words):
    with pytest.raises(CorpusError) as error:
        chosen(layout)
    assert all(word in str(error.value) for word in words), error.value


def test_a_given_column_is_taken_and_left_to_no_other_role():
    layout = {"content": 1500, "body": 1700, "tldr": 100, "title": 50}
    found = chosen(layout, source="body", reference="title")
    assert (found.source, found.reference, found.why) == ("body", "title", ("as given", "as given"))
    assert chosen(layout, reference="body").source == "content"
    with pytest.raises(CorpusError, match=r"reference_column='body': is the column of the articles"):
        chosen(layout, source="body", reference="body")
    with pytest.raises(CorpusError, match=r"source_column='id': holds no texts; columns: 'id', 'text'"):
        roles({"text": 3}, ["id", "text"], source="id")
    with pytest.raises(CorpusError, match=r"source_column='txet': no such column; did you mean 'text'"):
        roles({"text": 3}, ["id", "text"], source="txet")


PROSE = [f"Some words of text number {number} here." for number in range(30)]


@pytest.mark.parametrize(
    ("values", "is_text"),
    [
        (PROSE, True),
        ([f"新计划第{number}号通过" for number in range(30)], True),
        (PROSE[:10] + [""] * 20, False),
        ([f"https://news.example/{number}" for number in range(30)], False),
        ([f"{number % 27 + 1} March 2014" for number in range(30)], False),
        ([f"2014-03-{number:02} 10:00" for number in range(30)], False),
        ([f"a{number:07x}" for number in range(30)], False),
        (["BBC News", "CNN International", "The Guardian"] * 10, False),
        (["sports", "politics"] * 15, False),
        (["a b c " * 40] * 30, True),
        (["acgt" * 100_000], False),  # in time that grows with its length
    ],
)
def test_columns_of_numbers_addresses_dates_names_and_labels_hold_no_texts(values, is_text):
    assert bool(lengths({"x": values})) == is_text
    assert lengths({"x": values}, named=["x"]), "but they may be named"
