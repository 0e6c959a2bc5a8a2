"""The real judgments, where they are at hand: every count of their description, and no trap of theirs open."""

from collections import Counter

import pytest

from rlsum.judgments.registry import load


@pytest.fixture(scope="module")
def human(shared):
    folder = shared / "data" / "human"
    if not folder.is_dir():
        pytest.skip(f"no human judgments at {folder}")
    return folder


def test_chaganty(human):
    found = load(f"chaganty2018:{human / 'chaganty2018_cnndm' / 'cnndm_lqual.tsv.gz'}")
    assert len(found.rows) == 2085
    assert sum(found.left_out.values()) + len(found.rows) == 2599
    assert len({each.id for each in found.rows}) == 583
    assert all(each.candidate not in each.references for each in found.rows)
    assert {len(each.raw_scores["overall"]) for each in found.rows} == {2, 5}
    assert Counter(each.system for each in found.rows)["ml+rl (2)"] == 1


def test_realsumm(human):
    found = load(f"realsumm:{human / 'realsumm' / 'realsumm.jsonl.gz'}")
    assert len(found.rows) == 2400
    assert Counter(Counter(each.system for each in found.rows).values()) == {100: 24}
    assert all(each.candidate and each.source and "<t>" not in each.candidate for each in found.rows)


def test_essays(human):
    path = human / "asap_aes_set3" / "asap_aes_set3.tsv.gz"
    assert len(load(f"asap-aes(references=0):{path}").rows) == 1726
    assert len(load(f"asap-aes(references=0, sentences=5-15):{path}").rows) == 1082
    found = load(f"asap-aes(sentences=5-15):{path}")
    assert len(found.rows) == 1081
    assert found.notes[-1].endswith("of 156 essays with the best score: 7599")


def test_answers(human):
    train, test = load(f"asap-sas:{human / 'asap_sas'}"), load(f"asap-sas(part=test):{human / 'asap_sas'}")
    assert (len(train.rows), len(test.rows)) == (17043, 5224)
    for found in (train, test):
        assert len({each.group for each in found.rows}) == 10
        assert {
            max(each.scores["overall"] for each in found.rows if each.group == str(number)) for number in range(1, 11)
        } == {1}
        assert not any("^p" in each.candidate or each.candidate.startswith('""') for each in found.rows)
    assert max(each.scores["points"] for each in test.rows) == 3
    # Some answers are quoted as CSV quotes them; nothing of that stays.
    assert not any(each.candidate[0] == each.candidate[-1] == '"' and '""' in each.candidate for each in test.rows)


def test_huse(human):
    found = load(f"huse:{human / 'huse' / 'huse_summarization.jsonl'}")
    assert len(found.rows) == 200
    assert len({each.id for each in found.rows}) == 100
    assert all(len(each.raw_scores["overall"]) == 20 for each in found.rows)


def test_sts(human):
    found = load(f"sts:{human / 'sts' / 'sts2012_2016.tsv.gz'}")
    years = Counter(each.group.split("/")[0] for each in found.rows)
    assert years == {"2012": 3108, "2013": 1500, "2014": 3750, "2015": 3000, "2016": 1186}


def test_wmt(human):
    counts = {
        year: len(load(f"wmt-da(pairs=all):{human / 'wmt_da' / f'wmt{year}_da_seg.tsv.gz'}").rows)
        for year in (15, 16, 17)
    }
    assert counts == {15: 2000, 16: 3920, 17: 3920}
    every = load(f"wmt-da:{human / 'wmt_da'}")
    assert every.left_out == {"of en-ru (pairs=to-english)": 560}
    assert len(every.rows) == 9840 - 560
    assert load(f"wmt-da(joint=split):{human / 'wmt_da'}").rows  # no system was judged on one segment alone and jointly


def test_squality(human):
    found = load(f"squality:{human / 'squality'}")
    assert (len(found.rows), len({row.source for row in found.rows})) == (300, 20)
    assert {judge for row in found.rows for judge in row.judges} == {"2", "3", "6", "8"}
    lost = found.left_out["marked passages that are not in the answer"]
    assert sum(len(marks) for row in found.rows for marks in row.marks) == 3_142 - lost
    assert lost < 50


def test_zhang(human):
    found = load(f"zhang2023:{human / 'pairwise' / 'zhang2023_pairwise.json.gz'}")
    assert sum(len(each.judges) for each in found.rows if each.system == "writer") == 599
