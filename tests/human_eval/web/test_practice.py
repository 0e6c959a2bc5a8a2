"""The training round: feedback, pass mark, attempts, and a kind end for who fails."""

import json

import pytest
from served import TRAINING, make_key, make_study, token_of

from human_eval.collection.practice import (
    PracticeAnswer,
    TrainingCounts,
    counts,
    practice_file,
    read_practice,
    read_practice_database,
    status,
    write_practice,
)
from human_eval.collection.responses import write_responses
from human_eval.criteria import MARKING, standard
from human_eval.files import write_key, write_study
from human_eval.interface import read_interface
from human_eval.report.findings import material
from human_eval.report.warnings import warnings
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import AnalysisSettings
from human_eval.study import PracticeTask, Training
from human_eval.votes.unblind import read_votes

RIGHT = [("left", "left"), ("none", "none")]  # focus is not known in the first task
WRONG = [("left", "right"), ("none", "right")]  # 1 of 3
BACK = "https://example.org/back"


@pytest.fixture
def app(app_of):
    return app_of(make_study(training=TRAINING), return_url="https://panel.test/elsewhere", not_qualified_url=BACK)


def practise(browser, given):
    """Answer the practice tasks; the pages of feedback."""
    seen = []
    for number, chosen in enumerate(given):
        page = browser.get(
            "/practice" if number or "Practice 1" in browser.get("/practice").text else "/practice/again"
        )
        assert page.url.path in ("/practice", "/practice/again")
        seen.append(browser.say(page, *chosen, to="/practice").text)
    return seen


def test_who_passes_judges_and_nothing_practised_is_a_judgment(app, anna):
    assert "you may try 2 times" in anna.get("/").text
    assert "Practice 1 of 2" in anna.begin().text
    assert app.store.loans() == []  # no booklet is bound yet
    first, second = practise(anna, RIGHT)
    assert "All of your answers are right" in first
    assert "B repeats itself." in first
    assert "All of your answers are right" in second
    passed = anna.get("/practice")
    assert "3 of 3 answers are right" in passed.text
    assert "Comparison 1 of 3" in anna.post("/start", data={"token": token_of(passed)}).text
    assert app.store.responses() == []
    assert [row.right for row in app.store.practice.answers()] == [1, 2]


def test_no_way_round_the_training(app, anna):
    anna.begin()
    for path in ("/item", "/last", "/practice/again"):
        assert "Comparison" not in anna.get(path).url.path
    assert anna.begin().url.path == "/practice"
    assert app.store.loans() == []
    assert app.visit("judge", "ben").get("/practice").url.path == "/"  # not enrolled


def test_who_fails_may_try_again_and_is_then_sent_back_kindly(app, anna):
    anna.begin()
    wrong = practise(anna, WRONG)
    assert "1 of 2 answers are right" in wrong[1]
    assert "No difference" in wrong[1]
    assert "attempts left: 1" in anna.get("/practice").text
    assert anna.begin().url.path == "/practice"
    practise(anna, WRONG)
    end = anna.get("/practice")
    assert end.url.path == "/"
    assert "happens to many careful readers" in end.text
    assert BACK in end.text
    assert app.store.people.barred("anna") == "not qualified"
    assert app.store.practice.status("anna").outcome == "failed"
    app.store.people.admit("anna")  # the owner may let them judge all the same
    assert anna.begin().url.path == "/item"


def test_who_passes_the_second_attempt_judges(app, anna):
    anna.begin()
    practise(anna, WRONG)
    practise(anna, RIGHT)
    now = app.store.practice.status("anna")
    assert (now.outcome, now.attempt, now.right, now.known) == ("passed", 1, 3, 3)


def test_the_first_answer_counts_and_an_incomplete_one_is_asked_again(app, anna):
    task = anna.begin()
    assert "Unanswered ones are marked" in anna.say(task, "left", to="/practice").text
    anna.say(task, "left", "right", to="/practice")
    anna.say(task, "left", "left", to="/practice")  # after the feedback
    assert [row.right for row in app.store.practice.answers()] == [0]


def test_who_withdraws_leaves_no_practice(app, anna):
    anna.begin()
    practise(anna, RIGHT[:1])
    app.store.people.bar("anna", "withdrew")
    assert app.store.practice.answers() == []


