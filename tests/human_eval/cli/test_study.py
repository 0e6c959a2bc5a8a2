import csv
import json
import re
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from typing import get_args

import pytest
from rows import rows_of
from studies import NAMES, outputs

from human_eval.cli.export import Format
from human_eval.collection.responses import Response
from human_eval.collection.store import ResponseStore
from human_eval.files import read_key, read_study
from human_eval.study import AboutJudge, Enrolment
from rlsum.records import Output, write_outputs


@pytest.fixture
def files(tmp_path):
    for name in NAMES:
        rows = [row for row in outputs(12, 3) if row.system == name]
        write_outputs(tmp_path / f"{name}.jsonl", rows if name != NAMES[1] else rows[:-1])
    return [tmp_path / f"{name}.jsonl" for name in NAMES]


@pytest.fixture
def study(rlsum, files, tmp_path):
    options = ["-o", tmp_path / "study", "--items", 6, "--booklet", 3, "--judges", 2]
    assert rlsum("human-eval", "build", *files[:2], *options)[0] == 0
    return tmp_path / "study"


def test_build_says_what_it_made_and_what_it_left_out(ran, files, tmp_path):
    options = ["--items", 6, "--booklet", 6, "--judges", 2, "--baseline", NAMES[0], "--seed", 3]
    out = ran("human-eval", "build", *files, "-o", tmp_path / "study", *options)
    assert f"{NAMES[0]}: 1 output left out: another system lacks the article" in out
    assert "44 tasks, including 20 checks, in 4 booklets of 11 tasks" in out
    told = "5 checks per booklet. A judge who fails more than 1 is excluded: 100.0% of judges who click at random"
    assert told in out
    assert re.findall("Warning: (.*?):", out) == ["6 articles", "4 judges, 6 articles"]  # too few to show anything
    key, blind = read_key(tmp_path / "study"), read_study(tmp_path / "study")
    judged = {task.item for task in blind.tasks if key.tasks[task.id].kind == "pair"}
    assert len(judged) == 6
    assert f"on {len(blind.articles)} articles ({len(blind.articles) - 6} only in checks)" in out
    pairs = {secret.pair for secret in key.tasks.values() if secret.kind == "pair"}
    assert pairs == {(NAMES[0], other) for other in NAMES[1:]}
    assert key.seed == 3


def test_wording_comes_from_options(rlsum, files, tmp_path):
    (tmp_path / "criteria.yaml").write_text("- id: faithful\n  question: Which is true?\n")
    (tmp_path / "instructions.txt").write_text("Read slowly.\n")
    wording = ["--criteria", tmp_path / "criteria.yaml", "--instructions", tmp_path / "instructions.txt"]
    where = ["-o", tmp_path / "study", "--items", 5, "--key", tmp_path / "secret" / "key.json"]
    assert rlsum("human-eval", "build", *files, *where, *wording, "--title", "Truth")[0] == 0
    made = read_study(tmp_path / "study")
    assert (made.title, made.instructions) == ("Truth", "Read slowly.")
    assert [criterion.id for criterion in made.criteria] == ["faithful"]
    assert not (tmp_path / "study" / "key.json").exists()
    assert read_key(tmp_path / "secret" / "key.json").study == made.id


def test_marking_errors_is_built_with_checks_and_is_for_the_app(rlsum, ran, files, tmp_path):
    where = [*files[:2], "-o", tmp_path / "study", "--items", 5]
    out = ran("human-eval", "build", *where, "--marking", "standard")
    assert "6 checks per booklet. A judge who fails more than 1 is excluded: 98.2% of judges who click at random" in out
    assert re.findall("Warning: (.*?):", out) == ["5 articles", "3 judges, 5 articles"]
    made = read_study(tmp_path / "study")
    assert (made.criteria, made.title, made.asked) == ((), "Mark the errors", ("errors",))
    for way in ("offline", "csv", "mturk"):
        code, _, err = rlsum("human-eval", "export", tmp_path / "study", "--to", way, "-o", tmp_path / way)
        assert code != 0
        assert "rlsum human-eval serve" in err
        assert not (tmp_path / way).exists()


def test_more_systems_than_are_shown_at_once_are_compared_in_pairs_and_it_is_said(ran, tmp_path):
    rows = [replace(row, system=f"system-{row.system}-{copy}") for copy in "ab" for row in outputs(6, 3)]
    rows = [replace(row, candidate=f"{row.candidate} {row.system[-1]}") for row in rows]
    write_outputs(tmp_path / "all.jsonl", rows)
    where = [tmp_path / "all.jsonl", "-o", tmp_path / "study", "--items", 2, "--answers", "ranking"]
    out = ran("human-eval", "build", *where)
    assert "6 systems, more than 5, which is the most at once: a task shows two, and an article has 15 pairs" in out
    assert read_study(tmp_path / "study").most_texts == 2


