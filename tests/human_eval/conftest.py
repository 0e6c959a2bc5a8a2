"""Pages opened in a real browser."""

from __future__ import annotations

import judges
import pytest


@pytest.fixture(scope="session")
def browser():
    """A Chromium without a window: one for all tests, because a process can have one Playwright alone."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if judges.chromium() is None:
        pytest.skip("no chromium, chrome or google-chrome on PATH")
    with judges.browser() as running:
        yield running
