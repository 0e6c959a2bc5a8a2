"""The script that compares a GPU with the CPU: here the CPU with itself."""

import copy

import compare_devices
import tiny
import torch


def test_equal_devices_differ_in_nothing(capsys):
    model, batch = tiny.copier(seed=2), tiny.batch()
    compare_devices.compare(model, copy.deepcopy(model), batch, batch)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "scores 0, gradients 0"
    texts = len(batch) * compare_devices.SAMPLES
    equal = {"samples": texts, "greedy": len(batch), "beams": len(batch)}
    assert said[1:4] == [f"{name}: {count} of {count} texts are equal" for name, count in equal.items()]
    assert len(said) == 6


def test_both_ways_to_read_articles_are_timed(capsys):
    sizes = {**compare_devices.SIZES, "vocab_size": 60, "hidden_size": 18, "intermediate_size": 8}
    compare_devices.language_model(
        torch.device("cpu"), sizes | {"num_hidden_layers": 1}, articles=2, samples=(2,), lengths=(9, 3)
    )
    *same, first, second = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in same] == list(compare_devices.WAYS)
    assert all(float(line.split()[-1]) < 1e-5 for line in same)
    assert first.startswith("2 x 2, plain rows, seconds: scores and gradients 0.")
    assert second.startswith("2 x 2, read once")
