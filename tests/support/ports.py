"""Ports for servers that tests start."""

from __future__ import annotations

import socket
import sys

HELD: list[socket.socket] = []


def free_port() -> int:
    """A port that nobody has, and that nobody else is given until this process ends.

    Its socket stays bound and never listens: the system then hands the port to no one who asks for any, while those who
    name it and set SO_REUSEADDR, as servers do, may listen there. Elsewhere than on Linux they may not.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    port: int = held.getsockname()[1]
    if sys.platform == "linux":
        HELD.append(held)
    else:
        held.close()
    return port
