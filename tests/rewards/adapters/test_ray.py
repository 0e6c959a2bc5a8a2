"""The example of Ray Data in docs/guides/score.md."""

import json
from pathlib import Path

import pytest

import rewards

PAGE = Path(__file__).parents[3] / "docs/guides/score.md"


@pytest.mark.slow
def test_scores_of_ray_are_those_of_one_process(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    rows = [{"candidate": f"a {'b ' * (n % 7)}", "references": ["a b b c" * (n % 3), "b"]} for n in range(5000)]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    ray.init(num_cpus=3, include_dashboard=False)
    (block,) = (
        text.partition("```")[0] for text in PAGE.read_text().split("```python\n") if text.startswith("import ray")
    )
    exec(block, {"__name__": "__main__"})
    written = ray.data.read_parquet("scored").take_all()
    ray.shutdown()
    scores = rewards.load("rouge-l")([row["candidate"] for row in rows], [row["references"] for row in rows])
    expected = {(row["candidate"], *row["references"]): score for row, score in zip(rows, scores, strict=True)}
    assert len(written) == len(rows)
    assert all(row["rouge-l"] == expected[row["candidate"], *row["references"]] for row in written)
