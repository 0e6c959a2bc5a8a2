import csv
import io
import json
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from graded import answer_of, built, seen_keys
from rows import table
from studies import HOSTILE, hostile_study, study

from human_eval.collection.collect import collect
from human_eval.collection.returns import read_returned
from human_eval.exports.booklets import offline, page, sheets


@pytest.fixture
def opened(browser, tmp_path):
    """Open a booklet from disk: the page. Requests to anything but the file fail the test, and so do errors."""
    contexts = []

    def open_booklet(content, **options):
        path = tmp_path / "booklet.html"
        path.write_text(content, encoding="utf-8")
        context = browser.new_context(accept_downloads=True, **options)
        context.set_default_timeout(120_000)  # of which a machine that is not busy needs nothing
        contexts.append(context)
        tab = context.new_page()
        asked, faults = [], []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        tab.goto(path.as_uri())
        tab.asked, tab.faults = asked, faults
        return tab

    yield open_booklet
    for context in contexts:
        for tab in context.pages:
            assert tab.faults == []
            assert {urlsplit(url).scheme for url in tab.asked} <= {"file", "blob"}
        context.close()


@pytest.fixture
def blind():
    return study()[0]


@pytest.fixture
def tab(opened, blind):
    """The first booklet, begun."""
    tab = opened(page(blind, 0))
    begin(tab)
    return tab


def begin(tab, judge="ann"):
    tab.get_by_label("Your name").fill(judge)
    tab.get_by_role("button", name="Begin").click()


def reopened(tab):
    """Close and open: until the page reads what it wrote, which a browser under load may hand on late."""
    kept = "JSON.stringify([state.judge, state.position, state.tasks], (key, value) => key === 'seconds' ? 0 : value)"
    written = tab.evaluate(kept)
    for wait in (1_500, *[250] * 120):
        tab.wait_for_timeout(wait)  # a page that ends at once may take what it wrote with it, which no later one has
        tab.reload()
        if tab.evaluate(kept) == written:
            return
    raise AssertionError(f"the page did not keep {written}")


def saved(tab, folder):
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="Save the file").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_a_booklet_judged_by_keys_alone_comes_back_as_judgments(opened, tmp_path, blind):
    tab = opened(page(blind, 1))
    tab.keyboard.press("Tab")
    tab.get_by_label("Your name").focus()
    tab.keyboard.type("Ann B.")
    tab.keyboard.press("Enter")
    keys = ["a", "b", "n", "a"]
    for _ in blind.booklets[1]:
        for key in keys:
            tab.keyboard.press(key)
        tab.keyboard.press("Enter")
    assert tab.get_by_role("status").inner_text() == "All done: 6 comparisons answered."
    path = saved(tab, tmp_path)
    assert path.name == f"{blind.id}-2-Ann-B.json"
    found = collect(blind, read_returned(path, blind))
    assert found.rejects == ()
    assert [response.task for response in found.responses] == [task.id for task in blind.booklets[1]]
    wanted = {"non-redundancy": "left", "coherence": "right", "focus": "none", "overall": "left"}
    for response in found.responses:
        assert response.answers == wanted
        assert (response.judge, response.origin) == ("Ann B.", "offline")
        assert response.seconds >= 0
        assert response.submitted.endswith("Z")


def test_the_texts_stand_on_the_side_the_study_says(tab, blind):
    first = blind.booklets[0][0]
    assert tab.locator("#text-A").text_content() == first.left
    assert tab.locator("#text-B").text_content() == first.right
    assert tab.locator("#article").text_content() == blind.articles[first.item]


def test_every_kind_of_line_end_begins_a_line(opened, blind):
    ended = [replace(task, left="One.\rTwo.\r\nThree.\nFour.") for task in blind.tasks]
    articles = dict.fromkeys(blind.articles, "First.\rLast.")
    tab = opened(page(replace(blind, tasks=tuple(ended), articles=articles), 0))
    begin(tab)
    assert tab.locator("#text-A").inner_text() == "One.\nTwo.\nThree.\nFour."
    assert tab.locator("#article").inner_text() == "First.\nLast."


