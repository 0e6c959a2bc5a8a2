"""A crowd that comes, leaves, cheats and comes back: who gets a place, who counts, and what to do with whom."""

import csv
import io
from collections import Counter

import pytest
from served import given, make_key, make_study, token_of

from human_eval.statistics.settings import AnalysisSettings
from human_eval.study import TaskKey
from human_eval.votes.exclusion import ExclusionRules, fails
from human_eval.web.judging import PATIENCE

TEXTS = [
    *((f"First summary of {number}.", f"Second summary of {number}.") for number in range(3)),
    ("The same.", "The same."),
    ("One two three.", "three. One two"),
]
PID = "5f3e0123456789abcdef0123"
BACK = "https://panel.test/back"


def secret_study():
    study = make_study(texts=TEXTS)
    key = make_key(study, checks={3: ("identical", "none")})
    for number, side in enumerate(("left", "right")):
        key.tasks[f"t{number}-4"] = TaskKey(("a", "a"), "a", "a", "shuffled", expected=side)
    return study, key


@pytest.fixture
def panel(app_of):
    """An app of two booklets of three pairs, each with two checks, which knows the key."""
    study, key = secret_study()
    codes = {"partial_url": "https://panel.test/partial", "screened_out_url": "https://panel.test/screened"}
    return app_of(study, key=key, stop_failing=True, return_url=BACK, **codes)


def come(app, pid=PID, session="0" * 24):
    browser = app.browser()
    browser.get(f"{app.link('everyone')}?PROLIFIC_PID={pid}&STUDY_ID={'2' * 24}&SESSION_ID={session}")
    return browser


def judge(app, browser, most=99, careless=False):
    """Answer ``most`` tasks, checks as a careful reader does; the last page."""
    item = browser.begin()
    for _ in range(most):
        if item.url.path != "/item":
            break
        name = item.text
        app.clock.at += 10
        side = "left" if app.store.progress(who(app, browser)).open[0].startswith("t0") else "right"
        right, wrong = ("left", "none"), "right" if side == "left" else "left"
        if "The same." in name:
            right = ("none", "none")
        elif "three." in name:
            right = (side, side)
        item = browser.say(item, *((wrong, wrong) if careless else right))
    return item


def who(app, browser):
    (token,) = (value for name, value in browser.cookies.items() if "judge" in name)
    return app.access.visitor("judge", token).name


def admin_rows(app):
    return {row["judge"]: row for row in csv.DictReader(io.StringIO(app.visit("admin").get("/admin/judges.csv").text))}


def test_who_takes_over_a_booklet_answers_its_checks_too(panel):
    anna, ben = panel.visit("judge", "anna"), panel.visit("judge", "ben")
    anna.get("/")
    judge(panel, anna, most=5 - 1)  # the last check is missing, no pair
    panel.clock.at += 1000
    judge(panel, ben, most=1)
    panel.clock.at += 1000
    assert panel.store.claim("chris")
    assert panel.store.progress("chris").open == ("t1-1", "t1-2", "t1-3", "t1-4")
    assert not panel.store.claim("dora")  # Anna's booklet lacks no vote
    ben_again = ben.get("/")
    assert "went to another judge" in ben_again.text
    assert 'href="https://panel.test/partial"' in ben_again.text


def test_after_a_crowd_every_task_has_one_judge_and_every_judge_the_checks(panel):
    """Each leaves after one more pair, as far as the pairs last."""
    for number in range(20):
        browser = panel.visit("judge", f"j{number}")
        judge(panel, browser, most=99 if number > 3 else 1)
        panel.clock.at += 1000
    votes = Counter(row.task for row in panel.store.responses() if row.task not in panel.study.checks)
    assert votes == {task.id: 1 for task in panel.study.tasks if task.id not in panel.study.checks}
    finished = [name for name, row in admin_rows(panel).items() if row["to do"] == "approve"]
    checks = Counter(row.judge for row in panel.store.responses() if row.task in panel.study.checks)
    assert finished
    assert all(checks[name] == 2 for name in finished)


def test_who_comes_when_all_is_lent_waits_and_gets_the_first_place_that_becomes_free(panel):
    first, second = panel.visit("judge", "anna"), panel.visit("judge", "ben")
    first.begin(), second.begin()
    late = come(panel)
    page = late.begin()
    assert page.url.path == "/wait"
    assert "It waits 15 minutes at most" in page.text
    assert '<meta http-equiv="refresh"' in page.text
    assert "1 judge waiting" not in panel.visit("admin").get("/admin").text
    stopping = first.post("/withdraw", data={"token": token_of(first.get("/withdraw")), "keep": "yes"})
    assert "You have stopped" in stopping.text
    assert f'href="{BACK}"' in stopping.text
    assert "Comparison 1 of 5" in late.get("/wait").text
    assert panel.store.waiting(PATIENCE) == 0


