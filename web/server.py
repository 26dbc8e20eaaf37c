"""Serves an application with waitress, until it is told to stop."""

from __future__ import annotations

import errno
import logging
import signal
import socket
import threading
import time
import webbrowser
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer, create_server

from tablecam.errors import BadInput
from web.seats import seats_of
from web.shown import shown
from web.streams import Streams

log = logging.getLogger(__name__)

_ENDINGS = ("SIGTERM", "SIGHUP", "SIGBREAK")
"""By name: no system has all of them."""

_SPARE_THREADS = 8
"""Threads beside those that event streams hold, for pages, pictures and measurements."""

MOST_OF_ADDRESS: Final = 24
"""Connections of one address that ask for nothing: a browser keeps six, and has a few windows."""

LONGEST_REQUEST_S: Final = 10.0
"""How long a request may take to arrive."""

_MOST_WAITING_BYTES = 262_144
"""What may wait for a slow listener before its stream pauses: about a dozen states."""

_MOST_IN_MEMORY_BYTES = 33_554_432
"""Of one answer; larger ones are put into a file until they are sent."""


class Server:
    """One application on one address.

    It listens from the moment it exists; `run` serves, in whichever thread calls it, until `close`
    is called from any other or Ctrl-C is pressed. Every event stream holds a thread while it lasts:
    there are `STREAMS` threads for them (pages beyond are told to poll) and eight for the rest.

    Args:
        app: What `create_app` gave.
        host: The address to listen on; `0.0.0.0` lets phones on the same network in.
        port: The port; 0 for any free one.
        streams: What the application's listeners are counted by, where it is not `create_app`'s.

    Raises:
        BadInput: The port is taken, or the address is not this machine's.
    """

    def __init__(
        self,
        app: Flask,
        host: str = "127.0.0.1",
        port: int = 8000,
        *,
        streams: Streams | None = None,
    ) -> None:
        self._streams = streams or shown(app).streams
        self._seats = seats_of(app)
        self._most_connections = 4 * (self._streams.limit + _SPARE_THREADS)
        self._half_since_s: dict[HTTPChannel, float] = {}
        self._socket = _listening(host, port)
        self._stopping = threading.Event()
        self._waking = threading.Lock()
        self._map: dict[int, Any] = {}
        server = create_server(
            app,
            map=self._map,
            sockets=[self._socket],
            threads=self._streams.limit + _SPARE_THREADS,
            # The loop makes room before: this is for what comes between two of its rounds.
            connection_limit=self._most_connections + 32,
            # Reading ahead by one request is what notices that a listener has hung up.
            channel_request_lookahead=1,
            outbuf_high_watermark=_MOST_WAITING_BYTES,
            # A long game's film is some megabytes: it waits in memory, not in a file of its own.
            outbuf_overflow=_MOST_IN_MEMORY_BYTES,
            # The application refuses far less (MAX_CONTENT_LENGTH), and says so in JSON.
            max_request_body_size=1_048_576,
            ident="tablecam",
        )
        if not isinstance(server, TcpWSGIServer):
            raise TypeError(f"expected waitress to serve one socket, got {server!r}")
        self._waitress = server

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return int(self._socket.getsockname()[1])

    @property
    def address(self) -> str:
        """What to open in a browser on this machine."""
        host = self._socket.getsockname()[0]
        if host in ("0.0.0.0", "::"):
            host = "127.0.0.1"
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def network_address(self) -> str | None:
        """What to open on a phone in the same network; None when only this machine may."""
        if self._socket.getsockname()[0] not in ("0.0.0.0", "::"):
            return None
        host = _own_network_host()
        return None if host is None else f"http://{host}:{self.port}/"

    def run(self, *, open_browser: bool = False, start: str | None = None) -> None:
        """Serve until `close` is called, Ctrl-C is pressed, or the program is told to end.

        A browser is opened at `start`, or else at the table.
        """
        if open_browser:
            page = start or self.address
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
        try:
            with _ended_by_signals():
                while not self._stopping.is_set():
                    wasyncore.loop(timeout=1.0, map=self._map, count=1)
                    self._make_room()
        except KeyboardInterrupt:
            log.info("stopping")
        finally:
            self._end()

    def _make_room(self) -> None:
        """Close idle connections: too slow requests, and the oldest when there are too many.

        Half a request, sent a hundred times, would keep everybody else out. Who has a seat by its
        link is the last to go.
        """
        now_s = time.monotonic()
        known: Any = self._waitress.active_channels  # by file number; its stub names one channel
        channels: list[HTTPChannel] = [*known.values()]
        idle = [each for each in channels if not each.requests and not each.total_outbufs_len]
        self._half_since_s = {
            each: self._half_since_s.get(each, now_s) for each in idle if each.request is not None
        }
        idle.sort(key=lambda each: (self._is_seated(each), each.last_activity))
        over, of_address = len(channels) - self._most_connections, Counter(map(_address, idle))
        for each in idle:
            is_late = now_s - self._half_since_s.get(each, now_s) > LONGEST_REQUEST_S
            if is_late or over > 0 or of_address[_address(each)] > MOST_OF_ADDRESS:
                each.will_close = True
                over -= 1
                of_address[_address(each)] -= 1

    def _is_seated(self, channel: HTTPChannel) -> bool:
        return self._seats is not None and self._seats.is_seated(_address(channel))

    def close(self) -> None:
        """Stop serving. May be called from any thread, and twice."""
        self._streams.close()
        with self._waking:
            if not self._stopping.is_set():
                self._stopping.set()
                self._waitress.pull_trigger()

    def _end(self) -> None:
        self._streams.close()
        with self._waking:  # nobody wakes a loop whose trigger is being closed
            self._stopping.set()
        self._waitress.task_dispatcher.shutdown()
        wasyncore.close_all(self._map)
        self._socket.close()

    def __enter__(self) -> Server:
        self._thread = threading.Thread(target=self.run, name="server", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._thread.join()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let what tells a program to end, as a terminal's window that is closed, do as Ctrl-C does.

    So the last pictures are kept, and a hall hears the last of a game. What is ignored stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    known = [getattr(signal, name) for name in _ENDINGS if hasattr(signal, name)]
    ending = [each for each in known if signal.getsignal(each) is signal.SIG_DFL]
    for each in ending:
        signal.signal(each, signal.default_int_handler)
    try:
        yield
    finally:
        for each in ending:
            signal.signal(each, signal.SIG_DFL)


def _address(channel: HTTPChannel) -> str:
    return str(channel.addr[0])


def _listening(host: str, port: int) -> socket.socket:
    source = f"{host}:{port}"
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise BadInput(source, _why_not(error)) from None
    except UnicodeError:
        raise BadInput(source, "expected an address of this machine, got no such name") from None


def _why_not(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program listens on this port; choose another with --port"
    if error.errno == errno.EACCES:
        return "this port is reserved for the system; choose one above 1023 with --port"
    return f"expected an address of this machine, got: {error.strerror or error}"


def _own_network_host() -> str | None:
    """This machine's address as its network sees it. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address that the standards keep for examples
        except OSError:
            return None
        return str(probe.getsockname()[0])
