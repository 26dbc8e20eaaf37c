"""The application of a hall: all tables on one page, and each one's recording, to watch only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from flask import Flask, Response, abort, current_app, jsonify, render_template, request
from werkzeug.wrappers import Response as WsgiResponse

import tablecam
from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.hall.tables import Table
from tablecam.hall.watch import HallWatch
from web import errors, fonts, guard
from web.application import DEFAULTS, create_replay
from web.streams import Streams, event_stream, message

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

_KEY: Final = "tablecam hall"
_TABLES: Final = "/tables/"


def create_hall(watch: HallWatch, config: Mapping[str, Any] | None = None) -> tuple[Flask, Streams]:
    """Returns the application that shows a hall, and the counter of its event streams."""
    app = Flask("web")
    app.config.from_mapping(DEFAULTS)
    app.config.from_mapping(config or {})
    streams = Streams(app.config["STREAMS"])
    app.extensions[_KEY] = (watch, streams)
    app.add_url_rule("/", "page", _page)
    app.add_url_rule("/api/hall", "hall", _hall)
    app.add_url_rule("/api/hall/events", "events", _events)
    app.add_url_rule("/api/hall/<table>/table.jpg", "thumbnail", _thumbnail)
    app.register_blueprint(fonts.blueprint)
    guard.protect(app)
    errors.explain(app)
    app.wsgi_app = _Tables(app.wsgi_app, watch)  # type: ignore[method-assign] # as Flask has it
    return app, streams


class _Tables:
    """Serves each table's recording under its own path, and the hall's application elsewhere."""

    def __init__(self, hall: Wsgi, watch: HallWatch) -> None:
        self._hall = hall
        self._watch = watch
        self._apps: dict[str, Flask] = {}

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = str(environ.get("PATH_INFO", ""))
        if not path.startswith(_TABLES):
            return self._hall(environ, start_response)
        table, slash, rest = path.removeprefix(_TABLES).partition("/")
        try:
            app = self._app(table)
        except BadInput as error:
            return WsgiResponse(str(error), 404)(environ, start_response)
        # Each table's application treats this path as its root, so that its links lead back to it.
        prefix = f"{environ.get('SCRIPT_NAME', '')}{_TABLES}{table}"
        return app(environ | {"SCRIPT_NAME": prefix, "PATH_INFO": slash + rest}, start_response)

    def _app(self, table: str) -> Flask:
        # Created on the first visit, because a hall may hold many recordings.
        if table not in self._apps:
            journal = self._watch.journal(table)
            is_going_on = partial(self._watch.is_playing, table)
            name = partial(self._watch.name_of, table)
            self._apps[table] = create_replay(journal, is_going_on=is_going_on, name=name)
        return self._apps[table]


def _page() -> str:
    return render_template("hall.html", hall=_hall_json(), version=tablecam.__version__)


def _hall() -> Response:
    """Returns all tables; 204 while `after` is the newest version."""
    watch, _ = _shown()
    if request.args.get("after", type=int) == watch.version:
        return Response(status=204)
    return jsonify(_hall_json())


def _thumbnail(table: str) -> Response:
    """Returns a table from above as JPEG."""
    jpeg = _shown()[0].thumbnail(table) or abort(404, "this table has been empty so far")
    response = Response(jpeg, mimetype="image/jpeg")
    # By content: a picture that has not changed is not sent again.
    response.add_etag()
    response.headers["Cache-Control"] = "private, no-cache"
    response.make_conditional(request)
    return response


def _events() -> Response:
    """Streams all tables at each change, as server-sent events; 503 if too many pages listen."""
    watch, streams = _shown()
    version = -1
    ended: tuple[Table, ...] | None = None

    def newest(timeout_s: float) -> bytes | None:
        nonlocal version, ended
        newer = watch.wait(version, timeout_s)
        if newer is None:
            return None
        version, before, tables = newer, ended, watch.tables()
        # Ended tables are many, and are sent only when they change.
        ended = tuple(table for table in tables if not table.is_playing)
        return message("hall", _json(watch, version, tables, has_ended=ended != before))

    return event_stream(streams, newest, "/api/hall")


def _hall_json() -> Json:
    watch, _ = _shown()
    return _json(watch, watch.version, watch.tables())


def _json(
    watch: HallWatch, version: int, tables: Iterable[Table], *, has_ended: bool = True
) -> Json:
    """Returns a hall as pages receive it; ended tables are left out if they are known."""
    return {
        "version": version,
        "server": watch.hall.name,
        "trouble": watch.trouble,
        "has_ended": has_ended,
        "tables": [_table_json(table) for table in tables if has_ended or table.is_playing],
    }


def _table_json(table: Table) -> Json:
    at = table.started_at.isoformat(timespec="seconds")
    return asdict(table) | {"started_at": at}


def _shown() -> tuple[HallWatch, Streams]:
    shown: tuple[HallWatch, Streams] = current_app.extensions[_KEY]
    return shown
