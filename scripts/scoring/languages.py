"""ROUGE-1, 2 and L (F1 x 100) of texts in several languages: now, by an earlier edition, and by independent code.

    python scripts/scoring/languages.py --files FOLDER --before EARLIER

FOLDER has the files of Hindi, Japanese, French and English that `_files` names; without it the texts below are scored
alone. EARLIER is a checkout of an earlier edition, such as one made by `git worktree add`.

The independent code cuts words by Unicode's categories alone and hands them to rouge-score, whose n-grams and
subsequences are not ours. It fails where ours differ from it by more than rounding.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unicodedata import category, name, normalize

import numpy as np
from nltk.stem.porter import PorterStemmer
from nltk.stem.snowball import SnowballStemmer
from rouge_score.rouge_scorer import RougeScorer

Pairs = list[tuple[str, str]]  # candidate and reference
VARIANTS = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}
UNSPACED = ("ja", "th", "zh")
JOINERS = ("ZERO WIDTH JOINER", "ZERO WIDTH NON-JOINER")
STEMMERS = {"ar": "arabic", "de": "german", "fr": "french"}
OPTIONS = ("", "(tokenizer=unicode, stemmer=false)")  # what an earlier edition offered
SCORE = """
import json, sys
import numpy as np
import rewards
pairs, specs = json.load(sys.stdin)
candidates, references = zip(*pairs)
scores = [rewards.from_spec(spec)(candidates, [[text] for text in references]) for spec in specs]
print(json.dumps([[float(np.nanmean(each)), int(np.isnan(each).sum())] for each in scores]))
"""

# Written for this script. A candidate, its reference.
GERMAN = [
    ("Der Bürgermeister eröffnete am 3. Oktober die neue Brücke.", "Am 3. Oktober wurde die neue Brücke eröffnet."),
    (
        "Im 19. Jahrhundert bauten die Einwohner viele Häuser.",
        "Viele Häuser der Stadt stammen aus dem 19. Jahrhundert.",
    ),
    ("Die Schüler lernen seit Jahren mehrere Sprachen.", "Schülerinnen und Schüler lernten mehr Sprachen als früher."),
    ("Der Zug fährt wegen des Sturms nicht.", "Züge fahren nicht: Sturm über dem Norden."),
]
ARABIC = [
    ("افتتح رئيس البلدية الجسر الجديد أمس.", "رئيس البلدية يفتتح جسرا جديدا في المدينة."),
    ("قال الوزير إن المدارس ستفتح أبوابها غدا.", "الوزير: المدرسة تفتح أبوابها غدا."),
    ("هَطَلَ المَطَرُ على المدينة.", "هطل المطر على المدينة بعد شهر من الجفاف."),
    ("فاز الفـــريق بالمباراة الأخيرة.", "الفريق يفوز بالمباراة."),
]
THAI = [
    ("นายกเทศมนตรีเปิดสะพานใหม่เมื่อวานนี้", "สะพานใหม่เปิดแล้วเมื่อวานนี้"),
    ("ฝนตกหนักในกรุงเทพ โรงเรียนปิด", "โรงเรียนในกรุงเทพปิดเพราะฝนตกหนัก"),
    ("ทีมชาติไทยชนะ 3 ต่อ 1", "ไทยชนะ 3-1 ในนัดสุดท้าย"),
    ("นักเรียนไปโรงเรียนทุกวัน", "ครูและนักเรียนไปโรงเรียน"),
]
CHINESE = [
    ("市长昨天为新桥揭幕。", "新桥昨天由市长揭幕。"),
    ("暴雨袭击北京，学校停课。", "北京因暴雨停课一天。"),
    ("公司2024年利润增长了3.5%。", "该公司2024年的利润增长3.5%。"),
    ("国家队在最后一场比赛中获胜。", "国家队赢得最后的比赛。"),
]
WRITTEN: dict[str, Pairs] = {"th": THAI, "ar": ARABIC, "zh": CHINESE, "de": GERMAN}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=Path, metavar="FOLDER")
    parser.add_argument("--before", type=Path, metavar="EARLIER", help="a checkout of an earlier edition")
    options = parser.parse_args()
    given = dict(_files(options.files)) if options.files else {}
    print(
        "language",
        "pairs",
        *(f"before{written}" for written in OPTIONS if options.before),
        "now",
        "independent",
        sep=" | ",
    )
    for language, pairs in (given | WRITTEN).items():
        before = [scored(options.before, pairs, written) for written in OPTIONS] if options.before else []
        now = scored(Path(__file__).parents[2], pairs, f"(language={language})")
        theirs = independent(language, pairs)
        print(
            language, len(pairs), *map(_shown, before), _shown(now), _shown([(value, 0) for value in theirs]), sep=" | "
        )
        ours = [value for value, undefined in now if not undefined]
        if not np.allclose(ours, [value for value, (_, undefined) in zip(theirs, now, strict=True) if not undefined]):
            sys.exit(f"{language}: ours differ from independent code")


def scored(edition: Path, pairs: Pairs, written: str) -> list[tuple[float, int]]:
    """Mean of each variant by the rewards of a checkout, and how many pairs are undefined."""
    question = json.dumps([pairs, [f"{variant}{written}" for variant in VARIANTS]])
    command = [sys.executable, "-c", SCORE]
    done = subprocess.run(
        command, input=question, capture_output=True, text=True, check=True, cwd=edition, env={"PYTHONPATH": "."}
    )
    return [(value, undefined) for value, undefined in json.loads(done.stdout)]


def independent(language: str, pairs: Pairs) -> list[float]:
    """Mean of each variant by rouge-score, on words that `Tokenizer` cuts."""
    scorer = RougeScorer([*VARIANTS.values()], tokenizer=Tokenizer(language))
    found = [scorer.score(reference, candidate) for candidate, reference in pairs]
    return [float(np.mean([scores[variant].fmeasure for scores in found])) for variant in VARIANTS.values()]


class Tokenizer:
    """Words, or in Chinese, Japanese and Thai characters, by the categories of their signs."""

    def __init__(self, language: str) -> None:
        self.language = language
        stemmer = SnowballStemmer(STEMMERS[language]) if language in STEMMERS else None
        self.stem: Callable[[str], str] = stemmer.stem if stemmer else (lambda word: word)

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text."""
        if self.language == "en":
            stem = PorterStemmer().stem
            runs = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in text.lower()).split()
            return [stem(word) if len(word) > 3 else word for word in runs]
        words = list(self._words(normalize("NFC", text).lower()))
        return [self.stem(word) if len(word) > 3 else word for word in words]

    def _words(self, text: str) -> Iterator[str]:
        word = ""
        for sign in text:
            kind = category(sign)[0]
            if name(sign, "") == "ARABIC TATWEEL":
                continue
            goes_on = kind == "M" or name(sign, "") in JOINERS
            if (kind in "LN" and not (word and self.language in UNSPACED)) or (word and goes_on):
                word += sign
            else:
                yield from [word] if word else []
                word = sign if kind in "LN" else ""
        yield from [word] if word else []


