"""A real browser: scripted judges go through a whole study by keyboard and by mouse, on a desk and on a phone."""

import re
import signal

import pytest
from judges import KEYS, Judge, collected, served, stopping
from ports import free_port
from served import make_study

from human_eval.collection.database import read_database
from human_eval.criteria import StudyWording
from human_eval.design.build import build
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import align
from human_eval.files import read_key, read_study, write_key, write_study
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import AnalysisSettings
from human_eval.study import AboutJudge, Enrolment
from human_eval.votes.unblind import unblind
from rlsum.records import Output
from rlsum.simulation.stories import stories

GOOD, BAD = "good-system", "bad-system"
CONSENT = Enrolment("You may stop at any time.", (AboutJudge("reads", "Do you read news?", ("daily", "rarely")),))


def outputs(count):
    """Reference summaries, and the lead of the article."""
    for story in stories(5, "test", count):
        source, reference = "\n".join(story.article), "\n".join(story.highlights)
        yield "good.jsonl", Output(story.id, source, (reference,), reference, GOOD)
        yield "bad.jsonl", Output(story.id, source, (reference,), "\n".join(story.article[:2]), BAD)


@pytest.fixture
def folder(tmp_path):
    """A built study of 4 articles and 2 judges, with checks."""
    path = tmp_path / "study"
    path.mkdir()
    design = StudyDesign(items=4, judges=2, booklet=4, identical=1, shuffled=1, swapped=1)
    study, key = build(align(list(outputs(4))), design, StudyWording(), seed=1)
    write_study(path, study)
    write_key(path / "key.json", key)
    return path


@pytest.fixture
def page(desk):
    return desk


def prefers(good):
    """Chooses what ``good`` holds; no difference between equal texts; what reads well of shuffled words."""

    def choose(left, right):
        if left == right:
            side = "none"
        elif sorted(left.split()) == sorted(right.split()):
            side = "left" if left in good or left in prefers.leads else "right"
        else:
            side = "left" if left in good else "right"
        return [side] * 4

    return choose


@pytest.fixture
def choose():
    rows = list(outputs(4))
    prefers.leads = {row.candidate for _, row in rows}
    return prefers({row.candidate for _, row in rows if row.system == GOOD})


def test_two_judges_do_a_whole_study_by_keyboard_and_by_mouse(folder, page, browser, choose):
    study, key = read_study(folder), read_key(folder)
    with served(folder, free_port(), "--key", folder / "key.json") as server:
        by_keys = Judge(page, server.judges["judge-1"], choose)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_url("**/item")
        while by_keys.on_item():
            by_keys.by_keyboard()
        other = browser.new_context().new_page()
        by_mouse = Judge(other, server.judges["judge-2"], choose)
        by_mouse.begin()
        while by_mouse.on_item():
            by_mouse.by_mouse()
        assert "Thank you" in page.inner_text("h1")
        assert "Thank you" in other.inner_text("h1")
        other.goto(server.admin)
        assert other.locator(".state.warn").count() == 0
        assert other.locator("text=0 of 3").count() == 2
        other.context.close()
        assert by_keys.errors == by_mouse.errors == []
        found = read_database(folder / "judging.sqlite", study)
        assert server.stop() == 0
    assert sorted(each.task for each in found) == sorted(study.by_id)
    for each in found:
        secret = key.tasks[each.task]
        if secret.kind == "pair":
            assert set(each.answers.values()) == {"left" if secret.left == GOOD else "right"}


@pytest.mark.slow
def test_a_study_on_a_desk_and_a_phone_outlives_every_kind_of_stop(tmp_path, desk, phone, choose):
    """One judge uses the keyboard alone, one a finger; every answer that was acknowledged is in the analysis."""
    wording = StudyWording(enrolment=CONSENT)
    study, key = build(align(list(outputs(4))), StudyDesign(items=4, judges=2, booklet=4), wording, seed=1)
    write_study(tmp_path, study)
    judges = []
    for server, stop in stopping(tmp_path):
        if judges:
            for judge, name in zip(judges, server.judges, strict=True):
                judge.page.goto(server.judges[name])
                judge.begin()
        else:
            judges = [Judge(desk, server.judges["judge-1"], choose), Judge(phone, server.judges["judge-2"], choose)]
            for key_ in ("Tab", "Space", "Tab", "d", "Tab"):
                desk.keyboard.press(key_)
            with desk.expect_navigation():
                desk.keyboard.press("Enter")
            phone.tap("input[name=agree]")
            phone.select_option("select", "rarely")
            with phone.expect_navigation():
                phone.tap("button[type=submit]")
        while judges[0].on_item():  # booklets are equally long
            judges[0].by_keyboard()
            judges[1].by_touch()
            if stop:
                break
        if stop:
            desk.keyboard.press(KEYS[judges[0].sides()[0]])  # half an answer, which the browser keeps
    assert "Thank you" in desk.inner_text("h1")
    assert "Thank you" in phone.inner_text("h1")
    analysis = analyse(unblind(study, key, collected(tmp_path, study)), AnalysisSettings(resamples=100))
    pairs = [task for task in key.tasks.values() if task.kind == "pair"]
    assert len(analysis.kept.rows) == len(pairs) * len(study.criteria)
    for outcome in analysis.outcomes:
        assert outcome.half.share == (1.0 if outcome.pair[1] == GOOD else 0.0)


