"""Files of configurations, and what is said of those that are refused."""

import pytest
import yaml

from rlsum import config as configs
from rlsum.config import ConfigError

MINIMAL = {"run": "r", "data": {"train": "t.jsonl", "valid": "v.jsonl"}, "training": {"steps": 10}}


def write(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(values if isinstance(values, str) else yaml.safe_dump(values), encoding="utf-8")
    return path


def refused(path, *overrides):
    with pytest.raises(ConfigError) as caught:
        configs.load(path, overrides)
    return str(caught.value)
