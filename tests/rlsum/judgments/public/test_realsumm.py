import pickle

import numpy as np
import pytest
from rows import jsonl

from rlsum.errors import RecordError
from rlsum.judgments.public.realsumm import realsumm

REFERENCE = "<t> one . </t> <t> two . </t>"
SYSTEMS = {
    "abs/bart_out": ["<t> a b </t>  <t> c </t>", "<t> d </t>"],
    "abs/bottom_up_out": ["plain text", "<t> e <b> </t>"],
    "ext/bart_out": ["<t> a b </t>  <t> c </t>", "<t> d </t>"],
}


def article(number):
    systems = {
        name: {"summary_raw": texts[number], "summary": None, "litepyramid_recall": number / 2, "orig_metrics": {}}
        for name, texts in SYSTEMS.items()
    }
    texts = {"src": "the source", "reference": "one. two.", "reference_raw": REFERENCE}
    return {"doc_id": number, **texts, "systems": systems}


@pytest.fixture
def lines(tmp_path):
    return jsonl(tmp_path / "realsumm.jsonl", *map(article, (0, 1)))


@pytest.fixture
def pickles(tmp_path):
    """The authors' score dictionaries; some of their scores are numpy's."""
    for kind in ("abs", "ext"):
        dictionary = {
            number: {
                "doc_id": number,
                "ref_summ": REFERENCE,
                "system_summaries": {
                    f"{name.removeprefix(kind + '/')}.txt": {
                        "system_summary": texts[number],
                        "scores": {"litepyramid_recall": np.float64(number / 2), "rouge_1_f_score": np.float32(1)},
                    }
                    for name, texts in SYSTEMS.items()
                    if name.startswith(kind)
                },
            }
            for number in (0, 1)
        }
        (tmp_path / f"{kind}.pkl").write_bytes(pickle.dumps(dictionary, protocol=3))
    return tmp_path


def test_articles(lines):
    found = realsumm(lines)
    assert {each.system for each in found.rows} == {"abs/bart_out", "abs/bottom_up_out"}
    assert list(found.left_out.values()) == [2]
    assert "of ext/bart_out, the same texts as abs/bart_out" in next(iter(found.left_out))
    by_key = {(each.id, each.system): each for each in found.rows}
    assert by_key["0", "abs/bart_out"].candidate == "a b\nc"
    assert by_key["0", "abs/bottom_up_out"].candidate == "plain text"
    assert by_key["1", "abs/bottom_up_out"].candidate == "e <b>"
    bart = by_key["1", "abs/bart_out"]
    assert (bart.scores, bart.references, bart.source) == ({"overall": 0.5}, ("one .\ntwo .",), "the source")
    assert len(realsumm(lines, duplicate_systems=True).rows) == 6


def test_the_pickles_hold_the_same(lines, pickles):
    def known(found):
        return {(each.key, each.candidate, each.references, tuple(each.scores.items())) for each in found.rows}

    assert known(realsumm(pickles)) == known(realsumm(lines))


class Evil:
    def __reduce__(self):
        return print, ("not to be run",)


@pytest.mark.parametrize("content", [pickle.dumps({1: Evil()}), b"junk", b"", pickle.dumps([1])])
def test_a_pickle_that_is_no_plain_dictionary_is_refused(tmp_path, content, capsys):
    (tmp_path / "abs.pkl").write_bytes(content)
    with pytest.raises(RecordError, match=r"abs\.pkl: (not a pickle of plain data|a list, not)"):
        realsumm(tmp_path)
    assert capsys.readouterr().out == ""


def test_what_is_no_article_is_told(tmp_path, lines):
    with pytest.raises(RecordError, match=r"neither abs\.pkl nor ext\.pkl"):
        realsumm(tmp_path)
    broken = article(0)
    del broken["systems"]["abs/bart_out"]["summary_raw"]
    jsonl(lines, article(1), broken)
    with pytest.raises(RecordError, match=r":2: not an article of REALSumm \(KeyError: 'summary_raw'\)"):
        realsumm(lines)
