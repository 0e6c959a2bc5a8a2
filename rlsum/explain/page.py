"""Explanations as one HTML page: no network, light and dark, each band and cell told under the pointer."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

from rewards.explain import Explanation
from rlsum.explain import layout


def html(explanations: Sequence[Explanation]) -> str:
    """The page, a section a metric."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals |= {"layout": layout, "enumerate": enumerate, "max": max}
    environment.filters |= {"number": layout.number, "short": layout.short, "shown": layout.shown}
    template = resources.files("rlsum.explain").joinpath("page.html").read_text(encoding="utf-8")
    return environment.from_string(template).render(explanations=explanations)
