"""`rlsum configs`, in an empty folder."""

from pathlib import Path

import yaml

from rlsum import config as configs
from rlsum import yaml_files


def test_every_packaged_configuration_is_listed_and_loads_by_its_name(rlsum, here):
    printed = rlsum("configs")[1]
    for name in yaml_files.names():
        assert name in printed
        assert yaml_files.summary(name)
        if not name.startswith(("accelerate", "compare")) and not name.endswith("mixed"):  # without reward
            configs.load(name)
    assert configs.load("demo/sms") == configs.load(yaml_files.folder() / "demo" / "sms.yaml")


def test_a_printed_configuration_is_whole(rlsum, here):
    Path("mine.yaml").write_text(rlsum("configs", "demo/sms")[1])
    assert configs.load("mine.yaml") == configs.load("demo/sms")
    Path("own.yaml").write_text(yaml.safe_dump({"base": "demo/sms", "run": "r"}))
    assert configs.load("own.yaml").run == "r"
    assert "num_machines" in rlsum("configs", "accelerate/several_machines")[1]


def test_an_unknown_name_names_the_nearest(refused, here):
    assert "did you mean demo/sms?" in refused("train", "configs/demo/smss")