@pytest.mark.slow
def test_undo_search_article_comment_and_help_by_keyboard(folder, page, choose):
    with served(folder, free_port()) as server:
        judge = Judge(page, server.judges["judge-1"], choose)
        judge.begin()
        page.keyboard.press("c")
        page.keyboard.type("1 b 0")  # letters in a comment are letters
        page.keyboard.press("Escape")
        assert page.locator("input:checked:not([type=checkbox])").count() == 0
        judge.by_keyboard()
        with page.expect_navigation():
            page.keyboard.press("u")
        assert page.title().startswith("Change comparison 1")
        assert page.input_value("#comment-field") == "1 b 0"
        assert page.locator(".question input:checked").count() == 4
        for _ in range(4):
            page.keyboard.press("0")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.title().startswith("Comparison 2")
        page.keyboard.press("/")
        page.keyboard.type("THE")
        found = page.locator("#article-text mark").count()
        assert found == len(re.findall("the", page.inner_text("#article-text"), re.I)) > 1
        page.keyboard.press("Enter")
        assert page.inner_text("#search-count") == f"2 / {found}"
        page.keyboard.press("Shift+Enter")
        assert page.inner_text("#search-count") == f"1 / {found}"
        page.keyboard.press("Escape")
        assert page.locator("#article-text mark").count() == 0
        page.keyboard.press("t")
        assert not page.is_visible("#article-text")
        page.keyboard.press("?")
        assert page.is_visible("#keys")
        page.click("#keys-on")
        page.keyboard.press("Escape")
        page.keyboard.press("1")  # switched off
        assert page.locator(".question input:checked").count() == 0
        for _ in range(120):  # as it was left; what one page wrote, a browser under load hands to the next page late
            page.reload()
            if not page.is_visible("#article-text") and not page.is_checked("#keys-on"):
                break
            page.wait_for_timeout(250)
        assert not page.is_visible("#article-text")
        page.keyboard.press("1")
        assert page.locator(".question input:checked").count() == 0
        assert judge.errors == []


def test_half_an_answer_outlives_a_reload_and_a_server_that_stops(folder, page, choose):
    port = free_port()
    with served(folder, port) as server:
        judge = Judge(page, server.judges["judge-1"], choose)
        judge.begin()
        page.keyboard.press("2")
        page.keyboard.press("0")
        page.keyboard.press("c")
        page.keyboard.type("half")
        assert server.stop(signal.SIGTERM) == 0
    with served(folder, port):
        page.reload()
        checked = page.locator(".question input:checked").evaluate_all("all => all.map((e) => e.value)")
        assert checked == ["right", "none"]
        assert page.input_value("#comment-field") == "half"
        page.keyboard.press("Escape")
        judge.by_keyboard()
        assert page.title().startswith("Comparison 2")
        assert page.locator(".question input:checked").count() == 0
        assert page.input_value("#comment-field") == ""
    study = read_study(folder)
    (found,) = read_database(folder / "judging.sqlite", study)
    assert (found.task, found.comment) == (study.booklets[0][0].id, "half")


@pytest.mark.slow
def test_without_scripts_the_form_works(folder, browser, choose):
    page = browser.new_page(java_script_enabled=False)
    with served(folder, free_port()) as server:
        judge = Judge(page, server.judges["judge-1"], choose)
        judge.begin()
        assert page.is_visible("#article-text")
        assert not page.is_visible("#search")
        while judge.on_item():
            judge.by_mouse()
        assert "Thank you" in page.inner_text("h1")
    page.close()


