"""A judge's way through a booklet, and what happens off the way."""

import re
from dataclasses import replace

import pytest
from served import answers, make_study, token_of

from human_eval.criteria import MARKING
from human_eval.exports.booklets import page as offline_page
from human_eval.exports.platforms import mturk
from human_eval.interface import read_interface
from human_eval.minutes import minutes
from human_eval.study import AboutJudge, Criterion, Enrolment
from human_eval.web.access import FORM_LIFE
from human_eval.web.judging import device

PAID = "If you are paid for this study, the people who run it decide by what you saved."


@pytest.fixture
def item(anna):
    """The first item of hers."""
    return anna.begin()


def work(browser):
    """Answer all open items."""
    while (item := browser.get("/item")).url.path == "/item":
        browser.say(item, "left", "none")


def test_a_judge_goes_through_a_booklet(app, anna, item):
    for number in (1, 2, 3):
        assert f"Comparison {number} of 3" in item.text
        item = anna.say(item, "left", "none", comment=" fine\r\nso ")
        assert item.status_code == 200
    assert "Thank you" in item.text
    assert item.url.path == "/"
    found = app.store.responses()
    assert [each.task for each in found] == ["t0-0", "t0-1", "t0-2"]
    assert found[0].answers == {"focus": "left", "overall": "none"}
    assert found[0].comment == "fine\nso"


