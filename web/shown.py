"""What an application shows: given to it once, found again by its views."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Flask, current_app

from tablecam.errors import BadInput
from tablecam.live.protocol import Live, SimulatedControls
from web.streams import Streams

_KEY = "tablecam"


@dataclass(frozen=True, slots=True)
class Shown:
    """The live table and the streams that listen to it."""

    live: Live
    streams: Streams

    @property
    def simulated(self) -> SimulatedControls:
        """The controls of a simulated table.

        Raises:
            BadInput: The table is a real one.
        """
        if self.live.simulated is None:
            raise BadInput("table", "expected a simulated table, but a camera watches this one")
        return self.live.simulated


def show(app: Flask, live: Live, streams: Streams) -> None:
    """Give an application what it shows."""
    app.extensions[_KEY] = Shown(live, streams)


def shown(app: Flask | None = None) -> Shown:
    """What an application shows; the one that answers the current request when none is given."""
    value = (app or current_app).extensions[_KEY]
    if not isinstance(value, Shown):
        raise TypeError(f"expected an application made by create_app, got {value!r}")
    return value