@pytest.mark.slow
def test_a_phone_shows_everything_without_scrolling_sideways(folder, browser, choose):
    page = browser.new_page(viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True)
    with served(folder, free_port()) as server:
        judge = Judge(page, server.judges["judge-1"], choose)
        width = "document.documentElement.scrollWidth"
        assert page.evaluate(width) <= 360
        judge.begin()
        assert page.evaluate(width) <= 360
        assert page.is_visible("#article-text")  # to be read first
        whole = "document.querySelector('#article-text')"
        assert page.evaluate(f"{whole}.scrollHeight <= {whole}.clientHeight + 1")  # and not in a box that cuts it
        page.tap("#article summary")
        assert not page.is_visible("#article-text")
        page.tap("#article summary")
        small = page.eval_on_selector_all(
            "label:has(input[type=radio]), button[type=submit]",
            "all => all.filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect())"
            ".filter((r) => r.height < 44 || r.width < 44).length",
        )
        assert small == 0  # targets that a finger hits
        judge.by_mouse()
        assert page.title().startswith("Comparison 2")
        page.goto(server.admin)
        assert page.evaluate(width) <= 360
    page.close()


CONTRAST = """
() => {
  const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const ground = (e) => e
    ? over(parse(getComputedStyle(e).backgroundColor), ground(e.parentElement)) : [255, 255, 255, 1];
  const light = (c) => {
    const [r, g, b] = c.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const poor = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.matches(".visually-hidden")) continue;
    const back = ground(e), front = over(parse(getComputedStyle(e).color), back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.push(`${e.tagName}.${e.className} ${e.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return poor;
}
"""

NAMELESS = """
() => [...document.querySelectorAll(
    "button, a, input:not([type=hidden]), textarea, progress, [role=region], [role=radiogroup]")]
  .filter((e) => {
    const by = (e.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id));
    const told = [e.getAttribute("aria-label"), ...by.map((l) => l && l.textContent), e.textContent,
      ...[...(e.labels || [])].map((l) => l.textContent)];
    return !told.some((t) => t && t.trim());
  }).map((e) => e.outerHTML.slice(0, 80))
"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_names_landmarks_and_headings(folder, browser, choose, scheme):
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 800})
    with served(folder, free_port()) as server:
        judge = Judge(page, server.judges["judge-1"], choose)
        seen = [page.evaluate(CONTRAST)]
        judge.begin()
        judge.by_keyboard()
        page.keyboard.press("1")
        for _ in range(400):  # colours fade
            if page.evaluate("document.getAnimations().length") == 0:
                break
            page.wait_for_timeout(50)
        seen.append(page.evaluate(CONTRAST))
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate("document.documentElement.lang") == "en"
        assert page.locator("main").count() == page.locator("h1").count() == page.locator("header").count() == 1
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
        assert len(ids) == len(set(ids))
        page.keyboard.press("?")
        seen.append(page.evaluate(CONTRAST))
        page.goto(server.admin)
        seen.append(page.evaluate(CONTRAST))
        assert page.evaluate(NAMELESS) == []
    assert seen == [[], [], [], []]
    page.close()


@pytest.mark.slow
def test_everything_can_be_reached_by_tab_and_focus_is_seen(folder, page, choose):
    with served(folder, free_port()) as server:
        Judge(page, server.judges["judge-1"], choose).begin()
        reached = []
        name = "(e => e.id || e.name || e.className)(document.activeElement)"
        outlined = "(e => [e, e.nextElementSibling || e].map((o) => getComputedStyle(o).outlineStyle))"
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.append(page.evaluate(name))
            if page.evaluate("document.activeElement !== document.body"):
                assert "solid" in page.evaluate(f"{outlined}(document.activeElement)"), reached[-1]
        assert reached[0] == "skip"
        for name in ("keys-button", "search-field", "article-text", "answer-0", "answer-3"):
            assert name in reached


@pytest.mark.slow
def test_hostile_texts_run_nothing_and_stay_in_their_place(tmp_path, page):
    attack = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\u202e reversed \n"
    hostile = attack + "x" * 100_000
    folder = tmp_path / "study"
    folder.mkdir()
    write_study(folder, make_study(texts=[(hostile, "مرحبا بالعالم")], article=hostile * 2, title=hostile[:60]))
    with served(folder, free_port()) as server:
        judge = Judge(page, server.judges["judge-1"], lambda left, right: ["left", "none"])
        judge.begin()
        page.keyboard.press("/")
        page.keyboard.type("x")
        assert page.inner_text("#search-count") == "1 / 2000+"
        page.keyboard.press("Escape")
        assert page.evaluate("window.hacked") is None
        assert page.locator("#article-text *").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        assert page.locator("form#answers button[type=submit]").bounding_box()["y"] < 800  # not pushed away
        assert page.eval_on_selector(".summary:nth-child(2) .text", "e => getComputedStyle(e).direction") == "rtl"
        judge.by_keyboard()
        assert "Thank you" in page.inner_text("h1")
        assert judge.errors == []
