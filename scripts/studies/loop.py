"""The loop from votes to a reward, to a model, to votes, where what judges prefer is known.

    python scripts/studies/loop.py --out runs/loop

Judges are programs that want an article's facts in few words: a text is worth the number of the article's facts that it
keeps, minus PRICE a word, with an error of the judge. In a first study they compare two samples of a summarizer for
each article. From some of their votes a reward is learned, on which the summarizer is trained, and two controls: the
start trained on by likelihood alone, and on shuffled rewards. In a second study the same judges compare the outputs of
all of these, on new articles, with the start's. Commands do everything but answer.
"""

from __future__ import annotations

import argparse
import json
import random
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from encoders import WORDS, save_tiny

from human_eval.collection.responses import Response, write_responses
from human_eval.files import read_study
from rlsum.cli import main as command
from rlsum.records import read_outputs

FILLERS = ("the", "a", ".")
FACTS, PRICE, ERROR, UNSEEN = 5, 0.3, 0.5, 0.3  # UNSEEN: a difference in worth that a judge does not see
LONGEST = 12  # words of a summary
JUDGES = 2  # of each pair
CONTROLS = {"none": {"gamma": 0.0}, "shuffled": {"control": "shuffled"}}


def main(arguments: Sequence[str] | None = None) -> list[tuple[str, float, float]]:
    """Returns (system, its share against the start, p for judges like these) of the second study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--votes", type=int, nargs="+", default=[50, 200, 1000], help="to learn from, by reward")
    parser.add_argument("--items", type=int, default=100, help="articles of the second study")
    parser.add_argument("--steps", type=int, default=100, help="updates on a reward")
    parser.add_argument("--start-steps", type=int, default=800, help="updates of the start, by likelihood")
    parser.add_argument("--epochs", type=int, default=20, help="of a reward, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where everything goes; must be new")
    options = parser.parse_args(arguments)
    folder, begun = options.out, time.perf_counter()
    sizes = {"train": 800, "valid": 60, "first": max(options.votes) * 11 // (10 * JUDGES), "second": options.items}
    for number, (name, size) in enumerate(sizes.items()):
        write_corpus(folder / f"{name}.jsonl", size, options.seed * 10 + number)

    objective: dict = {"kind": "mle"}
    train(folder, "start", options.start_steps, 3e-3, options.seed, objective)
    draws = [
        generate(folder, "start", "first", f"draw-{seed}", "--method", "sample", "--seed", seed) for seed in (1, 2)
    ]
    verdict = study(folder / "study-1", draws, options.seed)
    save_tiny(folder / "encoder", positions=32, layers=1)
    learned = [learn(folder, verdict, count, options) for count in options.votes]
    objective = {"kind": "mixed", "gamma": 0.9, "samples": 4}
    arms = {f"votes-{n}": {"reward": f"learned(path={path})"} for n, path in zip(options.votes, learned, strict=True)}
    arms |= {name: {"reward": f"learned(path={learned[-1]})", **changes} for name, changes in CONTROLS.items()}
    for name, changes in arms.items():
        train(folder, name, options.steps, 1e-3, options.seed, {**objective, **changes}, "--init", folder / "start")
    written = {name: generate(folder, name, "second", name, "--beam", 1) for name in ("start", *arms)}
    candidates = {name: [row.candidate for row in read_outputs(path)] for name, path in written.items()}
    verdicts = {
        name: study(folder / f"study-2-{name}", [written["start"], written[name]], options.seed)
        for name in arms
        if candidates[name] != candidates["start"]
    }
    shown = report(folder, learned, written, verdicts)
    print(f"{time.perf_counter() - begun:.0f} s")
    return shown


def rlsum(*words: object) -> None:
    line = [str(word) for word in words]
    print("\n$ rlsum", shlex.join(line), flush=True)
    sys.argv = ["rlsum", *line]
    try:
        command()
    except SystemExit as ended:
        if ended.code:
            raise


def write_corpus(path: Path, size: int, seed: int) -> None:
    """Articles of facts among fillers. A reference leaves words out: it lacks facts, and has words without one."""
    draw = random.Random(seed)
    rows = []
    for number in range(size):
        words = [*draw.sample(WORDS, FACTS), *draw.choices(FILLERS, k=6)]
        draw.shuffle(words)
        kept = [word for word in words if draw.random() < 0.5] or words[:1]
        rows.append({"id": f"{path.stem}-{number}", "article": " ".join(words), "highlights": " ".join(kept)})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def facts_kept(article: str, text: str) -> int:
    return len(set(text.split()) & set(article.split()) & set(WORDS))


def worth(article: str, text: str) -> float:
    """What the judges want: the article's facts, and few words."""
    return facts_kept(article, text) - PRICE * len(text.split())