def test_answers_have_the_same_order_in_all_pages(app):
    judged = app.visit("judge", "anna").begin().text
    pages = {"answer-1": judged, "overall": offline_page(app.study, 0) + mturk(app.study, [0])["template.html"]}
    for name, text in pages.items():
        values = re.findall(f'name="{name}" value="([a-z]+)"', text)
        assert values == ["left", "none", "right"] * (len(values) // 3) != []


def test_pages_in_another_language_have_no_english_left(app_of):
    app = app_of(make_study(interface=read_interface("de")))
    browser = app.visit("judge", "anna")
    start = browser.get("/").text
    assert '<html lang="de">' in start
    item = browser.begin()
    wrong = browser.say(item, "left")
    assert "Offene Fragen sind markiert." in wrong.text
    for text in (start, item.text, browser.get("/withdraw").text, wrong.text):
        left = [english for english in app.study.interface.texts if len(english) > 5 and f">{english}<" in text]
        assert left == []


def test_too_many_marks_are_refused_with_a_reason_and_stay_on_the_page(app_of):
    browser = app_of(make_study(marking=MARKING, criteria=())).visit("judge", "anna")
    marks = " ".join(f"A:0-{end}:{kind.id}" for end in range(1, 61) for kind in MARKING.categories[:4])
    page = browser.post("/item", data={"token": token_of(browser.begin()), "marks": marks, "marks-done": "yes"})
    assert page.status_code == 422
    assert "Please mark at most 200 errors. Remove some, then save again." in page.text
    assert f'value="{marks}"' in page.text
    assert 'value="yes" data-keys="0" required checked' in page.text


def test_closing_and_coming_back_goes_on_where_it_was(app, anna, item):
    anna.say(item, "left", "none")
    again = app.visit("judge", "anna")
    start = again.get("/")
    assert "1 of 3 comparisons saved" in start.text
    assert "Continue with comparison 2" in start.text
    assert "Comparison 2 of 3" in again.get("/item").text


def test_seconds_are_those_since_the_first_showing_however_often_the_page_is_loaded(app, anna, item):
    app.clock.at += 40
    item = anna.get("/item")
    app.clock.at += 2
    anna.say(item, "left", "none")
    assert app.store.responses()[0].seconds == 42
    anna.get("/last")
    app.clock.at += 10
    last = anna.get("/last")
    anna.say(last, "right", "none")
    assert app.store.responses()[0].seconds == 52


def test_a_clock_set_back_makes_no_negative_time(app, anna, item):
    app.clock.at -= 42
    anna.say(item, "left", "none")
    assert app.store.responses()[0].seconds == 0


def test_undo_shows_the_last_item_as_answered_and_replaces_it(app, anna, item):
    assert "/last" not in item.text
    second = anna.say(item, "left", "none", comment="hm")
    assert "/last" in second.text
    last = anna.get("/last")
    assert "Change comparison 1 of 3" in last.text
    assert 'value="left" required checked' in last.text
    assert ">\nhm</textarea>" in last.text
    after = anna.say(last, "right", "none")
    assert "Comparison 2 of 3" in after.text
    (found,) = app.store.responses()
    assert app.store.latest("anna", found.task) == (found, 1)
    assert found.answers["focus"] == "right"


def test_a_double_post_counts_once_and_answers_alike(app, anna):
    form = answers("left", "none", token=token_of(anna.begin()))
    first, second = anna.post("/item", data=form), anna.post("/item", data=form)
    assert first.status_code == second.status_code == 200
    assert "Comparison 2 of 3" in second.text
    assert len(app.store.responses()) == 1


def test_a_second_window_with_other_answers_is_told_so(app, anna):
    token = token_of(anna.begin())
    anna.post("/item", data=answers("left", "none", token=token))
    other = anna.post("/item", data=answers("right", "none", token=token))
    assert other.status_code == 409
    assert "already answered" in other.text
    assert app.store.responses()[0].answers["focus"] == "left"


@pytest.mark.parametrize("given", [(), ("left",), ("left", "sideways"), ("", "none")])
def test_missing_answers_are_asked_for_and_the_given_ones_kept(app, anna, given):
    reply = anna.say(anna.begin(), *given, comment="kept")
    assert reply.status_code == 422
    assert 'role="alert"' in reply.text
    assert "kept</textarea>" in reply.text
    assert reply.text.count("aria-invalid") == 2 - sum(each in ("left", "right", "none") for each in given)
    assert reply.text.count(" checked") == sum(each in ("left", "right", "none") for each in given) + 1  # keys-on
    assert app.store.responses() == []


def test_a_page_open_for_long_is_shown_again_with_its_answers(app):
    browser = app.visit("judge", "anna", seconds=10 * FORM_LIFE)
    item = browser.begin()
    app.clock.at += FORM_LIFE + 1
    old = browser.say(item, "left", "none")
    assert old.status_code == 409
    assert "open for long" in old.text
    assert app.store.responses() == []
    browser.say(old, "left", "none")
    assert len(app.store.responses()) == 1


def test_who_comes_when_all_is_lent_is_told(app):
    for judge in ("anna", "ben"):
        app.visit("judge", judge).begin()
    assert "Please wait for a place" in app.visit("judge", "chris").begin().text


def test_who_lost_the_booklet_is_told_that_the_answer_was_not_recorded(app, anna, item):
    app.visit("judge", "ben").begin()
    app.clock.at += 101
    app.visit("judge", "chris").begin()
    reply = anna.say(item, "left", "none")
    assert reply.status_code == 409
    assert "not recorded" in reply.text
    assert app.store.responses() == []
    assert "Your work went to another judge" in (lost := anna.get("/").text)
    assert PAID in lost


def test_paused_takes_the_item_on_the_screen_and_shows_no_other(app, anna, item):
    app.store.set_state("paused")
    after = anna.say(item, "left", "none")
    assert "paused" in after.text
    assert len(app.store.responses()) == 1


def test_closed_takes_nothing_and_says_so(app, anna, item):
    app.store.set_state("closed")
    reply = anna.say(item, "left", "none")
    assert reply.status_code == 409
    assert "not recorded" in reply.text
    assert "closed" in anna.get("/item").text


def test_one_invitation_makes_a_judge_of_everyone(app):
    path = app.link("everyone")
    browser = app.browser()
    browser.get(f"{path}?PROLIFIC_PID={'5f3e' * 6}&STUDY_ID=1&SESSION_ID=2")
    browser.begin()
    unnamed = app.browser()
    unnamed.get(path)
    unnamed.begin()
    first, second = [loan.judge for loan in app.store.loans()]
    assert first == f"guest:{'5f3e' * 6}"
    assert second.startswith("guest:")
    unnamed.get(path)  # opened again, it is the same person
    assert "Comparison 1 of 3" in unnamed.get("/item").text


def test_a_participant_cannot_pass_for_an_invited_judge(app):
    app.visit("judge", "anna").begin()
    guest = app.browser()
    guest.get(app.link("everyone") + "?participant=anna")
    guest.begin()
    assert {loan.judge for loan in app.store.loans()} == {"anna", "guest:anna"}
    bad = app.browser().get(app.link("everyone") + "?participant=../../etc")
    assert bad.status_code == 401


def test_the_way_back_to_a_panel_is_shown_at_the_end(app_of):
    app = app_of(make_study(items=1), completion_url="https://panel.test/done?cc=1&x=2")
    browser = app.visit("judge", "anna")
    reply = browser.say(browser.begin(), "left", "none")
    assert 'href="https://panel.test/done?cc=1&amp;x=2"' in reply.text


def test_who_cannot_finish_gets_the_other_way_back_and_no_completion(app_of):
    app = app_of(completion_url="https://panel.test/done", return_url="https://panel.test/back")
    anna = app.visit("judge", "anna")
    item = anna.begin()
    anna.say(item, "left", "none")
    app.visit("judge", "ben").begin()
    assert 'href="https://panel.test/back"' in app.visit("judge", "chris").begin().text
    app.clock.at += 101
    app.visit("judge", "chris").begin()
    for page in (anna.get("/"), anna.get("/item")):
        assert "went to another judge" in page.text
        assert "Saved comparisons: 1." in page.text
        assert 'href="https://panel.test/back"' in page.text
        assert "panel.test/done" not in page.text
        assert "All" not in page.text


def test_who_knows_a_participants_name_sees_and_changes_nothing(app):
    path = app.link("everyone") + "?PROLIFIC_PID=" + "5f3e" * 6
    browser = app.browser()
    browser.get(path)
    browser.say(browser.begin(), "left", "none")
    other = app.browser()
    assert other.get(path).status_code == 409
    assert other.get("/last").status_code == 401
    browser.get(path)
    assert "1 of 3 comparisons saved" in browser.get("/").text


def test_a_panels_link_leaves_the_judge_of_a_browser_alone(app):
    path = app.link("everyone") + "?participant=5f3e"
    invited = app.visit("judge", "anna")
    reply = invited.get(path)
    assert "Another judge uses this browser" in reply.text
    invited.begin()
    assert [loan.judge for loan in app.store.loans()] == ["anna"]
    guest = app.browser()
    guest.get(path)
    guest.begin()
    assert guest.get(path.replace("5f3e", "6a")).status_code == 409
    work(guest)
    assert guest.get(path.replace("5f3e", "6a")).status_code == 200  # the next one in a laboratory
    assert "Begin" in guest.get("/").text


ASKED = Enrolment(
    "Nobody learns your name.\nYou may stop.",
    (AboutJudge("english", "Is English your first language?", ("yes", "no"), ("no",)), AboutJudge("age", "Age?")),
)


def enrol(browser, **form):
    return browser.post("/start", data={"token": token_of(browser.get("/")), **form})


def test_who_is_asked_begins_after_agreeing_and_answering(app_of):
    app = app_of(make_study(enrolment=ASKED), return_url="https://panel.test/back")
    browser = app.visit("judge", "anna")
    page = browser.get("/").text
    assert "Nobody learns your name." in page
    assert "Is English your first language?" in page
    wrong = enrol(browser, **{"about-0": "yes", "about-1": '"><script>'})
    assert (wrong.status_code, "tick that you agree" in wrong.text) == (422, True)
    assert "<option selected>yes" in wrong.text
    assert '"><script>' not in wrong.text
    assert enrol(browser, agree="yes", **{"about-0": "perhaps", "about-1": "3"}).status_code == 422
    assert app.store.loans() == app.store.people.all() == []
    agent = {"user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Mobile/15E148"}
    browser.headers.update(agent)
    assert enrol(browser, agree="yes", **{"about-0": "yes", "about-1": " 30 "}).url.path == "/item"
    (anna,) = app.store.people.all()
    assert (anna.about, anna.device) == ({"english": "yes", "age": "30"}, "phone")
    assert "Taking part" not in browser.get("/").text
    assert "phone" in app.visit("admin").get("/admin").text


def test_who_is_screened_out_gets_no_booklet_and_the_way_back(app_of):
    app = app_of(
        make_study(enrolment=ASKED), completion_url="https://panel.test/done", return_url="https://panel.test/back"
    )
    browser = app.visit("judge", "anna")
    page = enrol(browser, agree="yes", **{"about-0": "no", "about-1": "30"})
    for reply in (page, browser.get("/item"), browser.get("/last")):
        assert "looking for other people" in reply.text
        assert "panel.test/back" in reply.text
        assert "panel.test/done" not in reply.text
    assert app.store.loans() == []
    assert "1 screened out" in app.visit("admin").get("/admin").text


def test_who_withdraws_leaves_nothing_and_is_not_asked_again(app, anna):
    assert "/withdraw" not in anna.get("/").text
    item = anna.begin()
    anna.say(item, "left", "none", comment="mine")
    assert 'href="/withdraw"' in anna.get("/").text
    assert PAID in anna.get("/withdraw").text
    assert anna.post("/withdraw", data={}).status_code == 403
    gone = anna.post("/withdraw", data={"token": token_of(anna.get("/withdraw"))})
    assert "Your answers are deleted" in gone.text
    assert app.store.responses() == app.store.loans() == []
    late = anna.say(item, "left", "none")
    assert (late.status_code, app.store.responses()) == (409, [])
    assert "Your answers are deleted" in anna.get("/item").text


def test_a_banned_judge_reads_so(app, anna, item):
    app.store.people.bar("anna", "banned")
    assert "do not take part any more" in (banned := anna.get("/item").text)
    assert PAID in banned
    assert "banned" in app.visit("admin").get("/admin").text


@pytest.mark.parametrize(
    ("agent", "kind"),
    [
        ("", ""),
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/126.0", "computer"),
        ("Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0 Mobile Safari/537.36", "phone"),
        ("Mozilla/5.0 (Linux; Android 14; SM-X710) Chrome/126.0 Safari/537.36", "tablet"),
        ("Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) Mobile/15E148", "tablet"),
    ],
)
def test_devices_by_what_browsers_call_themselves(agent, kind):
    assert device(agent) == kind


def test_the_first_request_of_a_link_takes_no_booklet(app):
    """Mail programs open links to look at them."""
    app.visit("judge", "anna")
    assert app.store.loans() == []


def test_nothing_served_names_a_system_or_the_kind_of_an_item(app_with_key):
    app = app_with_key
    browser, seen = app.visit("judge", "anna"), []
    item = browser.begin()
    for _ in range(3):
        seen.append(browser.get("/last"))
        seen.append(item)
        item = browser.say(item, "left", "none")
    seen += [item, browser.get("/")]
    for reply in seen:
        said = reply.text + str(reply.headers)
        assert not any(word in said for word in ("alpha-system", "beta-system", "identical", "shuffled"))
    admin = app.visit("admin")
    for reply in (admin.get("/admin"), admin.get("/admin/judgments.jsonl")):
        assert "alpha-system" not in reply.text
        assert "beta-system" not in reply.text


def test_forty_rankings_of_five_summaries_are_one_form(app_of):
    asked = [Criterion(f"c{number}", f"Question {number}?", "", "ranking") for number in range(40)]
    study = make_study(booklets=1, items=1, criteria=tuple(asked))
    (task,) = study.tasks
    app = app_of(replace(study, tasks=(replace(task, more=("Third.", "Fourth.", "Fifth.")),)))
    browser = app.visit("judge", "anna")
    ranks = {f"answer-{number}_{letter}": "1" for number in range(40) for letter in "abcde"}
    browser.post("/item", data={**ranks, "token": token_of(browser.begin())})
    assert len(app.store.responses()) == 1


@pytest.mark.parametrize(("words", "told"), [(10, 2), (238, 4), (238 * 8, 25), (238 * 8 + 1, 30), (238 * 9, 30)])
def test_minutes_of_reading_and_answering(words, told):
    """Three articles, two questions each: one minute of answers."""
    study = make_study(texts=[("", "")] * 3, article="word " * words)
    assert minutes(study, study.booklets[0]) == told
