import json
import os
from dataclasses import replace

import comparisons
import numpy as np
import pytest
from comparisons import rescore

from rlsum import config as configs
from rlsum.compare.report.findings import findings
from rlsum.compare.report.tables import cross_table
from rlsum.compare.results import (
    best,
    compare,
    gather,
    metric_means,
    other_inputs,
    property_means,
    raw_debris,
    unchanged,
)  # fmt: skip
from rlsum.compare.scoring import read_scores, score_file, up_to_date
from rlsum.records import Output, write_outputs
from rlsum.training import checkpoint

GAINS = {"rouge-l": 0.2, "rouge-2": 0.2, "rouge-l.constant": -0.2, "oracle": 0.5}


@pytest.fixture
def results(tmp_path):
    return gather(*comparisons.finished(tmp_path, GAINS), "beam")


def test_a_row_has_the_scores_of_every_seed_and_article(results):
    assert results.systems["rouge-l"].metrics["rouge-1"].shape == (3, 80)
    assert results.systems["oracle"].metrics["rouge-1"].shape == (1, 80)
    assert results.metrics == ["rouge-l", "rouge-2", "rouge-1"]


def test_the_interval_of_a_mean_ends_where_a_score_ends(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {"rouge-l": -0.25}, seeds=(1, 2), metrics=["rouge-1", "bertscore"])
    for cell in (cell for cell in cells if cell.name == "rouge-l-2"):  # another seed, another level
        comparisons.finish(folder, cell, {name: np.full(80, 0.6) for name in folder.comparison.specs})
    results = gather(folder, cells, "beam")
    means = metric_means(results, results.systems["rouge-l"])
    assert (means["rouge-1"].low, means["rouge-1"].high) == (0, 1)
    assert means["bertscore"].low < 0
    assert means["bertscore"].high > 1
    assert min(test.difference.low for test in results.against["none"]) < -1  # a difference may be below 0
    lengths = {"length": np.array([[1.0, 2, 3], [40, 50, 60]]), "novelty": np.array([[0.0, 0, 0.1], [0.8, 1, 1]])}
    found = property_means(replace(results.systems["rouge-l"], properties=lengths))
    assert found["length"].low == 0
    assert found["length"].high > 60
    assert (found["novelty"].low, found["novelty"].high) == (0, 1)


def test_differences_are_paired_by_seed_and_article(results):
    systems = results.systems
    found = compare(systems["rouge-l"], systems["none"], "rouge-l").difference
    expected = (systems["rouge-l"].metrics["rouge-l"] - systems["none"].metrics["rouge-l"]).mean()
    assert found.mean == pytest.approx(expected)
    assert found.low < found.mean < found.high
    assert found.p < 0.05
    back = compare(systems["none"], systems["rouge-l"], "rouge-l").difference
    assert (back.mean, back.low, back.high, back.p) == pytest.approx((-found.mean, -found.high, -found.low, found.p))


def test_all_rows_are_compared_with_start_and_control_as_families(results):
    assert list(results.against) == ["start", "none"]
    tests = {(test.system, test.metric): test for test in results.against["none"]}
    assert len(tests) == 5 * 3  # the other competing rows, by three metrics
    assert all(test.difference.p_holm >= test.difference.p for test in tests.values())
    assert tests["rouge-l", "rouge-1"].shown
    assert not tests["start", "rouge-1"].shown
    assert tests["rouge-l.constant", "rouge-l"].difference.mean < 0


def test_the_best_is_alone_only_where_it_is_told_apart(tmp_path):
    tied = gather(*comparisons.finished(tmp_path / "tied", GAINS), "beam")
    top = best(tied, "rouge-1")
    assert {top.best, *top.tied} == {"rouge-l", "rouge-2"}  # the oracle does not compete
    alone = gather(*comparisons.finished(tmp_path / "alone", {"rouge-2": 0.2}), "beam")
    assert best(alone, "rouge-1").best == "rouge-2"
    assert best(alone, "rouge-1").shown


