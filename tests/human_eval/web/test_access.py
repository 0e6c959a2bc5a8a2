"""Forged, old and borrowed tokens; other origins and hosts; too much and too fast."""

from dataclasses import dataclass, replace

import pytest
from served import answers, make_study, token_of
from starlette.testclient import TestClient

from human_eval.web.access import Access, Expired, NoAccess, Visitor
from human_eval.web.guard import Limiter
from human_eval.web.site import BODY_LIMIT, FIELD_LIMIT


@dataclass(frozen=True)
class Keys:
    secret: bytes

    def generation(self, role, name):
        return 0


def tampered(token):
    """One bit of the signature another."""
    return token[:-2] + ("A" if token[-2] != "A" else "B") + token[-1]


@pytest.mark.parametrize("role", ["judge", "everyone", "admin"])
def test_a_link_opens_for_its_role_alone_and_until_it_runs_out(role):
    now = [100.0]
    access = Access(Keys(b"secret"), lambda: now[0])
    token = access.link(Visitor(role, "anna", 200.0))
    assert access.visitor(role, token) == Visitor(role, "anna", 200.0)
    for other in {"judge", "everyone", "admin"} - {role}:
        with pytest.raises(NoAccess):
            access.visitor(other, token)
    with pytest.raises(NoAccess):
        access.visitor(role, tampered(token))
    with pytest.raises(NoAccess):
        Access(Keys(b"other secret")).visitor(role, token)
    now[0] = 200.0
    with pytest.raises(Expired):
        access.visitor(role, token)


@pytest.mark.parametrize("token", ["", ".", "a.b", "x" * 5000, "ey.ey.ey", "\u202e", "%00", "None"])
def test_what_is_no_token_is_refused(token):
    with pytest.raises(NoAccess):
        Access(Keys(b"secret")).visitor("judge", token)


def test_pages_need_a_link(app):
    for path in ("/", "/item", "/last", "/admin", "/admin/judgments.jsonl"):
        reply = app.browser().get(path)
        assert reply.status_code == 401, path
        assert "open the link" in reply.text
    assert app.browser().post("/item", data={}).status_code == 403


def test_forged_and_expired_links_and_cookies_are_refused(app):
    for role in ("judge", "everyone", "admin"):
        path = app.link(role, "anna")
        assert app.browser().get(tampered(path)).status_code == 401
        app.clock.at += 3601
        expired = app.browser().get(path)
        assert expired.status_code == 401
        assert "has expired" in expired.text
    browser = app.visit("judge", "anna")
    assert browser.get("/").status_code == 200
    app.clock.at += 3601
    assert browser.get("/").status_code == 401
    (name,) = browser.cookies.keys()
    fresh = app.access.link(Visitor("judge", "anna", app.clock() + 60))
    assert app.browser().get("/", headers={"cookie": f"{name}={tampered(fresh)}"}).status_code == 401
    assert app.browser().get("/", headers={"cookie": f"{name}={fresh}"}).status_code == 200


def test_a_judge_is_no_admin(app, anna):
    assert anna.get("/admin").status_code == 401
    token = app.access.link(Visitor("judge", "anna", app.clock() + 60))
    assert app.browser().get(f"/admin/enter/{token}").status_code == 401
    name = next(iter(anna.cookies.keys())).replace("judge", "admin")
    assert app.browser().get("/admin", headers={"cookie": f"{name}={token}"}).status_code == 401


def test_the_form_of_another_judge_is_refused(app):
    anna, ben = app.visit("judge", "anna"), app.visit("judge", "ben")
    item = anna.begin()
    ben.begin()
    reply = ben.say(item, "left", "none")
    assert reply.status_code == 403
    assert app.store.responses() == []


def test_the_form_of_another_page_is_refused(app, anna):
    start = token_of(anna.get("/"))
    anna.begin()
    assert anna.post("/item", data=answers("left", "none", token=start)).status_code == 403
    for wrong in ("", "x", tampered(token_of(anna.get("/item")))):
        assert anna.post("/item", data=answers("left", "none", token=wrong)).status_code == 403
    assert anna.post("/item", data=answers("left", "none")).status_code == 403
    assert app.store.responses() == []


@pytest.mark.parametrize(
    "origin", ["http://evil.test", "null", "https://judge.test", "http://judge.test.evil.test", None]
)
def test_posts_from_elsewhere_are_refused(app, origin, anna):
    form = answers("left", "none", token=token_of(anna.begin()))
    del anna.headers["origin"]
    reply = anna.post("/item", data=form, headers={"origin": origin} if origin else {})
    assert reply.status_code == 403
    assert app.store.responses() == []


