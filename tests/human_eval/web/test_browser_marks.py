"""Marking errors in a real browser: keyboard alone on a desk, touch on a phone, the server stopped on the way."""

import pytest
from judges import Judge, collected, served, stopping
from ports import free_port
from served import make_key, make_study

from human_eval.collection.database import read_database
from human_eval.criteria import MARKING
from human_eval.files import write_study
from human_eval.statistics.analysis import analyse
from human_eval.statistics.errors import ALL
from human_eval.statistics.settings import AnalysisSettings
from human_eval.votes.unblind import unblind

WRONG = "The \U0001f600 storm took three roofs."  # a code point that JavaScript counts as two characters
GOOD = "A storm took one roof."
STORM = ["Tab", "ArrowRight", "Shift+ArrowRight", "1"]  # the emoji and "storm", as hallucinated


@pytest.fixture
def study(tmp_path):
    made = make_study(texts=[(WRONG, GOOD)] * 3, marking=MARKING, criteria=())
    write_study(tmp_path, made)
    return made


def by_keys(page, wrong_first):
    """Mark two words of the wrong summary and something missing, by keyboard alone."""
    page.focus("#article-text")
    for key in [*([] if wrong_first else ["Tab"]), *STORM, "5"]:
        page.keyboard.press(key)
    assert page.locator(".word.marked").count() == 2
    assert page.locator(".marks li").count() == 2
    page.keyboard.press("0")  # all marked; now the button has the focus
    with page.expect_navigation():
        page.keyboard.press("Enter")


def by_touch(page, wrong_first):
    """Mark three words of the wrong summary with a finger."""
    words = page.locator(f"[data-place='{0 if wrong_first else 1}'] .word")
    words.nth(3).tap()
    words.nth(5).tap()
    page.evaluate("scrollTo(0, 0)")
    assert page.eval_on_selector(".kinds", "e => e.getBoundingClientRect().bottom <= innerHeight")  # beside the words
    page.tap("[data-category=wrong-entity]")
    assert page.locator(".word.marked").count() == 3
    page.tap("label:has([name=marks-done])")
    with page.expect_navigation():
        page.tap("form#answers button[type=submit]")


@pytest.mark.slow
def test_a_study_of_marks_on_a_desk_and_a_phone_outlives_every_kind_of_stop(study, tmp_path, desk, phone):
    phone.set_viewport_size({"width": 390, "height": 500})
    judges = []
    for server, stop in stopping(tmp_path):
        for page, name in ((desk, "judge-1"), (phone, "judge-2")):
            judges.append(Judge(page, server.judges[name], None))
            judges[-1].begin()
        if stop == "SIGKILL":
            assert desk.locator(".word.marked").count() == 1  # half an answer outlives the server
            desk.focus(".word.marked")
            desk.keyboard.press("Delete")
        by_keys(desk, wrong_first=True)
        by_touch(phone, wrong_first=False)
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
        if stop == "SIGTERM":
            desk.focus(".word")
            desk.keyboard.press("3")
    assert "Thank you" in desk.inner_text("h1")
    assert "Thank you" in phone.inner_text("h1")
    assert [judge.errors for judge in judges] == [[]] * 6
    responses = collected(tmp_path, study)
    answers = {row.judge: row.answers["errors"] for row in responses}
    assert answers == {"judge-1": "A:omitted A:4-11:hallucinated", "judge-2": "B:12-29:wrong-entity"}
    assert (WRONG[4:11], WRONG[12:29]) == ("\U0001f600 storm", "took three roofs.")
    analysis = analyse(unblind(study, make_key(study), responses), AnalysisSettings(resamples=50))
    rates = {(row.system, row.category): row.rate.value for row in analysis.errors.rates}
    assert rates["alpha-system", ALL] == pytest.approx(100 * 1.5 / 6)
    assert rates["beta-system", ALL] == 0


@pytest.mark.slow
def test_the_words_of_a_mark_are_shown_whatever_ends_a_line(tmp_path, desk):
    text = "One\r\nline.\r\rTwo \U0001f600\r\nwrong words."
    made = make_study(texts=[(text, GOOD)], marking=MARKING, criteria=())
    write_study(tmp_path, made)
    with served(tmp_path, free_port()) as server:
        judge = Judge(desk, server.judges["judge-1"], None)
        judge.begin()
        words = desk.locator("[data-place='0'] .word")
        words.nth(3).click()
        words.nth(4).click()
        desk.click("[data-category=hallucinated]")
        assert desk.locator(".marks li").text_content() == "1 Not in the article: \U0001f600\nwrong ×"
        desk.click("text=I have marked all errors")
        with desk.expect_navigation():
            desk.click("form#answers button[type=submit]")
        server.stop()
    (found,) = read_database(tmp_path / "judging.sqlite", made)
    assert found.answers == {"errors": "A:16-24:hallucinated"}
    assert text[16:24] == "\U0001f600\r\nwrong"
    assert judge.errors == []


@pytest.mark.slow
def test_marks_by_mouse_are_changed_removed_and_shown_again(study, tmp_path, desk):
    page = desk
    with served(tmp_path, free_port()) as server:
        judge = Judge(page, server.judges["judge-1"], None)
        judge.begin()
        page.click("form#answers button[type=submit]")  # not yet: the browser asks to confirm
        assert page.url.endswith("/item")
        words = page.locator("[data-place='0'] .word")
        words.nth(0).click()
        words.nth(2).click()
        page.click("[data-category=hallucinated]")
        words.nth(4).click()
        page.click("[data-category=ungrammatical]")
        page.locator(".marks button").first.click()  # removes the first
        page.click("text=I have marked all errors")
        with page.expect_navigation():
            page.click("form#answers button[type=submit]")
        with page.expect_navigation():
            page.keyboard.press("u")
        assert page.title().startswith("Change comparison 1")
        assert page.locator(".word.marked").all_inner_texts() == ["three"]
        assert page.is_checked("[name=marks-done]")
        page.locator(".marks button").click()
        with page.expect_navigation():
            page.click("form#answers button[type=submit]")
        server.stop()
    (found,) = read_database(tmp_path / "judging.sqlite", study)
    assert found.answers == {"errors": "none"}
    assert judge.errors == []
