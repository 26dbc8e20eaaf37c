"""Assembles the Flask applications of a live table and of a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask import Flask, redirect, url_for

from tablecam.live.camera_choice import CameraChoice
from tablecam.live.table import LiveTable
from tablecam.record.journal import Journal
from web import api, errors, fonts, game, guard, pages, rulings
from web.cameras import offer_cameras
from web.replay import Recording, play_recording
from web.seats import Seats, seat_people
from web.shown import show
from web.streams import Streams

DEFAULTS = {
    # The largest body lays all bases of a table: 19 kB for the demo's 82; this has room for
    # three times the 160 of a large one.
    "MAX_CONTENT_LENGTH": 131_072,
    # Event streams served at once: each holds a thread (see server.py). The page polls without.
    "STREAMS": 24,
    # How long a stream may be silent before it says that it is alive.
    "KEEP_ALIVE_S": 5.0,
}


def create_app(
    live: LiveTable,
    config: Mapping[str, Any] | None = None,
    *,
    seats: Seats | None = None,
    recording: Recording = lambda: None,
    cameras: CameraChoice | None = None,
) -> Flask:
    """Returns the application that shows a live table.

    Args:
        live: The table; it must outlive the application.
        config: Flask's settings and those of `DEFAULTS` to override.
        seats: The seats; by default all players share the screen.
        recording: Returns the recording of the table, for the replay page; None without one.
        cameras: The cameras to choose from; None if no camera watches the table.
    """
    app = _configured(config)
    show(app, live, Streams(app.config["STREAMS"]))
    app.register_blueprint(pages.blueprint)
    app.register_blueprint(api.blueprint)
    app.register_blueprint(rulings.blueprint)
    app.register_blueprint(game.blueprint)
    offer_cameras(app, cameras)
    play_recording(app, recording, live, name=lambda: live.roster.name)
    # Before the seats: strangers are refused before they could get one.
    guard.protect(app)
    seat_people(app, seats or Seats(live.roster.sides))
    errors.explain(app)
    return app


def create_replay(
    journal: Journal,
    config: Mapping[str, Any] | None = None,
    *,
    is_own: bool = False,
    is_going_on: Callable[[], bool] = lambda: True,
    name: Callable[[], str] = lambda: "",
) -> Flask:
    """Returns the application that plays one recording, without a table.

    Args:
        journal: The recording; it may grow meanwhile.
        config: As for `create_app`.
        is_own: Whether the viewer owns the recording, and may copy all of it at any time.
        is_going_on: Returns whether it is still written to; an open page then follows it.
        name: Returns the players' name for the table; if empty, its table file's name is used.
    """
    app = _configured(config)
    play_recording(app, lambda: journal, is_own=is_own, is_going_on=is_going_on, name=name)
    app.add_url_rule("/", "start", lambda: redirect(url_for("replay.page")))
    guard.protect(app)
    errors.explain(app)
    return app


def _configured(config: Mapping[str, Any] | None) -> Flask:
    app = Flask("web")
    app.config.from_mapping(DEFAULTS)
    app.config.from_mapping(config or {})
    app.register_blueprint(fonts.blueprint)
    return app
