"""Draw the pictures of the judging app in the documentation, from a study on simulated stories.

python scripts/studies/screenshots.py --out docs/pictures
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from judges import Judge, browser, served
from PIL import Image
from ports import free_port

from human_eval.criteria import StudyWording
from human_eval.design.build import StudyDesign, build
from human_eval.design.outputs import align
from human_eval.files import write_key, write_study
from rlsum.records import Output
from rlsum.simulation.stories import stories

CARELESS = 1  # a judge whose failed checks show
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder of the pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        systems = write(folder)
        with served(folder, free_port(), "--key", folder / "key.json") as server, browser() as chrome:
            for number, link in enumerate(list(server.judges.values())[:-1]):
                work(chrome, link, systems, number)
            draw(chrome, list(server.judges.values())[-1], server.admin, options.out)


def write(folder: Path) -> dict[str, str]:
    """A study of 12 stories and 4 judges. Returns which system wrote what."""
    outputs = []
    for story in stories(11, "test", 12):
        source, reference = readable(story.article), readable(story.highlights)
        lead = readable(story.article[:4])
        outputs.append(("first.jsonl", Output(story.id, source, (reference,), reference, "model-1")))
        outputs.append(("second.jsonl", Output(story.id, source, (reference,), lead, "model-2")))
    study, key = build(
        align(outputs), StudyDesign(items=12, judges=4, booklet=12), StudyWording(title="News summaries"), seed=2
    )
    write_study(folder, study)
    write_key(folder / "key.json", key)
    return {output.candidate: output.system for _, output in outputs}


def readable(sentences: tuple[str, ...]) -> str:
    """Tokens as a newspaper prints them, in one paragraph."""
    text = " ".join(sentence[:1].upper() + sentence[1:] for sentence in sentences)
    return re.sub(r" ([.,;:!?])", r"\1", text)


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


def draw(chrome, link: str, admin: str, out: Path) -> None:
    """Every page once: desk, phone, dark."""

    def opened(size: dict[str, int], address: str, dark: bool = False, phone: bool = False):
        scheme = "dark" if dark else "light"
        context = chrome.new_context(viewport=size, color_scheme=scheme, is_mobile=phone, has_touch=phone)
        page = context.new_page()
        page.goto(address)
        return page

    def take(page, name: str, whole: bool = False) -> None:
        page.wait_for_timeout(400)  # until colours have changed
        path = out / f"human-eval-{name}.png"
        # Of few colours, as a page is: a third of the size.
        Image.open(io.BytesIO(page.screenshot(full_page=whole))).convert("RGB").quantize(128).save(path, optimize=True)
        print(path)

    page = opened(DESK, link)
    take(page, "start", whole=True)
    judge = Judge(page, link, lambda left, right: ["left", "none", "right", "left"])
    judge.begin()
    for _ in range(3):
        judge.by_keyboard()
    page.keyboard.press("1")
    page.keyboard.press("0")
    take(page, "item")
    page.keyboard.press("/")
    page.keyboard.type("the")
    page.keyboard.press("Enter")
    take(page, "search")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    take(page, "keys")
    dark = opened(DESK, link, dark=True)
    Judge(dark, link, None).begin()
    dark.keyboard.press("1")
    dark.keyboard.press("0")
    take(dark, "dark")
    phone = opened(PHONE, link, phone=True)
    Judge(phone, link, None).begin()
    phone.tap("label:has(input[name=answer-0][value=left])")
    phone.evaluate("scrollTo(0, 0)")
    take(phone, "phone", whole=True)
    phone_dark = opened(PHONE, link, dark=True, phone=True)
    Judge(phone_dark, link, None).begin()
    take(phone_dark, "phone-dark")
    desk = opened({"width": 1280, "height": 1000}, admin)
    take(desk, "admin", whole=True)
    desk.click("button[value=closed]")
    desk.wait_for_load_state()
    take(desk, "admin-closed", whole=True)


if __name__ == "__main__":
    main()
