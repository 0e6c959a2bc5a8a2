"""The anchors of published and independent measurements, where the data are at hand."""

import pytest

import rewards
from rlsum.judgments.registry import load
from rlsum.meta_evaluation.choices import Choices
from rlsum.meta_evaluation.evaluation import meta_evaluate
from rlsum.meta_evaluation.findings import findings
from rlsum.meta_evaluation.scores import scored

NO_INTERVALS = Choices(resamples=1)


@pytest.fixture(scope="module")
def data(shared):
    folder = shared / "data"
    if not (folder / "human").is_dir():
        pytest.skip(f"no human judgments at {folder / 'human'}")
    return folder


def values(table):
    found = meta_evaluate(table, ("spearman",), NO_INTERVALS).results[0]
    return {label: each.average.value for label, each in found.correlations.items()}


def movers(data):
    vectors = data / "vectors" / "cnndm_word2vec_300d_30k.txt.gz"
    return ",".join(f"{name}(vectors={vectors}, normalize=unit)" for name in ("wms", "sms", "s+wms"))


def chaganty(data):
    return load(f"chaganty2018:{data / 'human' / 'chaganty2018_cnndm' / 'cnndm_lqual.tsv.gz'}")


def essays(data):
    return load(f"asap-aes(sentences=5-15):{data / 'human' / 'asap_aes_set3' / 'asap_aes_set3.tsv.gz'}")


def test_rouge_and_length_on_summaries(data):
    metrics = rewards.from_specs("rouge-l,rouge-l(direction=recall)")
    found = values(scored(chaganty(data), metrics, length=("letters", "whitespace", "characters")))
    expected = {"rouge-l": 0.122, "rouge-l(direction=recall)": 0.151, "length (letters)": 0.122}
    expected |= {"length (whitespace)": 0.108, "length (characters)": 0.139}
    for label, value in expected.items():
        assert found[label] == pytest.approx(value, abs=0.015), label


@pytest.mark.slow
def test_movers_on_summaries(data):
    found = values(scored(chaganty(data), rewards.from_specs(movers(data))))
    assert found["wms"] == pytest.approx(0.162, abs=0.02)
    assert found["sms"] == pytest.approx(0.245, abs=0.02)
    assert found["s+wms"] == pytest.approx(0.195, abs=0.02)


def test_length_alone_wins_on_essays(data):
    table = scored(essays(data), rewards.from_specs("rouge-l,rouge-l(direction=recall)"))
    found = values(table)
    assert 0.37 < found["rouge-l"] < 0.42
    assert 0.49 < found["rouge-l(direction=recall)"] < 0.52
    assert found["length (letters)"] == pytest.approx(0.616, abs=0.01)
    said = " ".join(findings(meta_evaluate(table, ("spearman",), NO_INTERVALS)))
    assert "more than every metric" in said


@pytest.mark.slow
def test_length_alone_beats_the_movers_on_essays(data):
    found = values(scored(essays(data), rewards.from_specs(movers(data))))
    assert max(found.values()) == found["length (letters)"]
