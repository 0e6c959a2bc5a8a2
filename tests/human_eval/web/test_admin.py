"""What the one who runs the study sees, and what stays hidden."""

import json
from dataclasses import replace
from itertools import cycle

import pytest
from markupsafe import escape
from served import make_key, make_study, token_of

from human_eval.collection.responses import read_responses, response_of
from human_eval.criteria import MARKING
from human_eval.report.findings import findings
from human_eval.report.warnings import warnings
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import THESE, AnalysisSettings, Planned
from human_eval.votes.unblind import unblind
from human_eval.web.admin import duration, number


def work(app, judge, *turns, seconds=30):
    """A judge answers the same to every item, or by turns."""
    browser = app.visit("judge", judge)
    item = browser.begin()
    for sides in cycle(turns):
        if item.url.path != "/item":
            break
        app.clock.at += seconds
        item = browser.say(item, *sides)


def change(admin, state):
    return admin.post("/admin/state", data={"token": token_of(admin.get("/admin")), "state": state})


def test_an_empty_study_has_a_page(app):
    page = app.visit("admin").get("/admin").text
    assert "No judge has started yet" in page
    assert "no comparison has two judges yet" in page


def test_comments_are_shown(app, anna):
    item = anna.begin()
    anna.say(item, "left", "none", comment="<b>odd</b>")
    assert "&lt;b&gt;odd&lt;/b&gt;" in app.visit("admin").get("/admin").text


def test_progress_times_and_judges(app):
    work(app, "anna", ("left", "none"))
    page = app.visit("admin").get("/admin").text
    assert "<dd>3</dd><dd>of 6" in page
    assert "3 of 3" in page
    assert "30 s" in page


def test_agreement_is_about_texts_not_sides(app):
    """Both judges chose the same texts, which stood on other sides."""
    work(app, "anna", ("left", "none"))
    work(app, "ben", ("right", "none"))
    page = app.visit("admin").get("/admin").text
    assert page.count("<td>1.00</td>") == 2


def test_without_the_key_nobody_is_said_to_fail(app):
    work(app, "anna", ("left", "left"))
    page = app.visit("admin").get("/admin").text
    assert "without the key (--key)" in page
    assert 'warn">failed' not in page


def test_with_the_key_who_prefers_one_of_two_equal_texts_fails(app_of):
    study = make_study(items=4)
    app = app_of(study, key=make_key(study, checks={2: ("identical", "none"), 3: ("identical", "none")}))
    work(app, "anna", ("left", "left"))
    work(app, "ben", ("none", "none"))
    page = app.visit("admin").get("/admin").text
    assert "2 of 2" in page
    assert page.count('warn">failed') == 1


def test_the_verdict_is_hidden_until_the_study_is_closed(app_of):
    study = make_study(items=8, booklets=3)
    app = app_of(study, key=make_key(study))
    for judge, sides in (("anna", "left"), ("ben", "right"), ("chris", "left")):
        work(app, judge, (sides, "none"))
    admin = app.visit("admin")
    for state in ("open", "paused"):
        change(admin, state)
        page = admin.get("/admin").text
        assert "Hidden until the study is closed" in page
        assert "alpha-system" not in page
    change(admin, "closed")
    page = admin.get("/admin").text
    assert "focus: no difference claimed between alpha-system and beta-system" in page  # of three judges
    assert "overall: no difference detected" in page


@pytest.mark.parametrize("planned", [False, True])
def test_the_page_says_what_analyse_says(app_of, planned):
    study = make_study(items=8, booklets=3)
    key, settings = make_key(study), AnalysisSettings()
    key = replace(key, items={item: f"story {9 - int(item[1:])}" for item in key.items})  # in another order
    if planned:
        settings = AnalysisSettings("overall", planned=Planned(9, 3, 1, 3, THESE))
    app = app_of(study, key=key, settings=settings if planned else None)
    work(app, "anna", ("left", "none"))
    work(app, "ben", ("right", "none"))
    work(app, "chris", ("left", "none"), ("right", "left"), ("none", "none"))
    admin = app.visit("admin")
    change(admin, "closed")
    page = admin.get("/admin").text
    responses = [response_of(json.loads(line)) for line in admin.get("/admin/judgments.jsonl").text.splitlines()]
    analysis = analyse(unblind(study, key, responses), settings)
    for sentence in (*findings(analysis), *warnings(analysis)):
        assert f"<li>{escape(sentence)}</li>" in page
    for pair in analysis.agreement.values():
        agreement = pair["pairwise"]
        assert f"<td>{agreement.value:.2f}</td>" in page
        assert f"<td>{agreement.low:.2f} to {agreement.high:.2f}</td>" in page
    assert ("not as planned: items: planned 9, happened 8" in page) == planned


def test_a_closed_study_that_excludes_everyone_has_a_page(app_of):
    study = make_study(items=4)
    app = app_of(study, key=make_key(study, checks={2: ("identical", "none"), 3: ("identical", "none")}))
    work(app, "anna", ("left", "left"))
    admin = app.visit("admin")
    change(admin, "closed")
    reply = admin.get("/admin")
    assert reply.status_code == 200
    assert "No verdict: all judges are excluded" in reply.text


def test_the_verdict_is_shown_before_when_asked_for(app_of):
    study = make_study()
    app = app_of(study, key=make_key(study), show_verdicts=True)
    assert "No judgments yet" in app.visit("admin").get("/admin").text
    work(app, "anna", ("left", "none"))
    page = app.visit("admin").get("/admin").text
    assert "alpha-system" in page
    assert "Preliminary" in page


def test_without_the_key_closing_shows_no_verdict(app):
    work(app, "anna", ("left", "none"))
    admin = app.visit("admin")
    assert "without the key" in change(admin, "closed").text


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_pausing_closing_and_opening_again(app, state):
    admin = app.visit("admin")
    assert change(admin, state).status_code == 200
    assert app.store.state() == state
    change(admin, "open")
    assert app.store.state() == "open"


def test_an_unknown_state_or_a_form_of_elsewhere_changes_nothing(app):
    admin = app.visit("admin")
    assert change(admin, "burnt").status_code == 403
    assert admin.post("/admin/state", data={"state": "closed"}).status_code == 403
    judge = app.visit("judge", "anna")
    token = token_of(judge.get("/"))
    assert admin.post("/admin/state", data={"token": token, "state": "closed"}).status_code == 403
    assert judge.post("/admin/state", data={"token": token, "state": "closed"}).status_code == 403
    assert app.store.state() == "open"


def test_the_export_is_a_file_of_judgments(app, tmp_path):
    work(app, "anna", ("left", "none"))
    lines = app.visit("admin").get("/admin/judgments.jsonl").text
    path = tmp_path / "judgments.jsonl"
    path.write_text(lines)
    found = read_responses(path, app.study)
    assert [each.seconds for each in found] == [30, 30, 30]
    assert response_of(json.loads(lines.splitlines()[0])) == found[0]


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (float("nan"), "-")],
)
def test_durations(seconds, told):
    assert duration(seconds) == told


@pytest.mark.parametrize(("value", "told"), [(0.666, "0.67"), (-0.001, "0.00"), (-0.1, "-0.10"), (float("nan"), "-")])
def test_numbers(value, told):
    assert number(value) == told


def test_of_studies_without_questions_no_agreement_on_them_is_shown(app_of):
    page = app_of(make_study(criteria=(), marking=MARKING)).visit("admin").get("/admin").text
    assert "Agreement so far" not in page
