"""Pages opened in a real browser."""

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


@pytest.fixture
def desk(browser):
    """A page of a wide window."""
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        yield context.new_page()


@pytest.fixture
def phone(browser):
    """A page of a telephone."""
    size = {"width": 390, "height": 844}
    with browser.new_context(viewport=size, is_mobile=True, has_touch=True) as context:
        yield context.new_page()
