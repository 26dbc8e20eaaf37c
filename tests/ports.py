"""Ports that stay a test's own, also while nothing listens on them."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_port() -> Iterator[int]:
    """A free port of this machine: servers of a test may listen on it one after the other.

    On Linux no other program is given it meanwhile: a socket is bound to it that does not listen,
    beside which another may. Elsewhere that cannot be had, and the port is merely a free one.
    """
    with socket.socket() as keeping:
        keeping.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeping.bind(("127.0.0.1", 0))
        port: int = keeping.getsockname()[1]
        if sys.platform != "linux":
            keeping.close()
        yield port
