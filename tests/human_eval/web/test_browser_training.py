"""A study with a training round in a real browser: keyboard alone on a desk, touch on a phone, the server killed."""

import signal

import pytest
from judges import KEYS, Judge, served
from ports import free_port
from served import TRAINING, make_key, make_study

from human_eval.collection.practice import practice_file
from human_eval.files import write_key, write_study
from human_eval.report.findings import material
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import AnalysisSettings
from human_eval.votes.unblind import read_votes

RIGHT = (["none", "left"], ["none", "none"])
WRONG = (["none", "right"], ["none", "right"])


def through(page, given, act):
    """Answer the practice tasks; after each, read the feedback and go on."""
    for sides in given:
        act(sides)
        page.wait_for_url("**/practice/feedback")
        assert page.is_visible("text=not right") == (sides in WRONG)
        with page.expect_navigation():
            page.focus("#go-on")
            page.keyboard.press("Enter")


@pytest.mark.slow
def test_training_by_keyboard_and_by_touch_outlives_stops(rlsum, tmp_path, desk, phone):
    folder, port = tmp_path / "study", free_port()
    folder.mkdir()
    study = make_study(training=TRAINING)
    write_study(folder, study)
    write_key(folder / "key.json", make_key(study))

    def by_keys(sides):
        for side in sides:
            desk.keyboard.press(KEYS[side])
        with desk.expect_navigation():
            desk.keyboard.press("Enter")

    def by_touch(sides):
        for number, side in enumerate(sides):
            phone.tap(f"label:has(input[name=answer-{number}][value={side}])")
        with phone.expect_navigation():
            phone.tap("form#answers button[type=submit]")

    with served(folder, port, "--return-url", "https://example.org/back") as server:
        anna = Judge(desk, server.judges["judge-1"], lambda left, right: ["left", "left"])
        anna.begin()
        assert "Practice 1 of 2" in desk.title()
        through(desk, WRONG, by_keys)
        assert "attempts left: 1" in desk.inner_text("main")
        desk.focus("a.button")
        with desk.expect_navigation():
            desk.keyboard.press("Enter")
        through(desk, RIGHT[:1], by_keys)
        server.kill()
    with served(folder, port) as server:
        desk.goto(server.judges["judge-1"])
        anna.begin()
        assert "Practice 2 of 2" in desk.title()  # what was acknowledged is kept
        through(desk, RIGHT[1:], by_keys)
        assert "3 of 3 answers are right" in desk.inner_text("main")
        anna.begin()
        anna.by_keyboard()
        assert server.stop(signal.SIGTERM) == 0
    with served(folder, port, "--return-url", "https://example.org/back") as server:
        desk.goto(server.judges["judge-1"])
        anna.begin()
        while anna.on_item():
            anna.by_keyboard()
        ben = Judge(phone, server.judges["judge-2"], None)
        ben.begin()
        assert phone.evaluate("document.documentElement.scrollWidth") <= 390
        through(phone, WRONG, by_touch)
        phone.tap("a.button")
        phone.wait_for_url("**/again")
        through(phone, WRONG, by_touch)
        assert "happens to many careful readers" in phone.inner_text("main")
        assert phone.get_attribute("a.button", "href") == "https://example.org/back"
        server.stop()
    assert anna.errors == ben.errors == []
    judgments = tmp_path / "judgments.jsonl"
    said = rlsum("human-eval", "collect", folder, folder / "judging.sqlite", "-o", judgments)[1]
    assert "2 trained, 1 passed, 1 failed" in said
    assert len(practice_file(judgments).read_text().splitlines()) == 8
    analysis = analyse(read_votes(folder, judgments, folder), AnalysisSettings(resamples=50))
    assert len(analysis.votes.rows) == 3 * 2
    assert any("2 judges trained, 1 passed, 1 failed" in line for line in material(analysis))
