"""``rlsum human-eval serve`` and ``links``: what is wrong is said before anything is served."""

import os
import signal
import socket
from contextlib import closing

import pytest
from judges import Server
from ports import free_port
from served import make_key, make_study

from human_eval.collection.database import read_database
from human_eval.collection.store import ResponseStore
from human_eval.files import read_study, write_key, write_study
from human_eval.web.access import Access, NoAccess
from human_eval.web.server import origins


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "study"
    path.mkdir()
    study = make_study()
    write_study(path, study)
    write_key(tmp_path / "key.json", make_key(study))
    return path


@pytest.mark.parametrize(
    ("command", "options", "told"),
    [
        ("serve", ("--host", "0.0.0.0"), "give their address with --public-url"),
        ("serve", ("--host", "192.0.2.1"), "give their address with --public-url"),
        ("serve", ("--public-url", "judge.example.org"), "expected http(s)://HOST"),
        ("serve", ("--public-url", "https://judge.example.org/path"), "without a path"),
        ("serve", ("--public-url", "ftp://judge.example.org"), "expected http(s)://HOST"),
        ("serve", ("--public-url", "https://judge.example.org:port"), "expected http(s)://HOST"),
        ("serve", ("--judges", "anna,anna"), "duplicate name"),
        ("serve", ("--judges", "Anna,anna"), "not only in case"),
        ("serve", ("--judges", "anna,<b>"), "invalid name"),
        ("serve", ("--judges", "0"), "expected 1 to 10000"),
        ("serve", ("--database", "answers.db"), "ends in .sqlite"),
        ("serve", ("--show-verdicts",), "add --key"),
        ("serve", ("--key", "absent.json"), "cannot be read"),
        ("serve", ("--completion-url", "javascript:alert(1)"), "begins with https://"),
        ("links", ("--days", "inf"), "--days"),
    ],
)
def test_options_that_cannot_be_are_refused(rlsum, folder, command, options, told):
    code, said, error = rlsum("human-eval", command, folder, *options)
    assert code == 2
    assert told in error
    assert said == ""
    assert not (folder / "judging.sqlite").exists()


def test_a_port_in_use_and_a_folder_that_is_no_study_are_refused(refused, folder, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "choose another --port" in refused("human-eval", "serve", folder, "--port", taken.getsockname()[1])
    assert "study.json: cannot be read" in refused("human-eval", "serve", tmp_path)


def test_the_key_of_another_study_is_refused(refused, folder, tmp_path):
    write_key(tmp_path / "other.json", make_key(make_study(items=1)))
    assert "another study" in refused("human-eval", "serve", folder, "--key", tmp_path / "other.json")


def test_links_are_printed_for_as_many_judges_as_booklets_and_open_what_they_say(ran, folder):
    said = ran("human-eval", "links", folder, "--public-url", "https://Judge.example.org:443/")
    lines = dict(line.split() for line in said.splitlines() if line.startswith("  judge-"))
    assert list(lines) == ["judge-1", "judge-2"]
    store = ResponseStore(folder / "judging.sqlite", make_study())
    for name, link in lines.items():
        assert link.startswith("https://judge.example.org/judge/")
        assert Access(store).visitor("judge", link.rsplit("/", 1)[1]).name == name
    store.close()


def test_links_of_names(rlsum, folder):
    _, said, _ = rlsum("human-eval", "links", folder, "--judges", "anna, ben", "--days", 1)
    assert [line.split()[0] for line in said.splitlines() if "/judge/" in line] == ["anna", "ben"]


def test_a_link_is_for_no_name_that_differs_only_in_case(rlsum, folder):
    with closing(ResponseStore(folder / "judging.sqlite", read_study(folder))) as store:
        store.claim("Anna")
    code, said, error = rlsum("human-eval", "links", folder, "--judges", "ben,anna")
    assert (code, said) == (2, "")
    assert "Anna" in error
    assert rlsum("human-eval", "links", folder, "--judges", "ben,Anna")[0] == 0


@pytest.mark.parametrize(
    ("host", "public", "first"),
    [
        ("127.0.0.1", None, "http://127.0.0.1:80"),
        ("localhost", None, "http://localhost:80"),
        ("::1", None, "http://[::1]:80"),
        ("0.0.0.0", "http://[2001:DB8::1]:8080", "http://[2001:db8::1]:8080"),
        ("127.0.0.1", "http://judge.test:80", "http://judge.test"),
    ],
)
def test_the_addresses_that_links_and_origins_have(host, public, first):
    found = origins(host, 80, public)
    assert found[0] == first
    assert len(found) == (1 if public else 3 if host != "localhost" and host != "127.0.0.1" else 2)


def test_a_folder_that_cannot_be_written_needs_a_database_elsewhere(refused, folder, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    assert "cannot be used as the database" in refused("human-eval", "links", folder, "--database", file / "x.sqlite")


def test_it_serves_and_says_where_the_answers_are(folder):
    import http.client

    server = Server(folder, free_port())
    try:
        connection = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=30)
        connection.request("GET", "/")
        response = connection.getresponse()
        assert response.status == 401
        assert response.headers.get("server") is None
        connection.close()
    finally:
        assert server.stop() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_signal_that_stops_it_leaves_one_file(folder, number):
    assert Server(folder, free_port()).stop(number) == 0
    assert not os.path.exists(folder / "judging.sqlite-wal")
    assert read_database(folder / "judging.sqlite", make_study()) == []


def test_a_backup_replaces_nothing_unasked(rlsum, refused, folder, tmp_path):
    ResponseStore(folder / "judging.sqlite", make_study()).close()
    copy = tmp_path / "copy.sqlite"
    assert rlsum("human-eval", "backup", folder, "-o", copy)[0] == 0
    assert read_database(copy, make_study()) == []
    for out, told in ((copy, "--overwrite"), (folder / "judging.sqlite", "itself"), (tmp_path / "copy.db", ".sqlite")):
        assert told in refused("human-eval", "backup", folder, "-o", out)
    assert rlsum("human-eval", "backup", folder, "-o", copy, "--overwrite")[0] == 0


def test_revoked_links_open_nothing_and_links_prints_new_ones(rlsum, folder):
    def printed():
        _, said, _ = rlsum("human-eval", "links", folder, "--judges", "anna,guest:ben")
        return {line.split()[0]: line.rsplit("/", 1)[1] for line in said.splitlines() if "/judge/" in line}

    assert rlsum("human-eval", "revoke", folder, "--judges", "anna")[0] == 2  # no database yet
    first = printed()
    assert rlsum("human-eval", "revoke", folder)[0] == 2
    assert rlsum("human-eval", "revoke", folder, "--judges", "anna")[0] == 0
    second = printed()
    with closing(ResponseStore(folder / "judging.sqlite", make_study())) as store:
        access = Access(store)
        with pytest.raises(NoAccess):
            access.visitor("judge", first["anna"])
        for token in (second["anna"], first["guest:ben"]):
            access.visitor("judge", token)
        assert rlsum("human-eval", "revoke", folder, "--all")[0] == 0
        with pytest.raises(NoAccess):
            access.visitor("judge", second["anna"])