def test_a_cell_that_is_not_finished_is_undefined_and_named(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    folder.scores(comparisons.named(cells, "rouge-2-2"), "beam").unlink()
    results = gather(folder, cells, "beam")
    assert results.failed == {"rouge-2-2": "not finished: waiting"}
    scores = results.systems["rouge-2"].metrics["rouge-l"]
    assert (np.isnan(scores).all(axis=1).tolist(), scores.shape) == ([False, True, False], (3, 80))
    assert compare(results.systems["rouge-2"], results.systems["start"], "rouge-l").difference.seeds == 2


def test_a_difference_that_is_the_same_on_every_article_allows_no_verdict(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    for cell in cells:
        scores = np.full(80, 0.3 + GAINS.get(cell.system, 0))
        comparisons.finish(folder, cell, dict.fromkeys(folder.comparison.specs, scores))
    results = gather(folder, cells, "beam")
    found = compare(results.systems["rouge-l"], results.systems["start"], "rouge-l")
    assert found.partial == "the same difference on every article"
    assert not found.shown
    assert not best(results, "rouge-l").shown
    said = "\n".join(findings(results))
    assert "rouge-l has no verdict (the same difference on every article against start; so far +20.00" in said
    assert compare(results.systems["none"], results.systems["start"], "rouge-l").partial == ""


def test_scores_of_other_texts_are_no_row_though_the_file_is_older_than_they_are(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    path = folder.outputs(comparisons.named(cells, "rouge-l-2"))["beam"]
    older = tmp_path / "older.jsonl"
    older.write_text(path.read_text().replace("an ash", "no ash"))
    os.utime(older, (1e9, 1e9))
    older.replace(path)
    assert folder.state(comparisons.named(cells, "rouge-l-2")).stage == "waiting"
    assert gather(folder, cells, "beam").failed == {"rouge-l-2": "its summaries changed after they were scored"}


@pytest.mark.parametrize("name", ["oracle", "rouge-2-2"])
def test_a_file_that_lacks_articles_shrinks_nothing(tmp_path, name):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    first = {key: (lambda values: values[:4]) for key in ("ids", "references", "articles")}
    few = {key: (lambda of: {name: of[name][:4] for name in of}) for key in ("metrics", "properties")}
    rescore(folder, cells, name, **first, **few)
    results = gather(folder, cells, "beam")
    assert len(results.ids) == 80
    assert results.failed == {name: "its file has 4 of the 80 test articles"}
    assert results.systems["rouge-l"].metrics["rouge-1"].shape == (3, 80)
    if name != "oracle":
        assert compare(results.systems["rouge-2"], results.systems["none"], "rouge-l").partial == "2 of 3 seeds"


def test_articles_of_given_outputs_may_stand_in_another_order_among_more(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    before = gather(folder, cells, "beam").systems["oracle"].metrics["rouge-l"]

    def more(values):
        return [values[0], *values[::-1]]

    columns = {key: lambda of: {name: more(of[name]) for name in of} for key in ("metrics", "properties")}
    rescore(folder, cells, "oracle", ids=lambda ids: ["another", *ids[::-1]], references=more, articles=more, **columns)
    results = gather(folder, cells, "beam")
    assert results.failed == {}
    assert results.systems["oracle"].metrics["rouge-l"].tolist() == before.tolist()


def test_given_outputs_with_more_than_summaries_are_another_measurement_unless_metrics_clean_them(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    rescore(folder, cells, "oracle", debris=lambda _: ["thinking in 80 of 80 rows ('<think>')"])
    rescore(folder, cells, "rouge-2-2", debris=lambda _: ["Markdown in 9 of 80 rows ('**')"])
    results = gather(folder, cells, "beam")
    assert list(results.remarks) == ["oracle"]
    assert results.remarks["oracle"].startswith("its summaries have thinking in 80 of 80 rows ('<think>'), which ")
    assert "oracle is not comparable with the models: its summaries have thinking" in "\n".join(findings(results))
    rescore(folder, cells, "oracle", specs=lambda known: dict.fromkeys(known, "cleaned(reward=rouge-1)"))
    assert gather(folder, cells, "beam").remarks == {}


@pytest.mark.parametrize(("part", "called"), [("references", "references"), ("articles", "texts")])
def test_other_references_or_articles_are_another_measurement(tmp_path, part, called):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    for name in ("oracle", "rouge-2-2"):
        rescore(folder, cells, name, **{part: lambda hashes: ["other", "other", *hashes[2:]]})
    rescore(folder, cells, "lead-3", articles=lambda hashes: [""] * len(hashes))  # a file without any
    results = gather(folder, cells, "beam")
    why = f"its file has other {called} for 2 of the 80 test articles"
    assert results.failed == {"rouge-2-2": why}
    assert results.remarks == {"oracle": why}
    said = "\n".join(findings(results))
    assert f"oracle is not comparable with the models: {why}." in said
    assert "oracle has a higher mean" not in said


def test_the_references_of_the_test_are_those_of_most_cells(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    rescore(folder, cells, "start-1", references=lambda hashes: ["other", *hashes[1:]])
    failed = gather(folder, cells, "beam").failed
    assert failed == {"start-1": "its file has other references for 1 of the 80 test articles"}


def test_scores_of_another_signature_are_left_out_with_the_reason(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    rescore(folder, cells, "none-3", signatures=lambda of: of | {"rouge-1": "rouge-1|version:2"})
    results = gather(folder, cells, "beam")
    assert results.missing == {("none-3", "rouge-1"): "scored as rouge-1|version:2, the others as rouge-1|version:1"}
    assert np.isnan(results.systems["none"].metrics["rouge-1"]).all(axis=1).tolist() == [False, False, True]
    assert not np.isnan(results.systems["none"].metrics["rouge-l"]).any()


def test_a_metric_that_failed_in_a_cell_keeps_its_reason(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    rest = ("rouge-l", "rouge-2")
    without = {"missing": lambda _: {"rouge-1": "no encoder"}, "metrics": lambda of: {name: of[name] for name in rest}}
    rescore(folder, cells, "rouge-l-2", **without)
    results = gather(folder, cells, "beam")
    assert results.missing == {("rouge-l-2", "rouge-1"): "no encoder"}
    assert results.against["none"][-1].metric == "rouge-1"
    found = {(test.system, test.metric): test for test in results.against["none"]}
    assert found["rouge-l", "rouge-1"].partial == "2 of 3 seeds"
    assert not found["rouge-l", "rouge-1"].shown
    assert found["rouge-l", "rouge-l"].shown


def test_much_that_is_undefined_allows_no_verdict(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    for seed in (1, 2, 3):  # high on its defined 60%, low on the articles that it leaves out
        of_some = {"rouge-1": [None if n % 5 < 2 else 0.9 for n in range(80)]}
        rescore(folder, cells, f"rouge-2-{seed}", metrics=lambda of, of_some=of_some: of | of_some)
    results = gather(folder, cells, "beam")
    top = best(results, "rouge-1")
    assert top.best == "rouge-l"
    assert top.apart == {"rouge-2": "scores on 48 of 80 articles"}
    assert "Not judged: rouge-2 (scores on 48 of 80 articles)" in "\n".join(findings(results))
    cell = next(row for row in cross_table(results).rows if row[0].text == "rouge-2")[-1]
    assert "48 of 80 articles" in cell.detail


def test_nothing_is_said_of_no_article(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {})
    for cell in cells:
        rescore(folder, cells, cell.name, metrics=lambda of: {name: [None] * 80 for name in of})
    results = gather(folder, cells, "beam")
    assert unchanged(results) == {}
    said = "\n".join(findings(results))
    assert "nan" not in said
    assert "rouge-2 has no verdict: on rouge-2 no article has a score of both it and start" in said


def test_a_chosen_system_is_compared_with_too(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS, compared_with="rouge-2")
    assert list(gather(folder, cells, "beam").against) == ["start", "none", "rouge-2"]


def test_a_run_that_ended_as_its_start_is_named(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    assert unchanged(gather(folder, cells, "beam")) == {}
    start, trained = (folder.scores(comparisons.named(cells, name), "beam") for name in ("start-2", "rouge-2-2"))
    same = json.loads(start.read_text()) | {"outputs": json.loads(trained.read_text())["outputs"]}
    # but an encoder rounds by its batch
    same["metrics"]["rouge-1"] = [score + 1e-7 for score in same["metrics"]["rouge-1"]]
    trained.write_text(json.dumps(same))
    assert unchanged(gather(folder, cells, "beam")) == {"rouge-2": [2]}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Linda 's trip cost 80 euros .", True),
        ("linda's trip cost 80 euros.", True),
        ("Linda's trip cost 90 euros.", False),
        ("Linda's trip cost eighty euros.", False),
        ("", False),
    ],
)
def test_references_are_the_same_however_they_are_cased_and_split(text, same, tmp_path):
    """A model's outputs have the references as it read them, those of the lead as they were written."""
    found = []
    for name, reference in {"raw": "Linda's trip cost 80 euros.", "read": text}.items():
        write_outputs(tmp_path / f"{name}.jsonl", [Output("1", "", (reference,), "linda paid", name)])
        score_file(tmp_path / f"{name}.jsonl", tmp_path / f"{name}.json", {"rouge-1": "rouge-1"})
        found.append(read_scores(tmp_path / f"{name}.json"))
    assert (not other_inputs(*found)) == same


LLM = {"kind": "causal", "pretrained": "llm"}


def test_summaries_of_a_start_that_is_a_run_are_scored_as_its_model_answers(tmp_path):
    """Its configuration says so, where no section of the comparison has a model."""
    for name, model in (("llm-1", LLM), ("raw-1", {**LLM, "clean": False})):
        run = tmp_path / name / "best"
        run.mkdir(parents=True)
        data = {"train": "t.jsonl", "valid": "v.jsonl"}
        stored = configs.check({"run": name, "data": data, "model": model, "training": {"steps": 1}}, name)
        (run / checkpoint.CONFIG).write_text(configs.dump(stored))
        (run / checkpoint.REWARDS).write_text("{}")
    starts = [str(tmp_path / name) for name in ("llm-{seed}", "llm-1", "raw-1", "absent")]
    given = {"simulate": None, "test": "t.jsonl"}
    cleans = [comparisons.comparison(tmp_path / "c", start=start, **given).cleans for start in starts]
    assert cleans == [True, True, False, False]


@pytest.mark.parametrize(
    ("model", "told", "clean"),
    [
        ({}, None, False),
        (LLM, None, True),
        ({**LLM, "clean": False}, None, False),
        ({}, True, True),
        (LLM, False, False),
    ],
)
def test_rows_are_scored_without_what_announces_a_summary_where_a_model_answers_a_prompt(tmp_path, model, told, clean):
    sections = {"start": {"model": model}, "clean": told, "rewards": {"l": "rouge-l"}, "metrics": ["rouge-1"]}
    comparison = comparisons.comparison(tmp_path, **sections)
    assert comparison.cleans == clean
    write_outputs(tmp_path / "o.jsonl", [Output("1", "", ("linda paid",), "Summary:\n**linda** paid", "s")])
    score_file(tmp_path / "o.jsonl", tmp_path / "o.json", comparison.scored)
    scores = read_scores(tmp_path / "o.json")
    assert [scores.metrics[name][0] == 1 for name in ("l", "rouge-1")] == [clean] * 2
    assert scores.properties["length"][0] == (2 if clean else 3)
    assert bool(raw_debris(scores)) != clean
    assert up_to_date(tmp_path / "o.jsonl", tmp_path / "o.json", comparison.specs) != clean
