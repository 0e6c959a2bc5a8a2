import pytest
from served import make_study

from human_eval.workload import longest, minutes


@pytest.mark.parametrize(("words", "told"), [(10, 2), (238, 4), (238 * 8, 25), (238 * 8 + 1, 30), (238 * 9, 30)])
def test_minutes_of_reading_and_answering(words, told):
    """Three articles, two questions each: one minute of answers."""
    study = make_study(texts=[("", "")] * 3, article="word " * words)
    assert minutes(study, study.booklets[0]) == longest(study) == told


def test_nothing_to_do_takes_a_minute():
    assert minutes(make_study(), ()) == 1
