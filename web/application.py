"""Puts the application together around one live table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Flask

from tablecam.live.protocol import Live
from web import api, errors, game, guard, pages, rulings
from web.seats import Seats, seat_people
from web.shown import show
from web.streams import Streams
from web.view import sides_of

DEFAULTS = {
    # A request's body is one move; this is room for fifty.
    "MAX_CONTENT_LENGTH": 16_384,
    # Event streams served at once: each holds a thread (see server.py). The page polls without.
    "STREAMS": 24,
    # How long a stream may be silent before it says that it is alive.
    "KEEP_ALIVE_S": 5.0,
    # The ranges, in base widths, that the page asks about when two things are measured.
    "RANGES_BW": (1, 2, 4, 8),
}


def create_app(
    live: Live, config: Mapping[str, Any] | None = None, *, seats: Seats | None = None
) -> Flask:
    """The application that shows a live table.

    Args:
        live: The table; it must outlive the application.
        config: Flask's settings and those of `DEFAULTS`, to replace what they say.
        seats: Who may sit where; all share the screen when left out.
    """
    app = Flask("web")
    app.config.from_mapping(DEFAULTS)
    app.config.from_mapping(config or {})
    show(app, live, Streams(app.config["STREAMS"]))
    app.register_blueprint(pages.blueprint)
    app.register_blueprint(api.blueprint)
    app.register_blueprint(rulings.blueprint)
    app.register_blueprint(game.blueprint)
    guard.protect(app)
    seat_people(app, seats or Seats(sides_of(live.roster)))
    errors.explain(app)
    return app
