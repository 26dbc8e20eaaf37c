"""Event streams, which send the newest state of the table to every listening page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from flask import json

from tablecam.live.table import LiveTable
from web.view import state_json

_WAIT_S = 0.5
"""How long to wait for a new state at a time, and so how soon a stream notices that it must end."""

_RETRY = b"retry: 2000\n\n"
_ALIVE = b"event: alive\ndata:\n\n"


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


def events(
    live: LiveTable, streams: Streams, is_gone: Callable[[], bool], *, keep_alive_s: float
) -> Iterator[bytes]:
    """Yields server-sent events: `state` with each new state, `alive` after a silence.

    Args:
        live: The table.
        streams: Says when to end.
        is_gone: Returns whether the listener has hung up.
        keep_alive_s: The longest silence, in seconds.
    """
    yield _RETRY
    version, silent_s = -1, 0.0
    while not (streams.are_closed or is_gone()):
        # A slow listener gets the newest state next, never a queue of old ones.
        snapshot = live.wait(version, _WAIT_S)
        if snapshot is None:
            silent_s += _WAIT_S
            if silent_s < keep_alive_s:
                continue
            message = _ALIVE
        else:
            version = snapshot.version
            message = b"event: state\ndata: " + _compact(state_json(live, snapshot)) + b"\n\n"
        silent_s = 0.0
        yield message


def _compact(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()
