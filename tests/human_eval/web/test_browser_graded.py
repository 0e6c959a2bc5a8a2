"""A real browser: whole studies of Likert scales, rankings, strengths and best-worst, on a desk and on a phone."""

import pytest
from graded import built, seen_keys
from judges import Judge, collected, stopping

from human_eval.files import write_key, write_study
from human_eval.statistics.analysis import analyse
from human_eval.statistics.settings import AnalysisSettings
from human_eval.votes.unblind import unblind

SMALL = (
    "all => all.filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect())"
    ".filter((r) => r.height < 44 || r.width < 44).length"
)
BROKEN = "all => all.filter((e) => new Set([...e.children].map((label) => label.offsetTop)).size > 1).length"  # scales


class GradedJudge(Judge):
    """A judge who gives each part of a question the option that ``seen_keys`` names, by its key or by touch."""

    def by_keyboard(self):
        given = [part.locator("input:checked").count() for part in self.page.locator(".part").all()]
        for key in self._keys()[sum(given) :]:  # the page goes on at the first open part
            self.page.keyboard.press(key)
        self._saved(lambda: self.page.keyboard.press("Enter"))

    def by_touch(self):
        for part, key in zip(self.page.locator(".part").all(), self._keys(), strict=True):
            part.locator(f"label:has(input[data-keys^='{key}'])").tap()
        self._saved(lambda: self.page.tap("form#answers button[type=submit]"))

    def begin_to_answer(self):
        self.page.keyboard.press(self._keys()[0])

    def _keys(self):
        texts = self.page.locator(".summary .text").all_inner_texts()
        questions = self.page.locator(".question").count()
        return [key for _ in range(questions) for key in self.choose(texts)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["likert-7", "ranking", "strength-bad", "best-worst"])
def test_a_graded_study_outlives_every_kind_of_stop(tmp_path, desk, phone, name):
    """One judge uses keys alone, one a finger; every answer that was acknowledged is in the analysis."""
    study, key, worth = built(name)
    write_study(tmp_path, study)
    write_key(tmp_path / "key.json", key)
    judges, width = [], "document.documentElement.scrollWidth"
    for server, stop in stopping(tmp_path):
        links = [server.judges["judge-1"], server.judges["judge-2"]]
        if judges:
            for judge, link in zip(judges, links, strict=True):
                judge.page.goto(link)
        else:
            pages = zip((desk, phone), links, strict=True)
            judges = [GradedJudge(page, link, seen_keys(name, worth)) for page, link in pages]
        desk.keyboard.press("Tab")
        with desk.expect_navigation():
            desk.keyboard.press("Enter")
        judges[1].begin()
        assert (phone.evaluate(width), desk.evaluate(width)) == (390, 1280)
        assert phone.eval_on_selector_all("label:has(input[type=radio])", SMALL) == 0
        for page in (desk, phone):
            assert page.eval_on_selector_all(".several .choices", BROKEN) == 0
        while judges[0].on_item() or judges[1].on_item():
            if judges[0].on_item():
                judges[0].by_keyboard()
            if judges[1].on_item():
                judges[1].by_touch()
            if stop:
                break
        if stop:
            judges[0].begin_to_answer()  # which the browser keeps
    assert "Thank you" in desk.inner_text("h1")
    assert "Thank you" in phone.inner_text("h1")
    assert judges[0].errors == judges[1].errors == []
    votes = unblind(study, key, collected(tmp_path, study))
    assert not any(check.failed for check in votes.checks)
    for outcome in analyse(votes, AnalysisSettings(resamples=100)).outcomes:
        first, second = (worth.of[system] for system in outcome.pair)
        assert (outcome.half.share > 0.5) == (second > first)


def test_the_newer_of_best_and_worst_counts_and_the_server_refuses_both(app_of):
    from served import token_of

    study, _, _ = built("best-worst")
    app = app_of(study)
    judge = app.visit("judge", "anna")
    start = judge.get("/")
    page = judge.post("/start", data={"token": token_of(start)})
    fields = {f"answer-{number}_{part}": "A" for number in range(len(study.criteria)) for part in ("best", "worst")}
    refused = judge.post("/item", data={**fields, "token": token_of(page)})
    assert refused.status_code == 422
    assert "Best and worst must differ." in refused.text
    right = fields | {name: "B" for name in fields if name.endswith("worst")}
    assert judge.post("/item", data={**right, "token": token_of(refused)}).status_code == 200
    (kept,) = app.store.responses()
    assert set(kept.answers.values()) == {"A B"}
    again = judge.get("/last")
    assert again.text.count(" checked") == 1 + 2 * len(study.criteria)  # and the switch of the keys
