"""Ports reserved for a test, even while nothing listens on them."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_port() -> Iterator[int]:
    """A free port of this machine, on which a test's servers may listen one after the other.

    On Linux no other program gets it meanwhile: a socket that does not listen is bound to it,
    beside which another may. Elsewhere that is impossible, and the port is merely free.
    """
    with socket.socket() as keeping:
        keeping.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeping.bind(("127.0.0.1", 0))
        port: int = keeping.getsockname()[1]
        if sys.platform != "linux":
            keeping.close()
        yield port
