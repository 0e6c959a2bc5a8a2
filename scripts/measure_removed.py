"""How many lines of the product commits took out, and how many of them an earlier commit had.

    python scripts/measure_removed.py e5be9ae 468bf16..758f7cf a17848c

A commit's net lines of Python in the packages are split by what ``git blame`` says of the lines that it deleted: those
that are as old as the earlier commit, moved or indented since, and younger ones.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict

HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
PRODUCT = re.compile(r"(rewards|rlsum|human_eval)/.*\.py")


def main() -> None:
    """Print a line a commit and their sums."""
    earlier, *given = sys.argv[1:]
    commits = [commit for part in given for commit in (git("rev-list", part).split() if ".." in part else [part])]
    net_lines, old_lines = 0, 0.0
    for commit in commits:
        net, old = removed(commit, earlier)
        net_lines, old_lines = net_lines + net, old_lines + old
        print(f"{net:6} {old:8.1f}  {git('log', '-1', '--format=%h %s', commit).strip()}")
    print(f"{net_lines:6} {old_lines:8.1f}  lines net, of them lines of {earlier}")


def removed(commit: str, earlier: str) -> tuple[int, float]:
    """Net lines that a commit took out, and how many of them ``earlier`` had."""
    deleted: dict[str, list[tuple[int, int]]] = defaultdict(list)
    before, net, old = "", 0, 0
    for line in git("show", "-U0", "-M", "--format=", commit).splitlines():
        if line.startswith("--- "):
            before = line.removeprefix("--- ").removeprefix("a/")
        elif line.startswith("+++ "):
            after = line.removeprefix("+++ ").removeprefix("b/")
        elif hunk := HUNK.match(line):
            start, count, added = int(hunk[1]), int(hunk[2] or 1), int(hunk[3] or 1)
            net -= added if PRODUCT.fullmatch(after) else 0
            if count and PRODUCT.fullmatch(before):
                net += count
                deleted[before].append((start, count))
    for path, ranges in deleted.items():
        lines = [argument for start, count in ranges for argument in ("-L", f"{start},+{count}")]
        blamed = git("blame", "-s", "-w", "-M", "-C", *lines, f"{earlier}..{commit}^", "--", path)
        old += sum(line.startswith("^") for line in blamed.splitlines())
    total = sum(count for ranges in deleted.values() for _, count in ranges)
    return net, net * old / total if total else 0.0


def git(*arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], capture_output=True, text=True, errors="replace", check=True).stdout


if __name__ == "__main__":
    main()