def test_fewer_articles_than_usual_are_all_judged(ran, files, tmp_path):
    out = ran("human-eval", "build", *files[:2], "-o", tmp_path / "study")
    assert "11 articles in all systems, fewer than 100" in out
    assert len({secret.pair for secret in read_key(tmp_path / "study").tasks.values() if secret.kind == "pair"}) == 1


def test_a_study_in_which_nothing_can_be_significant_is_said_before_the_judging(rlsum, files, tmp_path):
    out = " ".join(rlsum("human-eval", "build", *files[:2], "--items", "6", "-o", tmp_path / "study")[1].split())
    assert "6 articles: no difference can be significant at 0.05 after Holm's correction over 4 tests" in out
    assert "give 8 articles or more, or fewer criteria" in out
    assert "no preference will be claimed, but of these judges alone if a plan asks about them" in out
    assert "needs 6 judges and 20 articles" in out


def test_a_study_of_too_few_judges_is_told_how_they_become_enough(ran, tmp_path):
    write_outputs(tmp_path / "all.jsonl", outputs(24, 2))
    built = (tmp_path / "all.jsonl", "--shuffled", 0, "--identical", 0)
    few = " ".join(ran("human-eval", "build", *built, "-o", tmp_path / "few", "--booklet", 24).split())
    assert "3 judges, 24 articles: no preference will be claimed" in few
    assert "needs 6 judges and 20 articles; give --booklet 12, so" in few
    enough = ran("human-eval", "build", *built, "-o", tmp_path / "enough", "--booklet", 12)
    assert "will be claimed" not in enough
    assert "6 judges: a claim about people in general needs all of them; --spare 2" in enough
    more = ran("human-eval", "build", *built, "-o", tmp_path / "spare", "--booklet", 12, "--spare", 2)
    assert "in general" not in more


def test_a_summary_that_names_a_system_is_pointed_out(rlsum, tmp_path):
    rows = outputs(5, 2)
    rows[0] = rows[0].__class__(**{**rows[0].__dict__, "candidate": f"As {NAMES[0].upper()} , I say : it fell ."})
    write_outputs(tmp_path / "all.jsonl", rows)
    options = ["--items", 5, "--shuffled", 0, "--identical", 0, "--swapped", 0]
    _, out, _ = rlsum("human-eval", "build", tmp_path / "all.jsonl", "-o", tmp_path / "study", *options)
    assert "in 3 tasks a summary contains the name of a system" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--items", 12], "--items 12: only 11 articles"),
        (["--items", 5, "--criteria", "none.yaml"], "none.yaml: cannot be read"),
        (["--items", 5, "--instructions", "none.txt"], "--instructions none.txt: cannot be read"),
        (["--items", 5, "--answers", "stars"], "--answers stars: expected one of pair,"),
        (["--items", 5, "--answers", "ranking", "--marking", "standard"], "give them with --criteria"),
        (["--items", 5, "--title", " "], "--title ' ': is empty"),
    ],
)
def test_build_refuses_in_one_line_and_leaves_nothing(refused, files, tmp_path, arguments, told):
    err = refused("human-eval", "build", *files, "-o", tmp_path / "study", *arguments)
    assert told in err
    assert len([line for line in err.splitlines() if " rows; " not in line]) == 1
    assert not (tmp_path / "study").exists()


def test_build_never_replaces_a_study(refused, files, study):
    before = (study / "tasks.jsonl").read_bytes()
    assert "never replaced" in refused("human-eval", "build", *files, "-o", study, "--items", 5)
    assert (study / "tasks.jsonl").read_bytes() == before


def test_build_warns_of_outputs_without_text(rlsum, files, tmp_path):
    first, *rows = (row for row in outputs(12, 3) if row.system == NAMES[0])
    write_outputs(files[0], [replace(first, candidate=" "), *rows])
    _, said, _ = rlsum("human-eval", "build", *files[:2], "-o", tmp_path / "study")
    assert f"Warning: {NAMES[0]}: 1 output of" in said
    assert f"Warning: {NAMES[1]}" not in said


