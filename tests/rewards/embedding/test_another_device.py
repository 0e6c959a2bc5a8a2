"""Contextual rewards on a device that is not the CPU: the scores of a CPU, and no wait for the device at each pair."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import encoders
import numpy as np
import torch

import rewards
from rewards.encoding.encoder import TOKENS

CASES = (
    ("sbert", {}),
    ("cka", {"centering": "dimension"}),
    ("cka", {"normalize": "none"}),
    ("bertscore", {}),
    ("trwmd", {"centering": "sentence", "entropy": True}),
    ("twmd", {"centering": "batch", "direction": "recall", "iterations": 3}),
    ("moverscore", {}),  # solved pair by pair on the CPU
    ("wms", {}),
)
CANDIDATES = ["the cat sleeps", "", "a red house falls .", "mayor", "storm runs red " * 9, "a bridge", "river"]
REFERENCES = [["the dog sleeps", "a cat ."], ["a storm"], ["", "a red house falls ."], ["the mayor"], ["a storm"], [""]]
REFERENCES += [["The river", "river"]]


def test_scores_of_another_device_are_those_of_a_cpu() -> None:
    """In a process of its own, in which torch has another device."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(Path(__file__).parents[2] / "support")])}
    done = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == [name for name, _ in CASES]


def main() -> None:
    import elsewhere

    with tempfile.TemporaryDirectory() as folder:
        path = encoders.save_tiny(Path(folder))
        made = [rewards.load(name, encoder=str(path), **options) for name, options in CASES]
        expected = [reward(CANDIDATES, REFERENCES) for reward in made]
    kept = elsewhere.begin()
    torch.inference_mode = torch.no_grad  # whose tensors the stand-in cannot box
    TOKENS[elsewhere.NAME] = 10**6
    for (name, _), reward, scores in zip(CASES, made, expected, strict=True):
        encoder = (reward.source if name == "wms" else reward.space.source).load()
        encoder.model.to(elsewhere.NAME)
        encoder.device = elsewhere.NAME
        waits = []
        for copies in (1, 2):
            encoder.forget()
            elsewhere.WAITED.clear()
            found = reward(CANDIDATES * copies, REFERENCES * copies)
            np.testing.assert_allclose(found, np.tile(scores, copies), rtol=1e-6, atol=1e-6, err_msg=name)
            waits.append(len(elsewhere.WAITED))
        assert waits[0] == waits[1] or name == "moverscore", (name, waits)
        print(name)
    del kept


if __name__ == "__main__":
    main()