def test_closing_and_opening_again_goes_on_where_it_was(tab, blind):
    for key in ("a", "a", "a", "a", "Enter", "b"):
        tab.keyboard.press(key)
    tab.keyboard.press("c")
    tab.keyboard.type("not sure")
    reopened(tab)
    assert tab.get_by_label("Your name").input_value() == "ann"
    tab.get_by_role("button", name="Begin").click()
    assert tab.locator("#heading").inner_text() == f"Comparison 2 of {len(blind.booklets[0])}"
    assert tab.locator("#answered").inner_text() == "1 answered"
    assert tab.locator(".question").first.get_by_label("B", exact=True).is_checked()
    assert tab.get_by_label("Comment (optional)").input_value() == "not sure"


def test_a_question_left_out_is_asked_for_and_previous_undoes(tab):
    tab.keyboard.press("a")
    tab.get_by_role("button", name="Next").click()
    assert "3 of 4 left" in tab.get_by_role("alert").first.inner_text()
    for key in ("a", "a", "a", "Enter"):
        tab.keyboard.press(key)
    assert "Comparison 2" in tab.locator("#heading").inner_text()
    tab.keyboard.press("p")
    assert "Comparison 1" in tab.locator("#heading").inner_text()
    tab.locator(".question").first.get_by_label("No difference").check()
    reopened(tab)
    tab.get_by_role("button", name="Begin").click()
    assert tab.locator(".question").first.get_by_label("No difference").is_checked()


def test_a_page_not_begun_writes_nothing_over_what_another_wrote(opened, blind):
    idle = opened(page(blind, 0))
    tab = idle.context.new_page()
    tab.goto(idle.url)
    begin(tab)
    tab.keyboard.press("a")
    for _ in range(120):
        idle.reload()
        if idle.get_by_label("Your name").input_value() == "ann":
            break
        idle.wait_for_timeout(250)
    else:
        raise AssertionError("the page that was not begun wrote over the answers")
    tab.close()


def test_letters_in_a_comment_and_switched_off_keys_answer_nothing(opened, blind):
    tab = opened(page(blind, 0))
    tab.get_by_label("Use keys").uncheck()
    begin(tab)
    tab.keyboard.press("a")
    tab.get_by_label("Comment (optional)").fill("a bad n")
    assert tab.locator("input:checked[type=radio]").count() == 0


def test_a_key_held_down_answers_one_question(tab):
    for _ in range(3):
        tab.keyboard.down("1")
    tab.keyboard.up("1")
    assert tab.locator("input:checked[type=radio]").count() == 1


@pytest.mark.parametrize("broken", ["{", "null", '{"tasks": null}', '{"tasks": {}, "position": "x"}', "3"])
def test_what_the_browser_kept_may_be_broken(opened, broken, blind):
    tab = opened(page(blind, 0))
    tab.evaluate("([name, value]) => localStorage.setItem(name, value)", [f"rlsum human-eval {blind.id} 0", broken])
    tab.reload()
    begin(tab)
    assert tab.locator("#heading").inner_text() == f"Comparison 1 of {len(blind.booklets[0])}"


def test_a_browser_that_keeps_nothing_says_so(opened, tmp_path, blind):
    tab = opened(page(blind, 0))
    tab.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('full') } }")
    begin(tab)
    assert tab.get_by_text("This browser cannot store").is_visible()
    for _ in blind.booklets[0]:
        for key in ("a", "a", "a", "a", "Enter"):
            tab.keyboard.press(key)
    found = collect(blind, read_returned(saved(tab, tmp_path), blind))
    assert len(found.responses) == len(blind.booklets[0])


def test_another_judge_on_the_same_device_begins_anew(tab):
    tab.keyboard.press("a")
    reopened(tab)
    tab.on("dialog", lambda dialog: dialog.dismiss())
    begin(tab, "bo")
    assert tab.locator("input:checked[type=radio]").count() == 0


