from __future__ import annotations

import re

import pytest

import rewards
from rewards.documentation import flowing


def build(size: int = 3) -> rewards.Reward:
    """Build something.

    ``size``: how big it is, over
    two lines. The end.
    """
    raise NotImplementedError


@pytest.mark.parametrize("name", rewards.base.TABLE)
def test_every_reward_documents_itself(name: str) -> None:
    told = rewards.describe(name)
    assert told.summary
    assert told.text.startswith(told.summary)
    assert "``" not in told.text + told.scores
    assert "(n,)" in told.scores, "what a call returns"
    assert re.search(r"empty|without a (word|token)|nothing|floor|inner", told.scores), "what an empty candidate gets"
    assert re.search(r"[Rr]ange|in \[|1 for equal|inner|[Ww]eighted|control", told.text + told.scores), "its range"
    assert told.source
    for option, explained in told.explained.items():
        assert explained.meaning, f"{name}: {option} is explained nowhere"


@pytest.mark.parametrize("name", rewards.base.TABLE)
def test_it_is_written_as_one_may_write_it(name: str) -> None:
    written = rewards.describe(name).written
    rewards.check_spec(written)
    if "..." not in written:
        rewards.from_spec(written)


def test_a_shared_meaning_tells_of_the_choices_that_there_are() -> None:
    unit = rewards.describe("wms").explained["normalize"]
    assert ("self" in unit.choices) == ("self:" in unit.meaning)
    assert "unit:" not in rewards.describe("twmd").explained["normalize"].meaning
    assert "official" not in rewards.describe("meteor").explained["tokenizer"].meaning


def test_an_option_is_explained_by_its_own_docstring_first() -> None:
    option = rewards.describe(f"{__name__}:build").explained["size"]
    assert option.meaning == "how big it is, over two lines. The end"
    assert (option.default, option.choices) == ("3", ())
    assert "size" not in rewards.describe(f"{__name__}:build").text


def test_choices_come_from_the_annotation() -> None:
    assert rewards.describe("rouge-l").explained["direction"].choices == ("precision", "recall", "f1")
    assert rewards.describe("bleu-neighbors").options["examples"] == "..."


def test_flowing() -> None:
    assert flowing("a\nb ``c``\n\n  d\n") == "a b c\n\nd"
