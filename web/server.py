"""Serves an application with waitress until it is stopped."""

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

_STOP_SIGNALS = ("SIGTERM", "SIGHUP", "SIGBREAK")
"""By name, because no system has all of them."""

_SPARE_THREADS = 8
"""Threads beyond those of event streams, for pages, pictures and measurements."""

MOST_OF_ADDRESS: Final = 24
"""Idle connections an address may have: a browser holds six for each of a few windows."""

LONGEST_REQUEST_S: Final = 10.0
"""The longest time that a request may take to arrive."""

_HIGH_WATERMARK_BYTES = 262_144
"""Bytes that may wait for a slow listener before its stream pauses: about a dozen states."""

_MAX_IN_MEMORY_BYTES = 33_554_432
"""Larger responses are moved from memory to a file until they are sent."""


class Server:
    """One application on one address.

    It listens from its creation; `run` serves in the calling thread until another thread calls
    `close` or the user presses Ctrl-C. Each event stream holds a thread: there are `STREAMS` of
    them (further pages must poll) and eight for the rest.

    Args:
        app: An application of `create_app`.
        host: The address to listen on; `0.0.0.0` admits phones on the same network.
        port: The port; 0 for any free one.
        streams: The counter of the application's listeners, if `create_app` did not make it.

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
        self._max_connections = 4 * (self._streams.limit + _SPARE_THREADS)
        self._incomplete_since_s: dict[HTTPChannel, float] = {}
        self._socket = _listening(host, port)
        self._stopping = threading.Event()
        self._trigger_lock = threading.Lock()
        self._socket_map: dict[int, Any] = {}
        server = create_server(
            app,
            map=self._socket_map,
            sockets=[self._socket],
            threads=self._streams.limit + _SPARE_THREADS,
            # `_make_room` stays below the limit; the margin is for arrivals between two rounds.
            connection_limit=self._max_connections + 32,
            # Only by reading ahead does waitress notice that a listener has hung up.
            channel_request_lookahead=1,
            outbuf_high_watermark=_HIGH_WATERMARK_BYTES,
            # A long game's film has some megabytes and should stay in memory.
            outbuf_overflow=_MAX_IN_MEMORY_BYTES,
            # The application has a lower limit (MAX_CONTENT_LENGTH), which it reports in JSON.
            max_request_body_size=1_048_576,
            ident="tablecam",
        )
        if not isinstance(server, TcpWSGIServer):
            raise TypeError(f"expected waitress to serve one socket, got {server!r}")
        self._waitress = server

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return int(self._socket.getsockname()[1])

    @property
    def address(self) -> str:
        """The address for a browser on this machine."""
        host = self._socket.getsockname()[0]
        # No browser can open the address that stands for all interfaces.
        if host in ("0.0.0.0", "::"):
            host = "127.0.0.1"
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def network_address(self) -> str | None:
        """The address for a phone on the same network; None if only this machine has access."""
        if self._socket.getsockname()[0] not in ("0.0.0.0", "::"):
            return None
        host = _own_network_host()
        return None if host is None else f"http://{host}:{self.port}/"

    def run(self, *, open_browser: bool = False, start: str | None = None) -> None:
        """Serves until `close` is called, Ctrl-C is pressed, or the program is told to end.

        With `open_browser`, opens `start` or else the table.
        """
        if open_browser:
            page = start or self.address
            # In a thread, because some browsers return only when they are closed.
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()
        try:
            with _ended_by_signals():
                while not self._stopping.is_set():
                    # One round at a time, to look after idle connections in between.
                    wasyncore.loop(timeout=1.0, map=self._socket_map, count=1)
                    self._make_room()
        except KeyboardInterrupt:
            log.info("stopping")
        finally:
            self._end()

    def _make_room(self) -> None:
        """Closes idle connections: slow requests, and the oldest if there are too many."""
        now_s = time.monotonic()
        # Its stub names one channel.
        by_number: Any = self._waitress.active_channels
        channels: list[HTTPChannel] = [*by_number.values()]
        # An event stream is never idle: its request is still being answered.
        idle = [
            channel
            for channel in channels
            if not channel.requests and not channel.total_outbufs_len
        ]
        # A hundred incomplete requests could lock everybody out.
        self._incomplete_since_s = {
            channel: self._incomplete_since_s.get(channel, now_s)
            for channel in idle
            if channel.request is not None
        }
        # Visitors with a seat by link are closed last.
        idle.sort(key=lambda channel: (self._is_seated(channel), channel.last_activity))
        excess = len(channels) - self._max_connections
        idle_by_address = Counter(map(_address, idle))
        for channel in idle:
            is_late = now_s - self._incomplete_since_s.get(channel, now_s) > LONGEST_REQUEST_S
            if is_late or excess > 0 or idle_by_address[_address(channel)] > MOST_OF_ADDRESS:
                channel.will_close = True
                excess -= 1
                idle_by_address[_address(channel)] -= 1

    def _is_seated(self, channel: HTTPChannel) -> bool:
        return self._seats is not None and self._seats.is_seated(_address(channel))

    def close(self) -> None:
        """Stops serving. May be called from any thread, and twice."""
        # The streams first: each holds a thread that the server waits for.
        self._streams.close()
        with self._trigger_lock:
            if not self._stopping.is_set():
                self._stopping.set()
                self._waitress.pull_trigger()

    def _end(self) -> None:
        self._streams.close()
        # `close` must not use the trigger while it is being closed.
        with self._trigger_lock:
            self._stopping.set()
        self._waitress.task_dispatcher.shutdown()
        wasyncore.close_all(self._socket_map)
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
    """Handles signals that end a program, such as a closed terminal window, like Ctrl-C.

    So the last pictures are stored, and a hall gets the end of a game. Ignored signals stay so.
    """
    # Only the main thread may set signal handlers.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = [getattr(signal, name) for name in _STOP_SIGNALS if hasattr(signal, name)]
    handled = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


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
        raise BadInput(source, "expected an address of this machine, got an unknown name") from None


def _why_not(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program uses this port; choose another with --port"
    if error.errno == errno.EACCES:
        return "this port is reserved for the system; choose one above 1023 with --port"
    return f"expected an address of this machine, got: {error.strerror or error}"


def _own_network_host() -> str | None:
    """Returns this machine's address in its network, without sending anything."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # An address that is reserved for documentation (RFC 5737).
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])