def test_build_warns_of_a_system_in_lower_case_and_writes_all_alike_if_asked_to(rlsum, files, tmp_path):
    rows = [replace(row, candidate=row.candidate.upper()) for row in outputs(12, 3) if row.system == NAMES[0]]
    write_outputs(files[0], rows)
    _, said, _ = rlsum("human-eval", "build", *files[:2], "-o", tmp_path / "one")
    assert f"100% of the summaries of {NAMES[1]} are in lower case, 0% of {NAMES[0]}; --normalise removes this" in said
    _, said, _ = rlsum("human-eval", "build", *files[:2], "-o", tmp_path / "two", "--normalise")
    assert "lower case" not in said
    assert not any("SUMMARY" in task.left + task.right for task in read_study(tmp_path / "two").tasks)


def test_build_warns_of_articles_in_lower_case(rlsum, files, tmp_path):
    lower = [replace(row, source=row.source.lower()) for row in outputs(12, 3)]
    for name, file in zip(NAMES[:2], files[:2], strict=True):
        write_outputs(file, [row for row in lower if row.system == name])
    _, said, _ = rlsum("human-eval", "build", *files[:2], "-o", tmp_path / "study")
    assert "articles that judges read are in lower case; --articles FILE gives them" in said


@pytest.mark.parametrize("to", get_args(Format))
def test_no_export_and_no_public_file_names_a_system(rlsum, study, tmp_path, to):
    """The audit of blinding: neither systems, nor ids of the outputs, nor the seed, whatever is handed out."""
    link = ["--link", "https://study.example.org/join/abc"] if to == "prolific" else []
    key = read_key(study)
    (study / "key.json").rename(tmp_path / "key.json")  # the export does without it
    code, _, err = rlsum("human-eval", "export", study, "--to", to, "-o", tmp_path / "out", *link)
    assert (code, err) == (0, "")
    made = [*(tmp_path / "out").iterdir(), *study.iterdir()]
    assert len(made) > 3
    for path in made:
        text = path.read_text(encoding="utf-8", errors="replace")
        found = [word for word in (*key.systems, *key.items.values(), str(key.seed)) if word in text]
        assert (path.name, found) == (path.name, [])


def test_export_asks_for_the_link_that_it_needs(refused, study, tmp_path):
    without, unasked = ("--to", "prolific"), ("--to", "csv", "--link", "https://x.org/y")
    for options, told in ((without, "give --link"), (unasked, "leave out --link")):
        assert told in refused("human-eval", "export", study, *options, "-o", tmp_path / "out")


def test_a_booklet_goes_to_the_app_or_into_an_export(rlsum, refused, ran, study, tmp_path):
    assert rlsum("human-eval", "export", study, "--to", "csv", "--booklets", "1,3-4", "-o", tmp_path / "sheets")[0] == 0
    names = [f"booklet-0{number}.csv" for number in (1, 3, 4)]
    assert sorted(path.name for path in (tmp_path / "sheets").iterdir()) == names
    with closing(ResponseStore(study / "judging.sqlite", read_study(study))) as store:
        assert [store.claim(judge) for judge in ("anna", "ben")] == [True, False]
        assert store.loans()[0].booklet == 1
    error = refused("human-eval", "export", study, "--to", "offline", "-o", tmp_path / "forms")
    assert "booklet 2: the app has lent it to anna" in error
    assert not (tmp_path / "forms").exists()
    said = ran("human-eval", "booklets", study, "--release", "2,4")
    assert re.findall(r"\((exported|free)\)", said) == ["exported", "free"] * 2
    again = ("--to", "offline", "--booklets", "1,4", "-o", tmp_path / "forms")
    assert "booklet 1: is exported already" in refused("human-eval", "export", study, *again)
    for wrong in ("0", "5", "x", "2-1"):
        assert rlsum("human-eval", "booklets", study, "--reserve", wrong)[0] == 2


def test_booklets_count_what_came_back_in_files(rlsum, ran, study, tmp_path):
    ran("human-eval", "export", study, "--to", "csv", "--booklets", "1-2", "-o", tmp_path / "sheets")
    size = len(read_study(study).booklets[0])
    told = [f"1 (exported) 0 of {size}", f"2 (exported) 0 of {size}", f"3 (free) 0 of {size}"]
    for number, name in ((0, "ann"), (0, "bo"), (1, "cy")):
        (tmp_path / f"{name}.json").write_text(json.dumps(answered(study, number, name)))
        out = ("-o", tmp_path / "judgments.jsonl", "--overwrite")
        rlsum("human-eval", "collect", study, *sorted(tmp_path.glob("*.json")), *out)
        told[number] = f"{number + 1} {name} (returned) {size} of {size}"
        if name == "bo":
            told[0] = f"1 ann (returned) {size} of {size}"  # the last collection that wrote anything
    said = ran("human-eval", "collect", study, *sorted(tmp_path.glob("*.json")), "--whose", "1=bo", *out)
    assert "Warning: not counted: a booklet under two names: 'ann' returned booklet 1" in " ".join(said.split())
    told[0] = f"1 bo (returned) {size} of {size}"
    shown = ran("human-eval", "booklets", study)
    assert [" ".join(re.sub("│", " ", line).split()) for line in shown.splitlines() if "│" in line][:3] == told
    assert rlsum("human-eval", "collect", study, *tmp_path.glob("*.json"), "--whose", "1", *out)[0] == 2


