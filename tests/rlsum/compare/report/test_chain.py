import json

import pytest
from rows import jsonl

from rlsum.compare.report.chain import ChainError, Estimate, Link, agreements_of_order, chain, chain_blocks
from rlsum.pages.pictures.drawing import Picture
from rlsum.pages.table import Table


@pytest.fixture
def files(tmp_path):
    def whole(value):
        return {"average": {"value": value, "low": value - 0.05, "high": value + 0.05}, "groups": {}}

    result = {"statistic": "spearman", "level": "pooled"}
    correlation = {
        "data": "judged",
        "columns": {name: {"signature": f"{name}|version:1"} for name in ("rouge-l", "sms")},
        "results": [{**result, "correlations": {"rouge-l": whole(0.1), "sms": whole(0.4)}}],
    }
    systems = [("start", "the start", "start", None), ("none", "no reward", "control", None)]
    systems += [("rouge-l", "ROUGE", "reward", "rouge-l"), ("mine", "Mine", "reward", "mine")]
    comparison = {
        "seeds": [1, 2, 3],
        "systems": [dict(zip(("system", "title", "kind", "reward"), row, strict=True)) for row in systems],
        "differences": [
            {"system": name, "other": other, "metric": name, "mean": mean, "low": mean - 0.01, "high": mean + 0.01}
            | {"seeds": 3}
            for name, other, mean in (("rouge-l", "none", 0.02), ("rouge-l", "start", 0.9), ("mine", "none", 0.05))
        ],
        "signatures": {"rouge-l": "rouge-l|version:1", "mine": "sms|version:1"},
    }

    def preference(criterion, pair, share):
        half = {"share": share, "low": share - 0.1, "high": share + 0.1}
        return {"criterion": criterion, "pair": pair, "points": 0.0, "ties_half": half}

    study = {
        "title": "Pilot",
        "criteria": ["focus", "overall"],
        "settings": {"primary": None},
        "preferences": [
            preference("focus", ["no reward", "Mine"], 0.9),
            preference("overall", ["no reward", "Mine"], 0.7),
            preference("overall", ["ROUGE", "Mine"], 0.8),
            preference("overall", ["ROUGE", "no reward"], 0.6),
        ],
    }
    return jsonl(tmp_path / "report.json", correlation), [comparison], jsonl(tmp_path / "study.json", study)


def test_each_reward_has_its_three_links(files):
    rouge, mine = chain(*files)
    assert (rouge.reward, mine.reward) == ("ROUGE", "Mine")
    assert rouge.agreement.value == 0.1
    assert mine.agreement.value == 0.4  # by its signature: the names differ
    assert (rouge.effect.value, mine.effect.value) == (0.02, 0.05)  # over the control, not the start
    assert mine.preference.value == pytest.approx(0.7)  # over the control, by the last criterion
    assert rouge.preference.value == pytest.approx(0.4)  # it is the first of its pair
    assert (rouge.preference.low, rouge.preference.high) == (pytest.approx(0.3), pytest.approx(0.5))


@pytest.mark.parametrize(("seeds", "of", "said"), [(2, 3, "of Mine in 2 of 3 seeds"), (1, 1, "in one seed: no inter")])
def test_a_gain_of_some_seeds_says_so_and_one_seed_tells_no_order(files, seeds, of, said):
    correlation, (comparison,), _ = files
    comparison["seeds"] = comparison["seeds"][:of]
    for test in comparison["differences"]:
        test["seeds"] = seeds if test["system"] == "mine" or of == 1 else of
    rouge, mine = chain(correlation, [comparison], None)
    assert said in mine.effect.of
    assert (rouge.effect.of == "gain: over no reward") == (of > 1)
    told = " and ".join(agreements_of_order([rouge, mine]))
    assert ("the order cannot be compared" in told) == (of == 1)
    table, *_ = chain_blocks([rouge, mine])
    assert said in table.notes[0]


def test_a_metric_of_the_same_name_with_another_signature_is_another_metric(files):
    correlation, comparison, _ = files
    data = json.loads(correlation.read_text())
    for signature, known in (("rouge-l|stem:no|version:99", False), ("", True), (None, True)):
        data["columns"]["rouge-l"]["signature"] = signature
        rouge, mine = chain(jsonl(correlation, data), comparison, None)
        assert (rouge.agreement.known, mine.agreement.known) == (known, True)


def test_graded_answers_are_points_and_not_percent_of_the_judges(files):
    """All gave one point more of five: a share of .625 stands for a lead of 1 of the 4 that are possible."""
    correlation, comparison, study = files
    data = json.loads(study.read_text())
    for row in data["preferences"]:
        row |= {"points": 4.0, "ties_half": {"share": 0.625, "low": 0.6, "high": 0.65}}
    links = chain(correlation, comparison, jsonl(study, data))
    table, *_ = chain_blocks(links)
    assert table.header[-1] == "judges' lead, points"
    assert [(row[-1].text, row[-1].detail) for row in table.rows] == [
        ("-1.00", "-1.20 to -0.80"),
        ("+1.00", "+0.80 to +1.20"),
    ]


def test_any_file_may_be_missing(files):
    correlation, comparison, study = files
    assert [link.agreement.known for link in chain(None, comparison, study)] == [False, False]
    assert [link.preference.known for link in chain(correlation, comparison, None)] == [False, False]
    assert [link.reward for link in chain(correlation, None, None)] == ["rouge-l", "sms"]
    with pytest.raises(ChainError, match="no file"):
        chain(None, None, None)


def test_wrong_files_say_what_to_give(files, tmp_path):
    _, comparison, study = files
    other = jsonl(tmp_path / "other.json", comparison)
    with pytest.raises(ChainError, match="rlsum correlate"):
        chain(study, None, None)
    with pytest.raises(ChainError, match="rlsum compare"):
        chain(None, {"systems": []}, None)
    with pytest.raises(ChainError, match="rlsum human-eval analyse"):
        chain(None, None, other)
    with pytest.raises(ChainError, match="cannot be read"):
        chain(tmp_path / "absent.json", None, None)


def test_blocks(files):
    table, drawing, order = chain_blocks(chain(*files))
    assert isinstance(table, Table)
    assert [cell.text for cell in table.rows[0]] == ["ROUGE", "0.100", "+2.00", "40.0"]
    assert isinstance(drawing, Picture)
    assert len(order.lines) == 3
    assert chain_blocks([Link("a")]) == []


def test_the_order_counts_only_what_intervals_tell_apart():
    def link(name, agreement, preference, width):
        first, last = (Estimate(value, value - width, value + width) for value in (agreement, preference))
        return Link(name, first, Estimate(), last)

    apart = [link("a", 0.1, 0.2, 0.01), link("b", 0.3, 0.4, 0.01), link("c", 0.5, 0.3, 0.01)]
    assert "tell 3 of 3 pairs of rewards apart in both, 2 of them in the same order" in agreements_of_order(apart)[0]
    (blurred,) = agreements_of_order([link("a", 0.1, 0.2, 1), link("b", 0.3, 0.4, 1)])
    assert "tell 0 of 1 pairs of rewards apart in both, so the order cannot be compared" in blurred
    assert agreements_of_order(apart[:1]) == []
