import math

import pytest
from rows import jsonl

from rlsum.errors import UserError
from rlsum.judgments.choices import choices
from rlsum.judgments.public.pairwise import tldr
from rlsum.judgments.records import Judgment
from rlsum.metric_fitting.examples import held_out
from rlsum.metric_fitting.votes import JudgedVote, agreement, votes


def judged(name, system, text, raw=(), judges=(), source="An article.", references=(), score=None):
    scores = {"overall": score if score is not None else sum(value or 0 for value in raw)}
    return Judgment(name, system, text, references, source, "", scores, {"overall": raw} if raw else {}, judges)


def test_a_judge_who_scored_two_texts_votes_for_the_higher():
    rows = [
        judged("x", "a", "short", (3.0, 1.0, None), ("ann", "bo", "cy")),
        judged("x", "b", "a longer text", (1.0, 1.0, 2.0), ("ann", "bo", "cy")),
        judged("x", "c", "short", (5.0,), ("ann",)),
    ]
    found = votes(rows, "overall", "*", "source")
    assert [(vote.texts, vote.judge, vote.choice, vote.longer) for vote in found] == [
        (("short", "a longer text"), "ann", -1, 2),
        (("short", "a longer text"), "bo", 0, 2),
        (("a longer text", "short"), "ann", 1, -2),
    ]  # a and c wrote the same
    assert list(choices((("ann", "bo"), (3.0, 1.0)), (("bo", "ann"), (None, 1.0)))) == [("ann", -2.0)]
    assert list(choices(((), (3.0, 1.0)), ((), (1.0, 2.0)))) == []


def test_a_judge_who_judged_a_pair_twice_has_two_votes(tmp_path):
    rows = [judged("x", "a", "one", (1.0, 0.0), ("w", "w")), judged("x", "b", "two", (0.0, 1.0), ("w", "w"))]
    assert [(vote.judge, vote.choice) for vote in votes(rows, "overall", "*", "source")] == [("w", -1), ("w", 1)]
    texts = [{"policy": "a", "text": "one"}, {"policy": "b", "text": "two"}]
    lines = [{"info": {"id": "x", "post": "A post."}, "summaries": texts, "choice": n, "worker": "w"} for n in (0, 1)]
    rows = tldr(jsonl(tmp_path / "batch.json", *lines)).rows
    assert [(vote.judge, vote.choice) for vote in votes(rows, "overall", "*", "source")] == [("w", -1), ("w", 1)]


@pytest.mark.parametrize("given", ["source", "reference"])
def test_texts_of_articles_with_one_id_in_several_files_are_not_compared(given):
    texts = {"source": lambda text: {"source": text}, "reference": lambda text: {"source": "", "references": (text,)}}
    rows = [
        judged("1", system, f"{system} of {article}", score=value, **texts[given](article))
        for article in ("One article.", "Another.")
        for system, value in (("a", 1), ("b", 2))
    ]
    found = votes(rows, "overall", "*", given)
    assert [vote.texts for vote in found] == [(f"a of {name}", f"b of {name}") for name in ("One article.", "Another.")]
    assert [vote.seen for vote in found] == [("One article.",), ("Another.",)]


def test_scores_without_names_are_one_vote_of_nobody_and_references_may_be_read():
    rows = [
        judged("x", name, name, (1.0, 2.0), references=("one", "two"), source="", score=value)
        for name, value in (("a", 2), ("b", 1))
    ]
    (vote,) = votes(rows, "overall", "*", "reference")
    assert (vote.judge, vote.choice, vote.given, vote.article) == ("", -1, ("one", "two"), "/x")
    with pytest.raises(UserError, match=r"has no source, with which its text is read.*reward-model\(given=reference\)"):
        votes(rows, "overall", "*", "source")
    with pytest.raises(UserError, match="no input has two texts"):
        votes(rows[:1], "overall", "*", "reference")


def test_articles_are_held_out_whole_whatever_their_inputs_are_called():
    pool = [JudgedVote(f"article {n % 5}", (f"{n % 5}",), (f"{n}", "b"), f"judge{n % 2}", 1) for n in range(20)]
    train, valid = held_out(pool, 0.4, seed=1)
    assert len({vote.article for vote in valid}) == 2
    assert not {vote.article for vote in train} & {vote.article for vote in valid}


def vote(article, judge, choice, texts=("one", "one two")):
    return JudgedVote(article, ("a",), texts, judge, choice)


def test_agreement_by_hand():
    """Article x: two votes right, one wrong, one for neither; y: a right one and one without a score; z: wrong.

    Accuracy 3 of 5, of the longer text 3 of 5. tau: x (2 - 1) / sqrt(3 * 4), y 1, z -1. The longer text has the higher
    score in x three times of four, in y, not in z, where the first text is longer.
    """
    judged = [vote("x", "ann", 1), vote("x", "bo", 1), vote("x", "cy", -1), vote("x", "di", 0), vote("y", "ann", 1),
              vote("y", "bo", 1), vote("z", "bo", 1, ("one two", "one"))]  # fmt: skip
    found = agreement([1.0, 2.0, 3.0, -1.0, 0.5, math.nan, -4.0], judged)
    assert found.accuracy.mean == pytest.approx(3 / 5)
    assert found.longer_accuracy.mean == pytest.approx(3 / 5)
    assert found.kendall.mean == pytest.approx(1 / math.sqrt(12) / 3)
    assert found.longer_chosen.mean == pytest.approx(5 / 6)
    assert (found.votes, found.ties, found.undefined, found.articles, found.judges) == (7, 1, 1, 3, 4)
    assert found.to_json()["accuracy"]["n"] == 5
    assert agreement([0.0, 0.0], judged[:2]).accuracy.mean == 0.5
    for gaps, number in (([math.nan], 1), ([1.0], 1), ([1.0, 1.0, -1.0, 0.0, 1.0], 5)):  # nothing, one, no difference
        assert math.isnan(agreement(gaps, judged[:number]).accuracy.low)


@pytest.mark.parametrize("wrong", ["judge", "article"])
def test_intervals_know_that_judges_and_articles_are_few(wrong):
    """200 votes of which a fifth disagree: by one judge of five, or on four articles of twenty; or by chance."""
    pairs = [(article, judge) for article in range(20) for judge in range(10)]
    by = {"judge": [judge < 2 for _, judge in pairs], "article": [article < 4 for article, _ in pairs]}
    chance = [(7 * article + 3 * judge) % 10 < 2 for article, judge in pairs]
    rows = [vote(f"{article}", f"{judge}", 1) for article, judge in pairs]
    width = {
        name: (found := agreement([-1.0 if miss else 1.0 for miss in misses], rows).accuracy).high - found.low
        for name, misses in {"clustered": by[wrong], "chance": chance}.items()
    }
    assert width["clustered"] > 2 * width["chance"]
