import re

import numpy as np
from votes import study_of, votes_of

from human_eval.report.findings import material
from human_eval.report.tables import all_tables
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import AnalysisSettings


def test_the_level_of_an_analysis_is_that_of_its_intervals_and_of_what_the_card_says():
    votes = study_of(votes_of(np.random.default_rng(0).choice([-1, 0, 1], (30, 8)), left="a", longer=1))
    spans = {}
    for percent in (95, 80):
        found = analyse(votes, AnalysisSettings(resamples=200, level=percent / 100))
        said = " ".join([*material(found), *(note for table in all_tables(found) for note in table.notes)])
        assert set(re.findall(r"(\d+)%(?: interval| each)", said)) == {str(percent)}
        measures = [of for measured in found.agreement.values() for of in measured.values()]
        effects = [*found.order.values(), *found.length.values(), *found.metrics["overall"].values()]
        spans[percent] = [*measures, *effects, found.outcomes[0].half]
    for wide, narrow in zip(spans[95], spans[80], strict=True):
        assert wide.low < narrow.low < narrow.high < wide.high
