"""Event streams, which send the newest state to every listening page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from flask import Response, abort, current_app, json, request

_WAIT_S = 0.5
"""How long to wait for a new state at a time, and so how soon a stream notices that it must end."""


class Streams:
    """Counts open streams, limits them, and ends all of them."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._open = 0
        self._changed = threading.Condition()
        self._closed = threading.Event()

    def enter(self) -> bool:
        """Reserves a place for one more stream; False if there is none."""
        with self._changed:
            if self._closed.is_set() or self._open >= self.limit:
                return False
            self._open += 1
            return True

    def leave(self) -> None:
        """Releases a place."""
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    @property
    def open_count(self) -> int:
        """How many streams are open now."""
        with self._changed:
            return self._open

    def close(self) -> None:
        """Ends all streams within half a second, and admits no more."""
        self._closed.set()

    def wait_until_empty(self, timeout_s: float) -> bool:
        """Waits until no stream is open; returns False after the timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, timeout_s)

    @property
    def are_closed(self) -> bool:
        """Whether all streams must end."""
        return self._closed.is_set()


def event_stream(
    streams: Streams, newest: Callable[[float], bytes | None], instead: str
) -> Response:
    """Streams server-sent events: the messages of `newest`, and `alive` after a silence.

    Args:
        streams: Counts it, and says when to end.
        newest: Waits at most so many seconds for a state that the listener does not know, and
            returns its message; None after that. A slow listener gets the newest state next, never
            a queue of old ones.
        instead: The address to poll where too many pages listen, which is answered with 503.
    """
    if not streams.enter():
        abort(503, f"{streams.limit} pages are listening already; poll {instead} instead")
    # Only waitress reports that a listener has hung up.
    is_gone = request.environ.get("waitress.client_disconnected", lambda: False)
    keep_alive_s = current_app.config["KEEP_ALIVE_S"]

    def messages() -> Iterator[bytes]:
        yield b"retry: 2000\n\n"
        silent_s = 0.0
        while not (streams.are_closed or is_gone()):
            message = newest(_WAIT_S)
            if message is None and (silent_s := silent_s + _WAIT_S) < keep_alive_s:
                continue
            silent_s = 0.0
            yield message or b"event: alive\ndata:\n\n"

    response = Response(messages(), mimetype="text/event-stream")
    # Frees the listener's place however the response ends.
    response.call_on_close(streams.leave)
    response.headers["Cache-Control"] = "no-store"
    return response


def message(event: str, document: object) -> bytes:
    """Returns a server-sent event with a JSON document."""
    data = json.dumps(document, separators=(",", ":"))
    return f"event: {event}\ndata: {data}\n\n".encode()