def test_pages_of_the_training_are_translated(app_of):
    app = app_of(make_study(training=TRAINING, interface=read_interface("de")))
    browser = app.visit("judge", "anna")
    pages = [browser.get("/").text, browser.begin().text]
    pages += practise_german(browser)
    for text in pages:
        assert [english for english in app.study.interface.texts if len(english) > 5 and f">{english}<" in text] == []


def practise_german(browser):
    pages = []
    for chosen in WRONG:
        page = browser.get("/practice")
        pages += [page.text, browser.say(page, *chosen, to="/practice").text]
    return [*pages, browser.get("/practice").text]


def test_an_attempt_is_passed_at_the_mark():
    rows = [
        PracticeAnswer("anna", 0, "practice-1", {}, 0, 1, 1.0, ""),
        PracticeAnswer("anna", 0, "practice-2", {}, 2, 2, 1.0, ""),
    ]
    assert status(TRAINING, rows).outcome == "passed"  # 2 of 3 at .6
    assert status(TRAINING, rows[:1]).open == ("practice-2",)
    assert counts(TRAINING, rows, ["anna", "ben"]) == TrainingCounts(1, 1, 0, ("ben",))


def test_the_card_says_who_trained_and_the_analysis_has_judgments_alone(app, tmp_path, anna):
    anna.begin()
    practise(anna, RIGHT)
    anna.begin()
    while (item := anna.get("/item")).url.path == "/item":
        anna.say(item, "left", "left")
    other = app.visit("judge", "ben")
    other.begin()
    for _ in range(2):
        practise(other, WRONG)
    assert "2 judges trained, 1 passed, 1 failed" in app.visit("admin").get("/admin").text
    write_study(tmp_path, app.study)
    write_key(tmp_path / "key.json", make_key(app.study))
    judgments = tmp_path / "judgments.jsonl"
    write_responses(judgments, app.store.responses())
    votes = read_votes(tmp_path, judgments, tmp_path)
    assert any("not known" in note for note in votes.notes)
    found = read_practice_database(app.store._database._path, app.study)
    write_practice(practice_file(judgments), app.study, [*found, *found])
    assert read_practice(practice_file(judgments), app.study) == found
    assert len(practice_file(judgments).read_text().splitlines()) == 6
    assert {json.loads(line)["right"] for line in practice_file(judgments).open()} == {0, 1, 2}
    analysis = analyse(read_votes(tmp_path, judgments, tmp_path), AnalysisSettings(resamples=50))
    assert len(analysis.votes.rows) == 3 * 2
    assert any("2 judges trained, 1 passed, 1 failed" in line for line in material(analysis))
    assert not any("did not pass" in line for line in warnings(analysis))


def test_marked_errors_are_practised_and_told_in_words(app_of):
    errors = {"errors": ("B:0-3:hallucinated",)}
    tasks = (PracticeTask("The article.", "It is good.", "bad bad", errors),)
    app = app_of(make_study(training=Training(tasks, 1.0, 2), marking=MARKING, criteria=()))
    browser = app.visit("judge", "anna")
    page = browser.begin()
    wrong = {"token": token_of(page), "marks": "A:omitted", "marks-done": "yes"}
    told = browser.post("/practice", data=wrong).text
    assert "0 of 1 answers are right" in told
    assert "Your answer: A: Something important is missing." in told
    assert "Right: B: Not in the article “bad”." in told
    page = browser.get("/practice/again")
    right = {"token": token_of(page), "marks": "B:0-7:hallucinated", "marks-done": "yes"}
    assert "All of your answers are right" in browser.post("/practice", data=right).text


def test_best_and_worst_are_practised(app_of):
    task = PracticeTask("The article.", "Good.", "bad bad", {"overall": ("A B",)}, more=("Fair.",))
    asked = standard("best-worst", 3).criteria[-1:]
    app = app_of(make_study(training=Training((task,)), criteria=asked))
    page = app.visit("judge", "anna").begin()
    assert "Fair." in page.text
    browser = app.visit("judge", "anna")
    given = {"token": token_of(page), "answer-0_best": "C", "answer-0_worst": "B"}
    told = browser.post("/practice", data=given).text
    assert "Your answer: Best C, Worst B." in told
    assert "Right: Best A, Worst B." in told


def test_who_has_enrolled_and_trains_can_withdraw(anna):
    assert 'href="/withdraw"' not in anna.get("/").text
    anna.begin()
    assert 'href="/withdraw"' in anna.get("/").text