def test_other_hosts_and_methods_are_refused(app):
    assert TestClient(app.app, "http://rebound.test").get("/").status_code == 421
    browser = app.visit("judge", "anna")
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert browser.request(method, "/item").status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "/static/../access.py",
        "/static/%2e%2e/access.py",
        "/static/..%2faccess.py",
        "/static/....//access.py",
        "/static//etc/passwd",
        "/static/%00style.css",
        "/static/style.css%00",
        "/static/",
        "/../../etc/passwd",
        "/key.json",
        "/judging.sqlite",
        "/static/../../study/key.json",
    ],
)
def test_no_path_leads_out(app, path):
    reply = app.visit("judge", "anna").get(path)
    assert reply.status_code == 404
    assert "root:" not in reply.text
    assert "import" not in reply.text


def test_every_answer_carries_the_headers(app):
    judge = app.visit("judge", "anna")
    replies = [
        judge.get("/"),
        judge.begin(),
        judge.get("/nowhere"),
        app.browser().get("/"),
        judge.get("/static/item.js"),
    ]
    for reply in [*replies, TestClient(app.app, "http://rebound.test").get("/")]:
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["x-frame-options"] == "DENY"
    assert judge.get("/item").headers["cache-control"] == "no-store"


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(app):
    reply = app.browser().get(app.link("judge", "anna"), follow_redirects=False)
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie


def test_behind_https_cookies_are_for_https_alone(app_of):
    app = app_of(origins=("https://judge.example.org",))
    cookie = app.browser().get(app.link("judge", "anna"), follow_redirects=False).headers["set-cookie"]
    assert cookie.startswith("__Host-")
    assert "; Secure" in cookie
    assert "Path=/" in cookie


def test_cookies_of_two_studies_are_two(app, app_of):
    other = app_of(replace(make_study(), id="study-2"))
    assert app.visit("judge", "anna").cookies.keys() != other.visit("judge", "anna").cookies.keys()


def test_too_much_is_refused(app, anna):
    token = token_of(anna.begin())
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert anna.post("/item", data=answers("left", "none", token=token, comment="x" * BODY_LIMIT)).status_code == 413
    reply = anna.post("/item", data=answers("left", "none", token=token, comment="x" * 5_001))
    assert reply.status_code == 422
    assert "shorten the comment" in reply.text
    many = "&".join(f"a{number}=1" for number in range(FIELD_LIMIT + 1))
    assert anna.post("/item", content=many, headers=headers).status_code == 400
    assert anna.post("/item", content=b"token=\xff\xfe", headers=headers).status_code in (400, 403)
    assert app.store.responses() == []


def test_who_asks_too_fast_has_to_wait_and_others_do_not(app):
    anna, ben = app.visit("judge", "anna"), app.visit("judge", "ben")
    codes = [anna.get("/").status_code for _ in range(150)]
    allowed = codes.count(200)
    assert 90 < allowed <= 100  # her link was a request, too
    assert codes == [200] * allowed + [429] * (150 - allowed)
    assert ben.get("/").status_code == 200
    app.pace.at += 1.0
    assert anna.get("/").status_code == 200


def test_guessing_links_is_slowed_down_and_locks_nobody_out_who_has_one(app):
    """A hundred at once, from the address of a whole class."""
    browser = app.browser()
    codes = [browser.get(f"/judge/{number}").status_code for number in range(120)]
    assert codes == [401] * 100 + [429] * 20
    for role in ("judge", "everyone", "admin"):
        assert app.visit(role, "anna" if role == "judge" else "").cookies
    anna = app.visit("judge", "anna")
    anna.begin()
    assert anna.get("/item").status_code == 200


def test_revoked_links_and_their_cookies_open_nothing_and_new_ones_do(app):
    old = {name: app.link("judge", name) for name in ("anna", "ben")}
    anna, ben, admin = app.visit("judge", "anna"), app.visit("judge", "ben"), app.visit("admin")
    app.store.revoke("judge", "anna")
    app.store.revoke("admin")
    assert app.browser().get(old["anna"]).status_code == anna.get("/").status_code == 401
    assert admin.get("/admin").status_code == 401
    assert app.browser().get(old["ben"]).status_code == ben.get("/").status_code == 200
    assert app.visit("judge", "anna").get("/").status_code == app.visit("admin").get("/admin").status_code == 200
    app.store.rotate_secret()
    assert app.browser().get(old["ben"]).status_code == ben.get("/").status_code == 401
    assert app.visit("judge", "ben").get("/").status_code == 200


def test_a_bucket_refills_with_time():
    now = [0.0]
    limiter = Limiter(rate=2, burst=3, now=lambda: now[0])
    assert [limiter.allows("a") for _ in range(4)] == [True, True, True, False]
    now[0] = 0.4
    assert not limiter.allows("a")
    now[0] = 0.5
    assert limiter.allows("a")
    now[0] = 1_000
    assert [limiter.allows("a") for _ in range(4)] == [True, True, True, False]


def test_buckets_of_many_addresses_take_no_more_and_more_memory():
    now = [0.0]
    limiter = Limiter(rate=1, burst=2, now=lambda: now[0])
    for number in range(25_000):
        now[0] += 0.01
        limiter.allows(str(number))
    assert len(limiter._buckets) <= 10_001
