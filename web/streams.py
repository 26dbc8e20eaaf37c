"""Event streams: the newest state of the table to every page that listens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from flask import json

from tablecam.live.protocol import Live
from web.view import state_json

_PATIENCE_S = 0.5
"""How long one look for news lasts; a stream notices within it that it is to end."""

_RETRY = b"retry: 2000\n\n"
_ALIVE = b"event: alive\ndata:\n\n"


class Streams:
    """How many streams are open, at most how many may be, and the end of all of them."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._open = 0
        self._changed = threading.Condition()
        self._closed = threading.Event()

    def enter(self) -> bool:
        """Take a place for one more stream; False when there is none."""
        with self._changed:
            if self._closed.is_set() or self._open >= self.limit:
                return False
            self._open += 1
            return True

    def leave(self) -> None:
        """Give a place back."""
        with self._changed:
            self._open -= 1
            self._changed.notify_all()

    @property
    def open_count(self) -> int:
        """How many streams are open now."""
        with self._changed:
            return self._open

    def close(self) -> None:
        """End all streams, and let none begin. They are over within half a second."""
        self._closed.set()

    def wait_until_empty(self, timeout_s: float) -> bool:
        """Whether no stream is open, waiting at most so long for it."""
        with self._changed:
            return self._changed.wait_for(lambda: self._open == 0, timeout_s)

    @property
    def are_closed(self) -> bool:
        """Whether all streams are to end."""
        return self._closed.is_set()


def events(
    live: Live, streams: Streams, is_gone: Callable[[], bool], *, keep_alive_s: float
) -> Iterator[bytes]:
    """Server-sent events: `state` with each new state, `alive` when there was none for a while.

    A listener who is slower than the table gets the newest state, never a queue of old ones.

    Args:
        live: The table.
        streams: Tells when to end.
        is_gone: Whether the listener has hung up.
        keep_alive_s: The longest silence.
    """
    yield _RETRY
    version, silent_s = -1, 0.0
    while not (streams.are_closed or is_gone()):
        snapshot = live.wait(version, _PATIENCE_S)
        if snapshot is None:
            silent_s += _PATIENCE_S
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
