"""A complete study in a real browser: build, serve, scripted judges with known preferences, collect, analyse.

python scripts/studies/complete.py baseline.jsonl better.jsonl --items 100 --judges 3 --out runs/study

The judges are programs that know which system wrote each summary and choose the second system's with given
probabilities. The results of the analysis are printed with these probabilities, which the server does not know.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from judges import Judge, browser, served
from ports import free_port

from rlsum.records import read_outputs

# Criterion -> probability of the second system, and of no difference; the rest is the first system's.
PLANTED = {"non-redundancy": (0.65, 0.20), "coherence": (0.40, 0.20), "focus": (0.50, 0.20), "overall": (0.42, 0.16)}
CARELESS = 1  # judges who answer at random, checks too


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outputs", nargs=2, type=Path, help="outputs files of two systems, one in each")
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--judges", type=int, default=3, help="of each item")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where everything goes; must be new")
    options = parser.parse_args()

    study, key = options.out / "study", options.out / "key.json"
    build = ["build", *options.outputs, "-o", study, "--key", key, "--items", options.items, "--judges", options.judges]
    rlsum(*build, "--seed", options.seed, "--identical", 2, "--shuffled", 2)
    judge_all(study, written_by(options.outputs), options.seed)
    judgments = options.out / "judgments.jsonl"
    rlsum("collect", study, study / "judging.sqlite", "-o", judgments)
    rlsum("analyse", study, judgments, "--key", key, "-o", options.out / "verdict")
    results = json.loads((options.out / "verdict" / "results.json").read_text(encoding="utf-8"))
    compare(results, read_outputs(options.outputs[1])[0].system)


def rlsum(*arguments: object) -> None:
    print("\n$ rlsum human-eval", *arguments, flush=True)
    subprocess.run([sys.executable, "-m", "rlsum", "human-eval", *map(str, arguments)], check=True)


def written_by(paths: list[Path]) -> dict[str, int]:
    """Text, as a browser gives it back -> 0 for the first system, 1 for the second."""
    return {shown(output.candidate): place for place, path in enumerate(paths) for output in read_outputs(path)}


def shown(text: str) -> str:
    return " ".join(text.split())


def judge_all(study: Path, systems: dict[str, int], seed: int) -> None:
    """Every judge goes through a booklet, by keyboard or by mouse."""
    begun = time.perf_counter()
    with served(study, free_port()) as server, browser() as chrome:
        for number, (name, link) in enumerate(server.judges.items()):
            page = chrome.new_context(viewport={"width": 1280, "height": 800}).new_page()
            careless = number >= len(server.judges) - CARELESS
            judge = Judge(page, link, chooser(systems, f"{seed} {name}", careless))
            judge.begin()
            while judge.on_item():
                judge.by_mouse() if number % 2 else judge.by_keyboard()
            assert page.inner_text("h1") == "Thank you", page.inner_text("main")
            assert not judge.errors, judge.errors
            page.context.close()
            print(f"{name}: {time.perf_counter() - begun:.0f} s", flush=True)
        server.stop()


def chooser(systems: dict[str, int], seed: str, careless: bool):
    """A judge's taste. The same two texts get the same answer whichever is left, unless the judge is careless."""
    free = random.Random(seed)

    def choose(left: str, right: str) -> list[str]:
        left, right = shown(left), shown(right)
        if careless:
            return [free.choice(("left", "none", "right")) for _ in PLANTED]
        if left == right:
            return ["none"] * len(PLANTED)
        if left not in systems or right not in systems:  # shuffled words are nobody's summary
            return ["left" if left in systems else "right"] * len(PLANTED)
        taste = random.Random(" ".join([seed, *sorted((left, right))]))
        second = "left" if systems[left] == 1 else "right"
        first = "right" if second == "left" else "left"
        drawn = [taste.random() for _ in PLANTED]
        return [
            second if value < wins else "none" if value < wins + ties else first
            for value, (wins, ties) in zip(drawn, PLANTED.values(), strict=True)
        ]

    return choose


def compare(results: dict, second: str) -> None:
    """What was planted beside what was found: the second system's share of votes, a tie being half a vote."""
    print(f"\n{'criterion':16}{'planted':>8}{'found':>8}   95% interval")
    missed = []
    for preference in results["preferences"]:
        wins, ties = PLANTED[preference["criterion"]]
        planted, half = wins + ties / 2, preference["ties_half"]
        share, low, high = half["share"], half["low"], half["high"]
        if preference["pair"][0] == second:
            share, low, high = 1 - share, 1 - high, 1 - low
        print(f"{preference['criterion']:16}{planted:8.3f}{share:8.3f}   {low:.3f} to {high:.3f}")
        if not low <= planted <= high:
            missed.append(preference["criterion"])
    for excluded in results["excluded"]:
        print(f"left out: {excluded['judge']}, {excluded['reason']}")
    for sentence in results["findings"]:
        print(sentence)
    if missed:
        raise SystemExit(f"outside the interval: {', '.join(missed)}")


if __name__ == "__main__":
    main()
