"""Connections that send nothing, or half a request, beside a visitor."""

import http.client
import socket
import threading
import time
from contextlib import closing, suppress

import pytest
import uvicorn

from human_eval.web.guard import PatientProtocol


class Impatient(PatientProtocol):
    header_seconds = 0.5
    most = 8


async def hello(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


@pytest.fixture
def address():
    """Of a server whose limits are small."""
    listening = socket.create_server(("127.0.0.1", 0))
    options = {"ws": "none", "lifespan": "off", "log_level": "error", "limit_concurrency": 10}
    server = uvicorn.Server(uvicorn.Config(hello, http=Impatient, **options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()
    server.should_exit = True
    thread.join(30)


def get(connection):
    connection.request("GET", "/")
    return connection.getresponse().read()


def test_more_idle_connections_than_there_may_be_keep_nobody_out(address):
    idle = [socket.create_connection(address) for _ in range(20)]
    for each in idle[::2]:
        each.send(b"GET / HTTP/1.1\r\nHost: ")
    visitor = http.client.HTTPConnection(*address, timeout=10)
    assert get(visitor) == b"hello"
    for each in idle:
        each.close()
    visitor.close()


def test_headers_that_never_end_are_not_waited_for(address):
    silent, slow = (socket.create_connection(address, timeout=10) for _ in range(2))
    with suppress(OSError):
        for _ in range(12):
            slow.send(b"x")
            time.sleep(0.1)
    assert is_closed(silent)
    assert is_closed(slow)


def is_closed(connection):
    with closing(connection), suppress(ConnectionError):
        return connection.recv(1) == b""
    return True


def test_a_connection_in_use_outlives_the_limit(address):
    visitor = http.client.HTTPConnection(*address, timeout=10)
    for _ in range(4):
        assert get(visitor) == b"hello"
        time.sleep(0.3)
    visitor.close()