def test_judges_are_listed_banned_and_admitted(rlsum, study, tmp_path):
    assert rlsum("human-eval", "judges", study)[0] == 2  # no database yet
    with closing(ResponseStore(study / "judging.sqlite", read_study(study))) as store:
        store.people.enrol("anna", {}, "phone")
        store.claim("anna")
        code, printed, _ = rlsum("human-eval", "judges", study, "--ban", "anna", "-o", tmp_path / "judges.csv")
        assert (code, "Warning" in printed) == (0, False)
        assert store.progress("anna").stage == "barred"
        (row,) = csv.DictReader((tmp_path / "judges.csv").open())
        assert (row["judge"], row["device"], row["barred"]) == ("anna", "phone", "banned")
        assert rlsum("human-eval", "judges", study, "--admit", "anna", "-o", tmp_path / "judges.csv")[0] == 2
        assert rlsum("human-eval", "judges", study, "--admit", "anna")[0] == 0
        assert "Warning: ann " in rlsum("human-eval", "judges", study, "--ban", "ann")[1]
        assert store.progress("anna").stage == "judging"


def test_with_the_key_judges_says_who_failed_the_checks_and_without_that_it_cannot(rlsum, study, tmp_path):
    blind, table = read_study(study), tmp_path / "judges.csv"
    answers = {criterion.id: "left" for criterion in blind.criteria}
    with closing(ResponseStore(study / "judging.sqlite", blind)) as store:
        store.claim("anna")
        for task in store.progress("anna").open:
            store.record(Response(blind.id, task, "anna", answers, seconds=1.0), 0)
    for options, action, reason in (
        ((), "approve if no checks failed", "--key"),
        (("--key", study / "key.json"), "reject, or pay in part", "failed "),
    ):
        assert rlsum("human-eval", "judges", study, *options, "-o", table, "--overwrite")[0] == 0
        (row,) = csv.DictReader(table.open())
        assert (row["to do"], reason in row["why"]) == (action, True)


def test_consent_and_questions_come_from_files(rlsum, files, tmp_path):
    (tmp_path / "consent.txt").write_text("You may stop at any time.")
    (tmp_path / "about.yaml").write_text('- {id: age, question: "How old are you?"}')
    options = ["--consent", tmp_path / "consent.txt", "--about", tmp_path / "about.yaml"]
    assert rlsum("human-eval", "build", *files[:2], "-o", tmp_path / "study", *options)[0] == 0
    built = read_study(tmp_path / "study")
    assert built.enrolment == Enrolment("You may stop at any time.", (AboutJudge("age", "How old are you?"),))
    for to, study in (("offline", tmp_path / "study"), ("mturk", tmp_path / "other")):
        rlsum("human-eval", "build", *files[:2], "-o", tmp_path / "other", *options)
        code, out, _ = rlsum("human-eval", "export", study, "--to", to, "-o", tmp_path / to)
        assert (code, "only the app" in out) == (0, True)  # asks the questions
        page = next((tmp_path / to).glob("*.html")).read_text()
        assert page.index("You may stop at any time.") < page.index("I have read this and agree")


def answered(study, number, judge, answer="left"):
    blind = read_study(study)
    answers = {criterion.id: answer for criterion in blind.criteria}
    judgments = [{"task": task.id, "answers": answers} for task in blind.booklets[number]]
    return {"format": 1, "study": blind.id, "booklet": number, "judge": judge, "judgments": judgments}