def test_nobody_waits_longer_than_stated(panel):
    panel.visit("judge", "anna").begin(), panel.visit("judge", "ben").begin()
    late = come(panel)
    assert "15 minutes" in late.begin().text
    panel.clock.at += 61
    assert "14 minutes" in late.get("/wait").text
    for name in ("anna", "ben"):
        panel.store.renew(name)
    panel.clock.at += PATIENCE - 61
    panel.store.renew("anna"), panel.store.renew("ben")
    page = late.get("/wait").text
    assert "Nothing left to judge" in page
    assert f'href="{BACK}"' in page
    assert panel.store.waiting(PATIENCE) == 0


def test_nobody_waits_where_nothing_can_become_free(panel):
    for name in ("anna", "ben"):
        judge(panel, panel.visit("judge", name))
    assert "Nothing left to judge" in come(panel).begin().text
    assert admin_rows(panel)[f"guest:{PID}"]["why"] == "began, has no place"


def test_who_has_not_begun_waits_for_nothing(panel):
    browser = panel.visit("judge", "anna")
    assert browser.get("/wait").url.path == "/"
    assert panel.store.loans() == []


@pytest.mark.parametrize("pid", [PID.upper(), PID[:-1], PID + "0", "{{%PROLIFIC_PID%}}", ""])
def test_a_participant_of_another_shape_is_refused_with_a_sentence(panel, pid):
    """As a guest, nobody could pay them."""
    page = panel.browser().get(panel.link("everyone") + f"?PROLIFIC_PID={pid}")
    assert page.status_code == 401
    assert "open the study from the panel again" in page.text


def test_names_of_parameters_have_any_case_and_without_an_id_nobody_from_a_panel_gets_in(panel):
    panel.browser().get(panel.link("everyone") + f"?prolific_pid={PID}&Session_Id=51")
    assert [(person.judge, person.session) for person in panel.store.people.all()] == [(f"guest:{PID}", "51")]
    for query in (f"PROLIFIC_ID={PID}", "SESSION_ID=51", "study_id=2"):
        assert panel.browser().get(panel.link("everyone") + f"?{query}").status_code == 401


def test_who_closed_the_waiting_page_waits_no_longer_than_stated(panel):
    panel.visit("judge", "anna").begin(), panel.visit("judge", "ben").begin()
    come(panel).begin()
    assert panel.store.waiting(PATIENCE) == 1
    panel.clock.at += PATIENCE
    assert panel.store.waiting(PATIENCE) == 0


def test_who_fails_checks_is_rejected_only_once_they_are_done(app_of):
    study = make_study(texts=[TEXTS[3], TEXTS[3], *TEXTS[:3]])
    app = app_of(study, key=make_key(study, checks=dict.fromkeys((0, 1), ("identical", "none"))))
    browser = come(app)
    for most, action, reason in ((4, "wait", "4 of 5 saved; failed 2 of 2 checks"), (1, "reject, or pay in part", "")):
        judge(app, browser, most=most, careless=True)
        row = admin_rows(app)[f"guest:{PID}"]
        assert (row["to do"], row["why"]) == (action, reason or "failed 2 of 2 checks; 5 saved")


def test_nobody_waits_for_a_closed_study(panel):
    judge(panel, come(panel), most=3)
    come(panel, "0" * 24).begin()
    panel.store.set_state("closed")
    told = {name: (row["to do"], row["why"]) for name, row in admin_rows(panel).items()}
    assert told[f"guest:{PID}"] == ("pay in part", "3 of 5 saved, then the study closed")
    assert told[f"guest:{'0' * 24}"] == ("nothing", "0 of 5 saved, then the study closed")


def test_checks_stop_only_whom_the_analysis_will_exclude():
    """Of 5 checks 2 may fail: who failed the first two may still be kept."""
    study = make_study(texts=TEXTS[:1] + [TEXTS[3]] * 5)
    key = make_key(study, checks=dict.fromkeys(range(1, 6), ("identical", "none")))
    settings = AnalysisSettings(rules=ExclusionRules(max_failed=0.4))
    tasks = [task.id for task in study.booklets[0][1:]]
    failed = [given("anna", task, dict.fromkeys(("focus", "overall"), "left"), "", 1.0) for task in tasks]
    assert [fails(study, key, failed[:number], settings.rules) for number in (1, 2, 3)] == [False, False, True]


