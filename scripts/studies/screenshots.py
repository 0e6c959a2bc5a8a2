"""Draw the pictures of the judging app in the documentation, from studies on invented news, and of a verdict card.

rlsum human-eval import-judgments zhang2023:zhang2023_pairwise.json.gz -o zhang2023 --primary overall
python scripts/studies/screenshots.py --card zhang2023/verdict.html --out docs/pictures

Scripted judges answer at once, so that the times on the admin page are drawn.
"""

from __future__ import annotations

import argparse
import io
import random
import sqlite3
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from judges import Judge, browser, served
from PIL import Image
from ports import free_port

from human_eval.criteria import MARKING, MARKING_INSTRUCTIONS, MARKING_TITLE, StudyWording, standard
from human_eval.design.build import build
from human_eval.design.design import StudyDesign
from human_eval.design.outputs import align
from human_eval.files import save
from human_eval.study import PracticeTask, Training
from rlsum.records import Output

CARELESS = 1  # a judge whose failed checks show
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
LINES = {
    "model-1": None,
    "model-2": slice(4),
    "model-3": slice(-3, None),
    "model-4": slice(2, 6),
}  # None: the reference
RATED = standard("likert-5", 4)
# Articles between empty lines: a summary, then a sentence a line.
NEWS = [block.splitlines() for block in (Path(__file__).parent / "news.txt").read_text("utf-8").strip().split("\n\n")]
ARTICLE, RIGHT = " ".join(NEWS[0][1:]), NEWS[0][0]
WRONG = "Three people were hurt in a storm in Leeds, the fire service said. The ferry ferry does not sail."
MARKS = (("Not in the article", 0, 3), ("Wrong person", 8, 8), ("Not good English", 14, 15))  # first and last word
PAIR = PracticeTask(
    ARTICLE, RIGHT, WRONG, {"overall": ("left",), "focus": ("left", "none")}, "The article says that nobody was hurt."
)
ERRORS = PracticeTask(ARTICLE, RIGHT, WRONG, {"errors": ("B:0-22:hallucinated",)})
KINDS = {  # picture -> wording and systems
    "likert": (replace(RATED, criteria=RATED.criteria[2:]), 3),
    "ranking": (replace(standard("ranking", 4), criteria=standard("ranking", 4).criteria[3:]), 4),
    "best-worst": (replace(standard("best-worst", 4), criteria=standard("best-worst", 4).criteria[3:]), 4),
    "marks": (StudyWording(MARKING_TITLE, MARKING_INSTRUCTIONS, (), training=Training((ERRORS,)), marking=MARKING), 2),
    "training": (StudyWording(training=Training((PAIR,))), 2),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder of the pictures")
    parser.add_argument("--card", type=Path, metavar="VERDICT.html", help="also draw this card of `analyse`")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as name, browser() as chrome:
        folder = Path(name) / "pairs"
        systems = write(folder, StudyWording(title="News summaries"), 2, StudyDesign(items=8, judges=4, booklet=8))
        with served(folder, free_port(), "--key", folder / "key.json") as server:
            for number, link in enumerate(list(server.judges.values())[:-1]):
                work(chrome, link, systems, number)
            draw(chrome, list(server.judges.values())[-1], server.admin, options.out, folder / "judging.sqlite")
        for kind, (wording, count) in KINDS.items():
            folder = Path(name) / kind
            write(folder, wording, count, StudyDesign(items=6, judges=2, booklet=6, identical=0, shuffled=0))
            with served(folder, free_port()) as server:
                draw_kind(chrome, kind, list(server.judges.values()), options.out)
        if options.card:
            page = opened(chrome, {"width": 1240, "height": 1760}, options.card.absolute().as_uri())
            take(page, options.out, "verdict")


def write(folder: Path, wording: StudyWording, count: int, design: StudyDesign) -> dict[str, str]:
    """A study of stories and the first ``count`` systems. Returns which system wrote what."""
    outputs = []
    for number, (reference, *sentences) in enumerate(NEWS[: design.items]):
        for system, lines in list(LINES.items())[:count]:
            text = reference if lines is None else " ".join(sentences[lines])
            outputs.append((system, Output(f"news-{number}", " ".join(sentences), (reference,), text, system)))
    study, key = build(align(outputs), design, wording, seed=2)
    save(folder, study, folder / "key.json", key)
    return {output.candidate: output.system for _, output in outputs}


def draw_times(database: Path) -> None:
    """A time that a person needs for each answer."""
    generator, connection = random.Random(0), sqlite3.connect(database)
    for (row,) in connection.execute("SELECT rowid FROM answers").fetchall():
        connection.execute("UPDATE answers SET seconds = ? WHERE rowid = ?", (generator.lognormvariate(4.9, 0.4), row))
    connection.commit()
    connection.close()


def work(chrome, link: str, systems: dict[str, str], number: int) -> None:
    """A judge goes through a booklet, so that the admin's page has something to show."""

    def choose(left: str, right: str) -> list[str]:
        careless = number == CARELESS
        taste = random.Random(" ".join([str(number), *sorted((left, right)), left * careless]))
        if left == right and not careless:
            return ["none"] * 4
        better = "left" if systems.get(left, "") == "model-1" or right not in systems else "right"
        worse = "right" if better == "left" else "left"
        if right not in systems or left not in systems:  # shuffled words
            return [worse if careless else better] * 4
        return [better if taste.random() < 0.7 else taste.choice(("none", worse)) for _ in range(4)]

    page = chrome.new_page()
    judge = Judge(page, link, choose)
    judge.begin()
    while judge.on_item():
        judge.by_keyboard()
    page.close()


def opened(chrome, size: dict[str, int], address: str, dark: bool = False):
    """A page in a window of a size; narrow ones are phones."""
    phone = size["width"] < 700
    scheme = "dark" if dark else "light"
    page = chrome.new_context(viewport=size, color_scheme=scheme, is_mobile=phone, has_touch=phone).new_page()
    page.set_default_timeout(300_000)
    page.goto(address)
    return page


def take(page, out: Path, name: str, whole: bool = False) -> None:
    """A picture of a page, of few colours, as it is: a third of the size."""
    page.wait_for_timeout(400)  # until colours have changed
    path = out / f"human-eval-{name}.png"
    Image.open(io.BytesIO(page.screenshot(full_page=whole))).convert("RGB").quantize(128).save(path, optimize=True)
    print(path)


def draw(chrome, link: str, admin: str, out: Path, database: Path) -> None:
    """Every page once: desk, phone, dark."""

    page = opened(chrome, DESK, link)
    take(page, out, "start", whole=True)
    judge = Judge(page, link, lambda left, right: ["left", "none", "right", "left"])
    judge.begin()
    for _ in range(3):
        judge.by_keyboard()
    page.keyboard.press("1")
    page.keyboard.press("0")
    take(page, out, "item")
    page.keyboard.press("/")
    page.keyboard.type("the")
    page.keyboard.press("Enter")
    take(page, out, "search")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    take(page, out, "keys")
    dark = opened(chrome, DESK, link, dark=True)
    Judge(dark, link, None).begin()
    dark.keyboard.press("1")
    dark.keyboard.press("0")
    take(dark, out, "dark")
    phone = opened(chrome, PHONE, link)
    Judge(phone, link, None).begin()
    phone.tap("label:has(input[name=answer-0][value=left])")
    phone.evaluate("scrollTo(0, 0)")
    take(phone, out, "phone", whole=True)
    phone_dark = opened(chrome, PHONE, link, dark=True)
    Judge(phone_dark, link, None).begin()
    take(phone_dark, out, "phone-dark")
    draw_times(database)
    desk = opened(chrome, {"width": 1280, "height": 1000}, admin)
    take(desk, out, "admin", whole=True)
    desk.click("button[value=closed]")
    desk.wait_for_load_state()
    take(desk, out, "admin-closed", whole=True)


def draw_kind(chrome, kind: str, links: list[str], out: Path) -> None:
    """A task of a kind of answers, half answered, on a desk and on a phone; of a training its feedback."""
    for size, ending, link in zip((DESK, PHONE), ("", "-phone"), links, strict=True):
        page = opened(chrome, size, link)
        Judge(page, link, None).begin()
        if kind == "training":
            take(page, out, f"practice{ending}", whole=True)
            for number, side in enumerate(("left", "right", "left", "right")):
                page.check(f"[name=answer-{number}][value={side}]", force=True)
            with page.expect_navigation():
                page.click("form#answers button[type=submit]")
        elif kind == "marks":
            words = page.locator("[data-place='1'] .word")
            for error, first, last in MARKS:
                words.nth(first).click()
                words.nth(last).click()
                page.click(f".kinds button:has-text('{error}')")
        else:
            choices = iter((1, 3, 0, 2))
            for side in page.locator(".part").all()[:3]:
                side.locator("label").nth(next(choices)).click()
        page.evaluate("scrollTo(0, 0)")
        take(page, out, f"{kind}{ending}", whole=True)
        page.context.close()


if __name__ == "__main__":
    main()