def _files(folder: Path) -> Iterator[tuple[str, Pairs]]:
    with (
        (folder / "hindi_ib.csv").open(encoding="utf-8") as ours,
        (folder / "hindi_gpt.csv").open(encoding="utf-8") as theirs,
    ):
        candidates = [row["Summary"] for row in csv.DictReader(ours)]
        yield "hi", list(zip(candidates, [row["gen_summ"] for row in csv.DictReader(theirs)], strict=True))
    articles = {row["article_id"]: row["reference_summary"] for row in _rows(folder / "ja_articles.jsonl")}
    yield "ja", [(row["summary"], articles[row["article_id"]]) for row in _rows(folder / "ja_summaries.jsonl")]
    yield "fr", [(row["title"], row["heading"]) for row in _rows(folder / "orangesum.jsonl") if row["heading"].strip()]
    lines = [(folder / file).read_text(encoding="utf-8").splitlines() for file in ("xsum.ours.out", "xsum.ref")]
    yield "en", list(zip(*lines, strict=True))


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _shown(means: list[tuple[float, int]]) -> str:
    undefined = max(count for _, count in means)
    return " / ".join(f"{100 * value:.2f}" for value, _ in means) + (f" ({undefined} undefined)" if undefined else "")


if __name__ == "__main__":
    main()
