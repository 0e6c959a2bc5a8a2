import re

import numpy as np
from votes import study_of, votes_of

from human_eval.report.findings import material
from human_eval.report.tables import all_tables
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import AnalysisSettings


def test_the_level_of_an_analysis_is_that_of_its_intervals_and_of_what_the_card_says():
    votes = study_of(votes_of(np.random.default_rng(0).choice([-1, 0, 1], (30, 8)), left="a", longer=1))
    usual, other = (analyse(votes, AnalysisSettings(resamples=200, level=level)) for level in (0.95, 0.8))
    for wide, narrow in zip(spans(usual), spans(other), strict=True):
        assert wide.low < narrow.low < narrow.high < wide.high
    assert said(usual) == {"95"}
    assert said(other) == {"80"}


def spans(analysis):
    return (
        [*analysis.order.values(), *analysis.length.values(), *analysis.metrics["overall"].values()]
        + [row.half for row in analysis.outcomes]
        + [of for measures in analysis.agreement.values() for of in measures.values()]
    )


def said(analysis):
    text = " ".join([*material(analysis), *(note for table in all_tables(analysis) for note in table.notes)])
    return set(re.findall(r"(\d+)%(?: interval| each)", text))