def test_hostile_texts_stay_texts(opened):
    blind = hostile_study()
    tab = opened(page(blind, 0))
    begin(tab)
    shown = []
    for task in blind.booklets[0]:
        assert tab.locator("#text-A").evaluate("node => node.childElementCount") == 0
        shown.append(tab.locator("#article").text_content())
        for key in ("n", "n", "n", "n", "Enter"):
            tab.keyboard.press(key)
        assert shown[-1] == blind.articles[task.item]
    assert tab.title() == blind.title
    assert set(shown) == set(HOSTILE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_screen_and_targets_are_large(opened, width, scheme):
    tab = opened(page(hostile_study(), 0), viewport={"width": width, "height": 800}, color_scheme=scheme)
    begin(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    heights = tab.locator(".choices label").evaluate_all("labels => labels.map(l => l.getBoundingClientRect().height)")
    assert min(heights) >= 44
    ink, paper = tab.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    dark = [sum(map(int, color[4:-1].split(","))) < 3 * 128 for color in (ink, paper)]
    assert dark == ([True, False] if scheme == "light" else [False, True])


def test_a_page_loads_nothing_from_elsewhere_and_allows_one_script():
    content = page(study()[0], 0)
    assert "default-src &#39;none&#39;" in content
    assert " src=" not in content
    assert "href=" not in content.replace("link.href", "")


def test_a_booklet_holds_its_own_tasks_alone(blind):
    files = offline(blind, range(len(blind.booklets)))
    assert len(files) == len(blind.booklets)
    for booklet, content in zip(blind.booklets, files.values(), strict=True):
        data = json.loads(content.split('id="data">')[1].split("</script>")[0])
        assert [task["task"] for task in data["tasks"]] == [task.id for task in booklet]


def cells(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_no_cell_of_a_hostile_study_can_be_calculated():
    (text,) = sheets(hostile_study(), [0]).values()
    starts = {value.lstrip(" \u00a0\ufeff")[:1] for row in csv.reader(io.StringIO(text, newline="")) for value in row}
    assert not starts & set("=+-@\t\r")


def test_a_row_a_task_with_its_texts(blind):
    files = sheets(blind, range(len(blind.booklets)))
    assert list(files) == [f"booklet-{number:02}.csv" for number in range(1, len(blind.booklets) + 1)]
    for booklet, text in zip(blind.booklets, files.values(), strict=True):
        assert [(row["task"], row["left"], row["right"], row["article"]) for row in cells(text)] == [
            (task.id, task.left, task.right, blind.articles[task.item]) for task in booklet
        ]


@pytest.mark.parametrize("named", [99, 1])
def test_a_sheet_filled_in_comes_back_as_judgments(tmp_path, blind, named):
    """Also with the name in its first line alone."""
    rows = cells(sheets(blind, [0])["booklet-01.csv"])
    for number, row in enumerate(rows):
        row |= {"judge": "ann" * (number < named), **{criterion.id: "B" for criterion in blind.criteria}}
    found = collect(blind, read_returned(table(tmp_path / "back.csv", *rows), blind))
    assert found.rejects == ()
    assert [row.task for row in found.responses] == [task.id for task in blind.booklets[0]]
    assert {answer for row in found.responses for answer in row.answers.values()} == {"right"}


def test_a_sheet_that_nobody_filled_in_is_said_row_by_row(tmp_path, blind):
    (tmp_path / "back.csv").write_text(sheets(blind, [0])["booklet-01.csv"], encoding="utf-8")
    found = collect(blind, read_returned(tmp_path / "back.csv", blind))
    assert {reject.reason for reject in found.rejects} == {"not filled in"}
    assert len(found.rejects) == len(blind.booklets[0])


@pytest.mark.parametrize("name", ["likert-5", "ranking", "best-worst", "strength"])
def test_graded_answers_by_keys_alone_come_back_as_judgments(opened, tmp_path, name):
    blind, _, worth = built(name)
    tab = opened(page(blind, 0), viewport={"width": 360, "height": 740})
    tab.get_by_label("Your name").focus()
    tab.keyboard.type("Ann")
    tab.keyboard.press("Enter")
    choose, wanted = seen_keys(name, worth), []
    for task in blind.booklets[0]:
        assert tab.locator(".summary:visible .text").count() == len(task.texts)
        for _ in blind.criteria:
            for key in choose(task.texts):
                tab.keyboard.press(key)
        wanted.append({asked.id: answer_of(name, worth.seen(task.texts)) for asked in blind.criteria})
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360
        tab.keyboard.press("Enter")
    found = collect(blind, read_returned(saved(tab, tmp_path), blind))
    assert found.rejects == ()
    assert [response.answers for response in found.responses] == wanted


def test_offline_the_newer_of_best_and_worst_counts(opened):
    blind, _, _ = built("best-worst")
    tab = opened(page(blind, 0))
    begin(tab)
    tab.keyboard.press("1")
    tab.keyboard.press("1")
    fieldset = tab.locator(".question").first
    chosen = fieldset.locator("input:checked")
    assert chosen.count() == 1
    assert chosen.get_attribute("name").endswith("_worst")
