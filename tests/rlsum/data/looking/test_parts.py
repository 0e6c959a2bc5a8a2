"""Train, valid and test are drawn by article, or are those of a column."""

import pytest

from rlsum.data.looking.parts import declared, drawn, part_named, split_column
from rlsum.readers import CorpusError


@pytest.mark.parametrize("articles", [20, 21, 39, 40, 173, 999, 1000, 2500])
@pytest.mark.parametrize("copies", [1, 2, 7])
def test_every_article_is_in_one_part_and_no_part_is_empty(articles, copies):
    rows = [(copy, article) for article in range(articles) for copy in range(copies)]
    parts = drawn(rows, [article for _, article in rows])
    assert sorted(row for part in parts.values() for row in part) == sorted(rows)
    held = {name: {article for _, article in part} for name, part in parts.items()}
    assert sum(map(len, held.values())) == articles
    share = 0.1 if articles < 1000 else 0.05
    for name in ("valid", "test"):
        assert abs(len(held[name]) - share * articles) <= 2
    assert drawn(rows, [article for _, article in rows]) == parts


def test_a_sorted_file_is_spread_and_one_with_a_period_of_twenty_too():
    held = drawn(range(200), range(200))["test"]
    assert all(any(start <= row < start + 40 for row in held) for start in range(0, 200, 40))
    assert len({row % 20 for row in held}) > 5


def test_too_few_articles_are_counted():
    with pytest.raises(CorpusError, match=r"^19 different articles in 38 rows; give at least 20"):
        drawn(range(38), [row // 2 for row in range(38)])


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ({"id": {1, 2}, "split": {"train", "validation", "test"}}, "split"),
        ({"Subset": {"Train", "dev", None, ""}}, "Subset"),
        ({"part": {"train", "test"}}, "part"),
        ({"part": {"train"}}, None),
        ({"topic": {"train", "test"}}, None),
        ({"fold": {1, 2, 3}}, None),
    ],
)
def test_a_column_of_parts_is_known_by_its_name_and_its_values(columns, name):
    assert split_column(columns) == name


def test_a_column_of_parts_with_another_value_is_no_other_column():
    """Its test articles would be drawn into train."""
    with pytest.raises(CorpusError, match="'split' says eval, other besides parts; write train, valid, test"):
        split_column({"split": {"train", "test", "other", "eval", ""}})


def test_declared_parts_keep_their_rows_but_no_article_of_a_later_part():
    rows = ["a", "b", "c", "d", "e", "f"]
    parts, left_out = declared(rows, [1, 2, 3, 1, 2, 2], ["train", "train", "train", "test", "valid", "valid"])
    assert parts == {"train": ["c"], "valid": ["e", "f"], "test": ["d"]}
    assert left_out == 2


def test_a_part_that_is_not_declared_is_drawn_from_train():
    names = ["train"] * 40 + ["test"] * 3
    parts, left_out = declared(range(43), range(43), [part_named(name) for name in names])
    assert left_out == 0
    assert parts["test"] == [40, 41, 42]
    assert len(parts["valid"]) == 4
    assert len(parts["train"]) == 36
    with pytest.raises(CorpusError, match="2 different articles in 2 rows"):
        declared("abc", "abc", ["train", "train", "test"])
