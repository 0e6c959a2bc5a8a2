"""The app without a server, and its visitors."""

import pytest
from served import ORIGIN, Clock, answers, make_key, make_store, make_study, token_of
from starlette.testclient import TestClient

from human_eval.web.access import Access, Visitor
from human_eval.web.server import create_app
from human_eval.web.serving import Serving
from human_eval.web.site import Site


class Browser(TestClient):
    """A visitor's browser."""

    def begin(self):
        """What follows the first page: the first item, or a practice."""
        return self.post("/start", data={"token": token_of(self.get("/"))})

    def say(self, page, *sides, to="/item", **more):
        """Answer what a page asks; what follows."""
        return self.post(to, data=answers(*sides, token=token_of(page), **more))


class App:
    """One study as it is served; ``visit`` opens a link in a browser of its own."""

    def __init__(self, folder, study, **options):
        self.clock = Clock()
        self.study = study
        self.store = make_store(folder, study, lease=100.0, now=self.clock)
        self.access = Access(self.store, self.clock)
        origins = options.pop("origins", (ORIGIN,))
        self.origin = origins[0]
        secret = {name: options.pop(name, None) for name in ("key", "settings")}
        site = Site(study, self.store, self.access, origins, Serving(**options), **secret)
        self.pace = site.judges._now = site.addresses._now = Clock()  # how fast requests come, on any machine
        self.app = create_app(site)

    def browser(self, origin=True):
        headers = {"origin": self.origin} if origin else {}
        return Browser(self.app, self.origin, headers=headers, raise_server_exceptions=True)

    def link(self, role, name="", seconds=3600.0):
        path = {"judge": "/judge/", "everyone": "/join/", "admin": "/admin/enter/"}[role]
        return path + self.access.link(Visitor(role, name, self.clock() + seconds))

    def visit(self, role, name="", **options):
        browser = self.browser()
        browser.get(self.link(role, name, **options))
        return browser


@pytest.fixture
def app_of(tmp_path):
    """Make the app of a study."""
    apps = []

    def make(study=None, **options):
        folder = tmp_path / str(len(apps))
        folder.mkdir()
        apps.append(App(folder, study or make_study(), **options))
        return apps[-1]

    yield make
    for app in apps:
        app.store.close()


@pytest.fixture
def app(app_of):
    return app_of()


@pytest.fixture
def app_with_key(app_of):
    study = make_study(booklets=3)
    return app_of(study, key=make_key(study, checks={2: ("identical", "none")}))


@pytest.fixture
def anna(app):
    """The browser of a judge who has opened her link."""
    return app.visit("judge", "anna")
