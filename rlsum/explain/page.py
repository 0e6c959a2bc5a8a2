"""Explanations as one HTML page that needs no network: light and dark, with details under the pointer."""

from __future__ import annotations

from collections.abc import Sequence

from rewards.explain import Explanation
from rlsum.explain import layout
from rlsum.pages.page import render


def html(explanations: Sequence[Explanation]) -> str:
    """The page, with a section for each metric."""
    return render("explain/page.html", {"explanations": explanations, "layout": layout, "max": max})