def train(folder: Path, name: str, steps: int, rate: float, seed: int, objective: dict, *more: object) -> None:
    """A run; of a reward, from the start."""
    start = {"vocabulary": {"min_count": 1}, "model": {"embedding": 32, "hidden": 32, "coverage": True}}
    config = {
        "run": str(folder / name),
        "data": {"train": str(folder / "train.jsonl"), "valid": str(folder / "valid.jsonl"), "tokenizer": "whitespace",
                 "max_source": 20, "max_target": LONGEST},
        **({} if more else start),
        "objective": objective,
        "training": {"steps": steps, "batch_size": 16, "learning_rate": rate, "seed": seed, "validate_every": steps},
        "decoding": {"max_length": LONGEST},
        "metrics": ["rouge-1"],
    }  # fmt: skip
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    rlsum("train", path, *more)


def generate(folder: Path, run: str, articles: str, name: str, *how: object) -> Path:
    out = folder / f"{name}-{articles}.jsonl"
    rlsum("generate", folder / run, folder / f"{articles}.jsonl", "-o", out, "--system", name, *how)
    return out


def learn(folder: Path, verdict: Path, count: int, options: argparse.Namespace) -> Path:
    """A reward from ``count`` votes, a fifth of whose articles is held out."""
    out, metric = folder / f"learned-{count}", f"reward-model(model={folder / 'encoder'})"
    how = ("--limit", count, "--holdout", 0.2, "--epochs", options.epochs, "--patience", 8, "--batch-size", 16)
    how = (*how, "--learning-rate", 3e-3, "--seed", options.seed, "-o", out)
    rlsum("fit-metric", verdict, "--score", "overall", "--metric", metric, *how)
    return out


def study(folder: Path, outputs: Sequence[Path], seed: int) -> Path:
    """Build, judge, analyse; returns the folder of the verdict."""
    none = [word for kind in ("identical", "shuffled", "swapped") for word in (f"--{kind}", 0)]
    items = len(read_outputs(outputs[0]))
    rlsum("human-eval", "build", *outputs, "-o", folder, "--items", items, "--judges", JUDGES, "--booklet", 20,
          "--seed", seed, *none)  # fmt: skip
    made = read_study(folder)
    rows = []
    for number, booklet in enumerate(made.booklets):
        draw = random.Random(f"{seed} {folder.name} {number}")
        for task in booklet:
            article = made.articles[task.item]
            felt = worth(article, task.right) - worth(article, task.left) + draw.gauss(0, ERROR)
            choice = "none" if abs(felt) < UNSEEN else "right" if felt > 0 else "left"
            answers = {criterion.id: choice for criterion in made.criteria}
            rows.append(Response(made.id, task.id, f"judge{number}", answers, seconds=10.0))
    write_responses(folder / "judgments.jsonl", rows)
    verdict = folder.with_name(f"{folder.name}-verdict")
    rlsum("human-eval", "analyse", folder, folder / "judgments.jsonl", "--primary", "overall", "--seed", seed, "-o",
          verdict)  # fmt: skip
    return verdict


def report(
    folder: Path, learned: Sequence[Path], written: dict[str, Path], verdicts: dict[str, Path]
) -> list[tuple[str, float, float]]:
    """Print how the rewards agree with held-out votes, what the models write, and what the judges then prefer."""
    print(f"\n{'reward':34}{'accuracy':>9}{'longer':>8}{'epoch':>7}")
    for path in (way for reward in learned for way in (reward, reward / "length-controlled")):
        about = json.loads((path / "metric.json").read_text())
        accuracy, longer = (about["validation"][name]["mean"] for name in ("accuracy", "longer_accuracy"))
        print(f"{path.relative_to(folder)!s:34}{accuracy:9.3f}{longer:8.3f}{about['epoch']:7d}")
    print(
        f"\n{'system':16}{'facts':>7}{'words':>7}{'worth':>7}{'share':>8}   interval        p      p, judges like these"
    )
    shown = []
    for name, path in written.items():
        rows = read_outputs(path)
        means = [
            sum(measure(row.source, row.candidate) for row in rows) / len(rows)
            for measure in (facts_kept, lambda _, text: len(text.split()), worth)
        ]
        line = f"{name:16}" + "".join(f"{mean:7.2f}" for mean in means)
        if name in verdicts:
            results = json.loads((verdicts[name] / "results.json").read_text())
            (preference,) = (row for row in results["preferences"] if row["criterion"] == "overall")
            half, alike = preference["ties_half"], preference["judges_like_these"]["unadjusted"]
            share, ends = half["share"], (half["low"], half["high"])
            if preference["pair"][1] == "start":
                share, ends = 1 - share, (1 - ends[1], 1 - ends[0])
            p = [value if value is not None else float("nan") for value in (half["p"], alike["p"])]
            line += f"{share:8.3f}   {ends[0]:.3f} to {ends[1]:.3f}   {p[0]:.4f}   {p[1]:.4f}"
            shown.append((name, share, p[1]))
        print(line if name in (*verdicts, "start") else f"{line}   the same texts as the start's")
    return shown


if __name__ == "__main__":
    main()
