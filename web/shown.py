"""The live table that an application shows, stored once and looked up by its views."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Flask, current_app

from tablecam.errors import BadInput
from tablecam.live.table import LiveTable
from tablecam.simulate.table import SimulatedTable
from web.streams import Streams

_KEY = "tablecam"


@dataclass(frozen=True, slots=True)
class Shown:
    """The live table, and the event streams of its listeners."""

    live: LiveTable
    streams: Streams

    @property
    def simulated(self) -> SimulatedTable:
        """The controls of a simulated table.

        Raises:
            BadInput: The table is a real one.
        """
        if self.live.simulated is None:
            raise BadInput("table", "expected a simulated table, but a camera watches this one")
        return self.live.simulated


def show(app: Flask, live: LiveTable, streams: Streams) -> None:
    """Stores the table that an application shows."""
    app.extensions[_KEY] = Shown(live, streams)


def shown(app: Flask | None = None) -> Shown:
    """Returns the table that an application shows, by default the current request's."""
    value = (app or current_app).extensions[_KEY]
    if not isinstance(value, Shown):
        raise TypeError(f"expected an application made by create_app, got {value!r}")
    return value
