"""The report of finished cells, in every format."""

from __future__ import annotations

import csv
import html.parser
import io
import json
from dataclasses import replace

import comparisons
import numpy as np
import pytest
from rich.console import Console
from rows import jsonl

from rlsum.compare.report.findings import findings
from rlsum.compare.report.numbers import numbers
from rlsum.compare.report.own_reward import verdict_table
from rlsum.compare.report.page import about, for_people, of_chain, write_report
from rlsum.compare.report.side_by_side import most_different
from rlsum.compare.report.tables import cross_table
from rlsum.compare.results import gather
from rlsum.errors import UserError
from rlsum.pages.table import UNDEFINED
from rlsum.pages.terminal import show

GAINS = {"rouge-l": 0.2, "rouge-2": 0.0, "oracle": 0.5}


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    folder, cells = comparisons.finished(tmp_path_factory.mktemp("f"), GAINS)
    return folder, cells, write_report(folder, cells)


@pytest.fixture(scope="module")
def results(reported):
    folder, cells, _ = reported
    return gather(folder, cells, "beam")


class Page(html.parser.HTMLParser):
    """What a browser would have to fetch or leave unclosed."""

    VOID = ("meta", "img", "source", "br", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.fetched += [value for name, value in attributes if name in ("src", "srcset") and value[:5] != "data:"]
        self.fetched += [value for name, value in attributes if name == "href" and not value.startswith("#")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_needs_nothing_else(reported):
    folder, _, _ = reported
    page = Page((folder.path / "report" / "index.html").read_text())
    assert (page.open, page.fetched) == ([], [])
    assert page.tags.count("img") >= 2
    assert page.tags.count("table") >= 5
    assert page.tags.count("script") == 1  # sorts the tables


def test_figures_are_vectors_too(reported):
    folder, _, _ = reported
    pictures = {path.stem for path in (folder.path / "report").glob("*.png")}
    assert pictures == {path.stem for path in (folder.path / "report").glob("*.svg")}
    assert (folder.path / "report" / "learning-curves.svg").read_bytes().startswith(b"<?xml")


def test_the_articles_to_read_are_those_where_trained_systems_differ(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {})
    for cell in cells:
        if cell.kind == "reward":
            scores = np.full(80, 0.5)
            scores[7] = 1.0 if cell.system == "rouge-l" else 0.0
            comparisons.finish(folder, cell, dict.fromkeys(folder.comparison.specs, scores))
        elif cell.kind == "start":
            comparisons.finish(folder, cell, {name: np.full(80, 0.5) for name in folder.comparison.specs})
    assert most_different(gather(folder, cells, "beam"), 2)[0] == "test-7"


def test_a_metric_that_falls_is_in_the_findings_with_the_update_where_it_began(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    for cell in cells:
        if cell.system == "rouge-2":
            values = np.random.default_rng(cell.seed).normal(0.2, 0.02, 80)
            scores = {name: values - (name == "rouge-l") * 0.1 for name in folder.comparison.specs}
            comparisons.finish(folder, cell, scores)
            steps = ({"step": n, "nll": 2 + n, "reward": n / 10, "rouge-l": 0.3 - n / 20} for n in range(6))
            jsonl(tmp_path / "runs" / cell.name / "metrics.jsonl", *({"kind": "valid", **row} for row in steps))
    write_report(folder, cells)
    lines = (tmp_path / "report" / "report.md").read_text().splitlines()
    (said,) = [line for line in lines if "Training on rouge-2" in line]
    assert "Below the start: rouge-l (-" in said
    assert "in validation from update 1 on" in said


def test_best_of_n_of_other_samples_is_named_but_not_drawn(tmp_path):
    ways = {"hot": {}, "cold": {"temperature": 0.3}}
    choosing = {name: {"best_of": 8, "by": "rouge-l", **sampling} for name, sampling in ways.items()}
    folder, cells = comparisons.finished(tmp_path, GAINS, choosing=choosing)
    for cell in cells:
        if cell.config is not None:
            valid = ({"kind": "valid", "step": n, "nll": 2.0, "rouge-l": 0.3} for n in range(2))
            sampled = {"kl": 0.1, "sample_length": 20.0} if cell.system != "none" else {}
            train = {"kind": "train", "step": 1, "nll": 2.0, **sampled}
            jsonl(tmp_path / "runs" / cell.name / "metrics.jsonl", *valid, train)
    write_report(folder, cells)
    text = (tmp_path / "report" / "index.html").read_text()
    assert "Dashed: the best of n" in text
    assert "at an unknown KL and not here: cold." in text
    assert "so not here: continued likelihood." in text


def test_how_many_rewards_helped_stands_before_each(tmp_path):
    finished = comparisons.finished(tmp_path, {"rouge-l": 0.3, "rouge-2": 0.3}, seeds=(1, 2, 3, 4, 5))
    assert "2 of 2 rewards helped by their own measure." in findings(gather(*finished, "beam"))


def test_the_chain_is_shown_where_its_files_are_given(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS, correlation=str(tmp_path / "none.json"))
    results = [gather(folder, cells, "beam")]
    with pytest.raises(UserError, match=r"none\.json: cannot be read"):
        of_chain(folder, results)
    without, _ = comparisons.finished(tmp_path / "without", GAINS)
    assert of_chain(without, results) == []


def test_a_study_with_people_begins_with_the_best_where_it_is_shown_and_its_control(reported, results, tmp_path):
    folder, cells, _ = reported
    first, *_, last = for_people(folder, cells, results)
    outputs = folder.path / "outputs"
    command = f"rlsum human-eval build {outputs}/rouge-l-1.beam.jsonl {outputs}/none-1.beam.jsonl -o"
    assert last.lines[0].startswith(command)
    assert "best of the trained models by rouge" in first.text
    folder, cells = comparisons.finished(tmp_path, {"rouge-2": 0.005})
    assert "the highest mean by rouge-l, and" in for_people(folder, cells, gather(folder, cells, "beam"))[0].text
    folder, cells = comparisons.finished(tmp_path / "worse", {"rouge-l": -0.3, "rouge-2": -0.3})
    *_, last = for_people(folder, cells, gather(folder, cells, "beam"))
    assert "outputs/start" not in last.lines[0]  # judges compare what was trained, even where the start scores higher


def test_a_reward_that_was_learned_from_judgments_says_who_is_judged_next(tmp_path):
    rewards = {"rouge-l": "rouge-l", "preference": "learned(path=votes)"}
    folder, cells = comparisons.finished(tmp_path, {"preference": -0.1}, rewards=rewards)
    results = gather(folder, cells, "beam")
    trained = replace(results.systems["preference"], metrics={"preference": results.base.metrics["preference"] + 1})
    results = replace(results, systems=results.systems | {"preference": trained})
    first, *_, last = for_people(folder, cells, results)
    assert " by preference, and" in first.text
    assert last.lines[0].startswith(f"rlsum human-eval build {folder.path}/outputs/preference-1.beam.jsonl")


def test_systems_that_wrote_the_same_are_not_given_to_judges_and_none_of_them_is_the_highest(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS, seeds=(1,))
    results = gather(folder, cells, "beam")
    same = {row.name: replace(row, metrics=results.base.metrics) for row in results.compared}
    results = replace(results, systems=results.systems | same)
    (said,) = for_people(folder, cells, results)
    assert said.text.endswith("have the same scores on every article: there is nothing to judge.")
    assert any("have the highest mean" in line for line in findings(results))


def test_the_report_says_how_many_updates_the_trainings_take(tmp_path):
    variants = {"short": {"training": {"steps": 1}}, "long": {"training": {"steps": 2}}}
    folder, cells = comparisons.finished(tmp_path, {}, controls=[], variants=variants)
    said = about(cells, gather(folder, cells, "beam"))
    assert "takes 1 to 2 updates" in said
    assert "continued likelihood" not in said  # it is no row


def test_articles_to_read_are_chosen_by_the_summaries_that_are_shown(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {}, controls=[])
    for cell in cells:
        if cell.kind in ("reward", "start"):
            scores = np.full(80, 0.5)
            if cell.system == "rouge-l":
                scores[5 if cell.seed == 1 else 9] = 0.6 if cell.seed == 1 else 1.0
            comparisons.finish(folder, cell, dict.fromkeys(folder.comparison.specs, scores))
    assert most_different(gather(folder, cells, "beam"), 1) == ["test-5"]


def test_what_is_said_is_what_the_tests_say(results):
    said = list(findings(results))
    assert any(line.startswith("Training on rouge-l helped by its own measure: +") for line in said)
    assert any(line.startswith("Training on rouge-2 is not shown to help") for line in said)
    best = "By rouge-l, rouge-2 and rouge-1: rouge-l is the best of the trained models."
    assert f"{best} oracle has a higher mean than all of them." in said


def test_the_highest_mean_is_said_to_differ_from_what_it_differs_from(tmp_path):
    gains = {"rouge-l": 0.2, "rouge-2": 0.2, "lead-3": -0.1, "oracle": -0.1}
    results = gather(*comparisons.finished(tmp_path, gains, controls=["none", "shuffled"]), "beam")
    (said,) = [line for line in findings(results) if line.startswith("By ")]
    assert "has the highest mean; tested with all pairs, it is not shown to differ from rouge-" in said
    assert said.endswith("; it differs from start, continued likelihood and rouge-l (shuffled).")


def test_one_seed_says_what_this_run_scored_and_no_more(tmp_path):
    results = gather(*comparisons.finished(tmp_path, GAINS, seeds=(1,)), "beam")
    said = "\n".join(findings(results))
    assert "Training on rouge-l has no verdict from one seed: this run scored higher (+" in said
    assert "another seed may differ" in said
    assert "has the highest mean of the trained models in one seed; another may give another order" in said
    assert not [word for word in ("helped", "the best", "p <", "p =") if word in said]
    rows = [*cross_table(results).rows, *verdict_table(results).rows]
    assert not any(cell.mark for row in rows for cell in row)


def test_the_sentence_quotes_the_test_that_decides(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {"rouge-l": 0.2, "none": -0.2})
    for cell in cells:  # as good as the start, far better than the control
        if cell.system == "rouge-l":
            start = json.loads(folder.scores(comparisons.named(cells, f"start-{cell.seed}"), "beam").read_text())
            noise = np.random.default_rng(cell.seed).normal(0, 0.05, 80)
            scores = {name: np.array(values) + noise for name, values in start["metrics"].items()}
            comparisons.finish(folder, cell, scores)
    (said,) = [line for line in findings(gather(folder, cells, "beam")) if "Training on rouge-l" in line]
    assert "is not shown to help" in said
    assert " on rouge-l over start (p = " in said


def test_a_margin_says_which_loss_is_ruled_out(tmp_path):
    said = "\n".join(findings(gather(*comparisons.finished(tmp_path, {"rouge-l": -0.004}), "beam"), 0.05))
    assert "Training on rouge-l loses less than 5 points by its own measure: -" in said
    assert "no harm" not in said


def test_rows_on_other_seeds_are_not_compared(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {"rouge-2": 0.01})
    for cell in cells:  # the seed that rouge-l lacks is a hard one for all
        if cell.seed == 3:
            lower = {"metrics": lambda of: {name: [value - 0.3 for value in of[name]] for name in of}}
            comparisons.rescore(folder, cells, cell.name, **lower)
    folder.scores(comparisons.named(cells, "rouge-l-3"), "beam").unlink()
    results = gather(folder, cells, "beam")
    said = list(findings(results))
    assert any(line.startswith("Training on rouge-l has no verdict (2 of 3 seeds against ") for line in said)
    assert all("Not judged: rouge-l (2 of 3 seeds)" in line for line in said if line.startswith("By "))
    assert not any("rouge-l has the highest" in line or "rouge-l is the best" in line for line in said)
    row = next(row for row in cross_table(results).rows if row[0].text == "rouge-l")
    assert row[0].detail == "2 of 3 seeds: 1 and 2"


def test_the_verdict_is_as_strong_as_the_weaker_comparison_and_bold_where_a_gain_is_not(results):
    rows = verdict_table(results).rows
    assert {row[0].text: row[-1].text for row in rows} == {"rouge-l": "better", "rouge-2": "no difference shown"}
    assert [cell.text for row in rows for cell in row if cell.mark] == ["better"]


def test_the_best_of_a_column_is_bold_and_outputs_do_not_compete(results):
    rows = {row[0].text: row for row in cross_table(results).rows}
    assert [name for name, row in rows.items() if row[1].mark] == ["rouge-l"]
    assert not rows["oracle"][1].mark


def test_every_format_has_the_numbers(reported, results):
    folder, _, blocks = reported
    report = folder.path / "report"
    mean = results.systems["rouge-l"].metrics["rouge-1"].mean()
    text = io.StringIO()
    show(blocks, Console(file=text, width=200))
    shown = f"{100 * mean:.2f}"
    for content in (text.getvalue(), (report / "report.md").read_text(), (report / "tables.tex").read_text()):
        assert shown in content
    rows = list(csv.DictReader((report / "scores.csv").open()))
    of_cell = [float(row["mean"]) for row in rows if (row["system"], row["metric"]) == ("rouge-l", "rouge-1")]
    assert sum(of_cell) / len(of_cell) == pytest.approx(mean, abs=1e-6)
    (beam,) = json.loads((report / "results.json").read_text())
    by_name = {system["system"]: system for system in beam["systems"]}
    assert by_name["rouge-l"]["metrics"]["rouge-1"]["mean"] == pytest.approx(mean)
    assert {test["other"] for test in beam["differences"]} == {"start", "none"}


def test_differences_of_a_row_that_lacks_a_seed_say_so_in_the_numbers(tmp_path):
    folder, cells = comparisons.finished(tmp_path, {})
    folder.scores(comparisons.named(cells, "rouge-l-3"), "beam").unlink()
    (beam,) = numbers([gather(folder, cells, "beam")])
    partial = {test["system"]: test["partial"] for test in beam["differences"]}
    assert {name for name, why in partial.items() if why} == {"rouge-l"}
    assert partial["rouge-l"] == "2 of 3 seeds"


def test_the_commands_that_repeat_a_cell_are_printed(reported):
    folder, _, _ = reported
    text = (folder.path / "report" / "report.md").read_text()
    assert f"rlsum train {folder.path}/configs/rouge-l-1.yaml --init {folder.path}/runs/start-1" in text


def test_a_report_before_anything_is_finished_says_what_is_missing(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    for cell in cells:
        folder.scores(cell, "beam").unlink()
    folder.failure(cells[3]).write_text("loss is nan")
    write_report(folder, cells)
    text = (tmp_path / "report" / "report.md").read_text()
    assert "loss is nan" in text
    assert "not finished: waiting" in text


def test_a_damaged_file_of_the_first_seed_costs_its_cell_alone(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS)
    damaged = folder.outputs(comparisons.named(cells, "rouge-2-1"))["beam"]
    damaged.write_bytes(damaged.read_bytes()[:-30])
    write_report(folder, cells)
    text = (tmp_path / "report" / "report.md").read_text()
    assert "| rouge-2-1 | its summaries changed after they were scored" in text


def test_a_control_that_a_new_reward_has_not_scored_yet_leaves_its_place_empty(tmp_path):
    folder, cells = comparisons.finished(tmp_path, GAINS, seeds=(1,))
    comparisons.rescore(folder, cells, "none-1", metrics=lambda of: {name: of[name] for name in ("rouge-l", "rouge-1")})
    table = verdict_table(gather(folder, cells, "beam"))
    assert {len(row) for row in table.rows} == {len(table.header)}
    (row,) = (row for row in table.rows if row[0].text == "rouge-2")
    assert [cell.text for cell in row[4:6]] == [UNDEFINED, UNDEFINED]