def test_the_owner_reads_what_to_do_with_every_submission_and_why(panel):
    numbers = [f"{number:024x}" for number in range(5)]
    done, left, fails, _, stopped = (come(panel, pid, session=f"{5}{pid[1:]}") for pid in numbers)
    judge(panel, done)
    end = judge(panel, fails, careless=True)
    judge(panel, left, most=1)
    panel.clock.at += 1000
    judge(panel, stopped, most=2)
    stopped.post("/withdraw", data={"token": token_of(stopped.get("/withdraw")), "keep": "yes"})
    assert "too many of yours differ" in end.text
    assert "https://panel.test/partial" in end.text
    rows = {name.removeprefix("guest:"): row for name, row in admin_rows(panel).items()}
    told = [(rows[pid]["to do"], rows[pid]["why"]) for pid in numbers]
    assert told == [
        ("approve", "5 saved"),
        ("pay in part", "1 saved, then inactive"),
        ("reject, or pay in part", "failed 2 of 2 checks; 5 saved"),
        ("nothing", "came, did not begin"),
        ("pay in part", "2 saved, then stopped"),
    ]
    assert rows[numbers[0]]["session"] == f"5{numbers[0][1:]}"
    assert rows[numbers[0]]["panel_study"] == "2" * 24
    page = panel.visit("admin").get("/admin").text
    for text in (f"session 5{numbers[0][1:]}", "failed 2 of 2 checks", "pay in part"):
        assert text in page


def test_the_owner_reads_who_answered_fewer_checks_than_the_rule_needs(app_of):
    study, key = secret_study()
    app = app_of(study, key=key, settings=AnalysisSettings(rules=ExclusionRules(min_checks=3)))
    judge(app, come(app))
    assert admin_rows(app)[f"guest:{PID}"]["why"] == "5 saved; only 2 checks"


def test_who_fails_the_checks_is_stopped_and_another_judges_the_whole_booklet(panel):
    anna = panel.visit("judge", "anna")
    judge(panel, anna, careless=True)
    assert panel.store.people.barred("anna") == "failed checks"
    panel.store.claim("ben")
    assert panel.store.progress("ben").open == ("t0-0", "t0-1", "t0-2", "t0-3", "t0-4")
    judge(panel, panel.visit("judge", "ben"))
    assert panel.store.progress("ben").stage == "finished"
    assert "<dd>5</dd><dd>of 10" in panel.visit("admin").get("/admin").text


def test_checks_stop_nobody_unless_asked_and_by_the_rules_of_the_plan(app_of):
    (study, key), lax = secret_study(), AnalysisSettings("focus", ExclusionRules(max_failed=1.0))
    for options in ({}, {"key": key}, {"key": key, "stop_failing": True, "settings": lax}):
        app = app_of(study, **options)
        assert "Thank you" in judge(app, app.visit("judge", "anna"), careless=True).text


def settle(app, name, action):
    admin = app.visit("admin")
    page = admin.get("/admin")
    return admin.post("/admin/judge", data={"token": token_of(page), "judge": name, "action": action})


def test_the_owner_releases_bans_and_admits_on_the_page(panel):
    judge(panel, panel.visit("judge", "anna"), most=1)
    judge(panel, panel.visit("judge", "ben"), most=1)
    settle(panel, "anna", "release")
    assert panel.store.progress("anna").stage == "lost"
    assert "1 of 1" not in panel.visit("admin").get("/admin").text  # of a booklet of 5
    settle(panel, "ben", "ban")
    assert panel.store.people.barred("ben") == "banned"
    settle(panel, "ben", "admit")
    assert panel.store.people.barred("ben") == ""
    assert settle(panel, "ben", "reward").status_code == 403


def test_stalled_places_are_told(panel):
    judge(panel, panel.visit("judge", "anna"), most=1)
    assert "stalled" not in panel.visit("admin").get("/admin").text
    panel.clock.at += 1000
    page = panel.visit("admin").get("/admin").text
    assert "1 place stalled: anna" in page
    assert "fails a check by preferring one of two equal summaries, or by preferring shuffled words." in page
    panel.store.set_state("closed")
    assert "stalled" not in panel.visit("admin").get("/admin").text  # nobody comes any more


def test_who_returns_with_saved_answers_is_told_what_follows(panel):
    anna = panel.visit("judge", "anna")
    judge(panel, anna, most=2)
    page = anna.get("/").text
    assert "2 of 5 comparisons saved" in page
    assert "What is saved counts" in page
    assert "Your saved comparisons are kept: 2." in anna.get("/withdraw").text