def test_collect_keeps_what_counts_and_says_what_does_not(rlsum, ran, study, tmp_path):
    (tmp_path / "one.json").write_text(json.dumps(answered(study, 0, "ann")))
    (tmp_path / "two.json").write_text(json.dumps(answered(study, 1, "bo", "A")))
    (tmp_path / "three[red].json").write_text("{")
    out = tmp_path / "judgments.jsonl"
    printed = ran("human-eval", "collect", study, *sorted(tmp_path.glob("*.json")), "-o", out)
    size = len(read_study(study).booklets[0])
    kept, rejects = rows_of(out), rows_of(tmp_path / "judgments.rejects.jsonl")
    assert len(kept) == size
    assert {row["judge"] for row in kept} == {"ann"}
    assert [row["reason"].split(":")[0] for row in rejects] == ["not JSON", *["unknown answer"] * size]
    assert "rejected, unknown answer" in printed
    assert "three[red].json:1" in re.sub(r"[\s│]", "", printed)  # whole, however narrow the terminal
    assert f"1 judge; {size} of" in printed
    assert "1 of 4 booklets complete" in printed
    assert rlsum("human-eval", "collect", study, tmp_path / "one.json", "-o", out)[0] == 2
    assert rlsum("human-eval", "collect", study, tmp_path / "one.json", "-o", out, "--overwrite")[0] == 0


def test_collect_writes_before_it_prints_so_that_a_closed_pipe_loses_nothing(rlsum, study, tmp_path, monkeypatch):
    def closed(*arguments):
        raise BrokenPipeError

    monkeypatch.setattr("rich.console.Console.print", closed)
    (tmp_path / "one.json").write_text(json.dumps(answered(study, 0, "ann")))
    with suppress(BrokenPipeError):
        rlsum("human-eval", "collect", study, tmp_path / "one.json", "-o", tmp_path / "judgments.jsonl")
    assert len((tmp_path / "judgments.jsonl").read_text().splitlines()) > 5


def test_a_warning_of_lax_checks_names_options_that_the_answers_allow(rlsum, files, tmp_path):
    options = ["-o", tmp_path / "study", "--items", 6, "--answers", "best-worst"]
    _, out, _ = rlsum("human-eval", "build", *files, *options)
    assert "Warning: 6 checks per booklet" in out
    assert "--identical" not in out


def test_collect_with_nothing_that_counts_is_an_error_with_the_reasons(rlsum, study, tmp_path):
    (tmp_path / "x.json").write_text("{")
    code, printed, err = rlsum("human-eval", "collect", study, tmp_path / "x.json", "-o", tmp_path / "j.jsonl")
    assert (code, "no row of" in err) == (2, True)
    assert "rejected, not JSON" in printed
    assert "x.json:1: not JSON" in printed
    assert not list(tmp_path.glob("j.*"))  # nothing stands in the way of the next try


def test_collect_of_files_without_answers_says_so(refused, study, tmp_path):
    (tmp_path / "x.jsonl").write_text("")
    assert "no answers in" in refused("human-eval", "collect", study, tmp_path / "x.jsonl", "-o", tmp_path / "j.jsonl")


@pytest.fixture
def short(tmp_path):
    """Outputs of two systems about one article, too short for a check by shuffled words."""
    for system, text in (("甲系统", "It rained ."), ("乙系统", "The sun shone .")):
        write_outputs(tmp_path / f"{system}.jsonl", [Output("1", "A storm .", (), text, system)])
    return sorted(tmp_path.glob("*.jsonl"))


def test_short_outputs_get_no_checks_by_shuffled_words_unless_asked_for(refused, ran, short, tmp_path):
    out = ran("human-eval", "build", *short, "-o", tmp_path / "study", "--judges", 1)
    assert "--shuffled 0 instead of 3: no article can have one, with an output of 8 different words" in out
    assert "2 tasks, including 1 check, in 1 booklet of 2 tasks, on 1 article;" in out
    assert "give --shuffled 0" in refused("human-eval", "build", *short, "-o", tmp_path / "other", "--shuffled", 1)


def test_more_links_than_booklets_are_pointed_out(rlsum, short, tmp_path):
    assert rlsum("human-eval", "build", *short, "-o", tmp_path / "study", "--judges", 1)[0] == 0
    code, out, _ = rlsum("human-eval", "links", tmp_path / "study", "--judges", 2)
    assert (code, "2 judges, 1 booklet: the last judges to come get none" in out) == (0, True)
    assert "get none" not in rlsum("human-eval", "links", tmp_path / "study", "--judges", 1)[1]


def test_the_commands_load_no_torch(study, tmp_path):
    code = (
        "import sys; from typer.testing import CliRunner; from rlsum.cli.app import app;"
        f"r = CliRunner().invoke(app, ['human-eval', 'export', {str(study)!r}, '--to', 'offline', '-o', "
        f"{str(tmp_path / 'out')!r}]); assert r.exit_code == 0, r.output;"
        "print([m for m in ('torch', 'transformers', 'spacy', 'datasets') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_range_of_booklets_beyond_all_memory_is_refused(refused, study, tmp_path):
    assert "the study has booklets 1 to 4" in refused("human-eval", "booklets", study, "--reserve", "1-999999999999")
