"""Seats at the table: on this machine players tap to take one; on a network by a secret link.

A link sets a cookie that scripts cannot read. A visitor without one is refused if seats are by
link, and otherwise shares the screen with all players. A second cookie marks a shared screen, so
that it can return from any seat taken on it.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from flask import Blueprint, Flask, Response, abort, current_app, g, jsonify, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from tablecam.documents import read_json
from tablecam.errors import BadInput
from tablecam.referee.seats import BOTH, SHARED, SPECTATOR, Seat, player
from tablecam.wording import nearest
from web.bodies import TakeSeat, request_body
from web.codes import svg_code
from web.shown import shown

log = logging.getLogger(__name__)

_TOKEN_BYTES = 24


def new_tokens(names: Iterable[str]) -> dict[str, str]:
    """Returns a random token for each seat."""
    return {name: secrets.token_urlsafe(_TOKEN_BYTES) for name in names}


def kept_tokens(path: Path, names: Iterable[str], *, is_new: bool) -> Mapping[str, str]:
    """Returns the stored tokens for these seats; new ones for a new game, or if there are none.

    Only the user who runs the server may read the file. If it cannot be written, the tokens last
    until the server ends.
    """
    seat_names = tuple(names)
    stored = {} if is_new else _read(path)
    # Another table file may have other sides.
    if stored.keys() == set(seat_names):
        return stored
    tokens = new_tokens(seat_names)
    try:
        _write(path, tokens)
    except OSError as error:
        log.warning("the seats' links are valid only until this server stops: %s", error)
    return tokens


def _read(path: Path) -> dict[str, str]:
    try:
        document = read_json(path).data
    except BadInput:
        return {}
    return {name: token for name, token in document.items() if isinstance(token, str) and token}


def _write(path: Path, tokens: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Created anew, so that only its owner may read it.
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(dict(tokens), file)


blueprint = Blueprint("seats", __name__)

_COOKIE = "tablecam_seat"
_SCREEN_COOKIE = "tablecam_screen"
_KEY = "tablecam seats"
_MAX_AGE_S = 7 * 24 * 3600


class Seats:
    """The seats of a table, each with a secret token.

    `address` is this machine's address for phones; the caller that serves the table sets it.

    Args:
        sides: The sides that play.
        by_link: Whether a seat requires its link; otherwise all visitors share the screen.
        keys: The file that stores the tokens, so that links survive this server; by default none.
        is_new: Whether a new game begins, which invalidates earlier links.
    """

    def __init__(
        self,
        sides: Iterable[str],
        *,
        by_link: bool = False,
        keys: Path | None = None,
        is_new: bool = False,
    ) -> None:
        seats = {side: player(side) for side in sides}
        self.by_name: Mapping[str, Seat] = {
            **seats,
            "shared": SHARED,
            "both": BOTH,
            "spectator": SPECTATOR,
        }
        self.by_link = by_link
        self.address = ""
        self._tokens = (
            new_tokens(self.by_name)
            if keys is None
            else kept_tokens(keys, self.by_name, is_new=is_new)
        )
        self._seated: set[str] = set()
        self._taken: Counter[Seat] = Counter()

    def token(self, name: str) -> str:
        """Returns the token of a seat.

        Raises:
            BadInput: There is no such seat.
        """
        if name not in self._tokens:
            hint = nearest(name, self._tokens)
            raise BadInput("seat", f"there is no seat {name}{hint}")
        return self._tokens[name]

    def path(self, name: str) -> str:
        """Returns the path on this machine that takes a seat."""
        return f"/seat/{self.token(name)}"

    def link(self, name: str) -> str:
        """Returns the full link to a seat."""
        return self.address.rstrip("/") + self.path(name)

    def seat(self, token: str) -> Seat | None:
        """Returns the seat of a token, compared in constant time."""
        seat = None
        # No early return: the time must not depend on the token.
        for name, known in self._tokens.items():
            if hmac.compare_digest(known.encode(), token.encode()):
                seat = self.by_name[name]
        return seat

    def change(self, own: Seat, taken: Seat) -> None:
        """Notes that a screen has left its seat for another."""
        self._taken.subtract([own])
        self._taken.update([taken])

    def sides_elsewhere(self, own: Seat) -> list[str]:
        """Returns the sides whose seats other screens have taken by a tap."""
        # A copy: other requests take seats meanwhile.
        taken = [*self._taken.items()]
        others = (seat.side for seat, count in taken if count > (seat == own))
        return [side for side in others if side is not None]

    def note_seated(self, address: str) -> None:
        """Stores that a visitor with a seat by link uses an address."""
        self._seated.add(address)

    def is_seated(self, address: str) -> bool:
        """Whether a visitor with a seat by link uses an address."""
        return address in self._seated


def seat_people(app: Flask, seats: Seats) -> None:
    """Adds seats to an application: from now on every request has a seat."""
    app.extensions[_KEY] = seats
    app.before_request(_assign_seat)
    app.register_blueprint(blueprint)


def seats_of(app: Flask) -> Seats | None:
    """Returns the seats of an application; None if it has none."""
    seats: Seats | None = app.extensions.get(_KEY)
    return seats


def seat_now() -> Seat:
    """Returns the seat of the current request."""
    seat: Seat = g.seat
    return seat


@blueprint.get("/seat/<token>")
def sit_down(token: str) -> AnyResponse:
    """Takes the seat of a link, and redirects to the table."""
    seat = _seats().seat(token)
    if seat is None:
        _refuse_wrong()
    response = _with_cookie(redirect("/", 303), _COOKIE, token)
    if seat == SHARED:
        return _with_cookie(response, _SCREEN_COOKIE, token)
    # The screen is no longer shared.
    response.delete_cookie(_cookie_name(_SCREEN_COOKIE))
    return response


@blueprint.get("/api/seats")
def links() -> Response:
    """Returns the seats, this screen's own and, for the shared screen, the links to all of them."""
    seats, own = _seats(), seat_now()
    names = [name for name, seat in seats.by_name.items() if seat == own]
    shows_links = own == SHARED
    return jsonify(
        own=names[0],
        by_link=seats.by_link,
        may_change=_may_change(),
        seats=[
            {
                "name": name,
                "side": seat.side,
                # Whoever plays both sides does so on the shared screen.
                "link": seats.link(name) if shows_links and seat != BOTH else None,
            }
            for name, seat in seats.by_name.items()
        ],
    )


@blueprint.get("/api/seats/<name>/code.svg")
def code(name: str) -> Response:
    """Returns the link to a seat as a QR code, for the shared screen to show."""
    if seat_now() != SHARED:
        abort(403, "only the shared screen may show the links")
    response = Response(svg_code(_seats().link(name)), mimetype="image/svg+xml")
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.post("/api/seat")
def change() -> AnyResponse:
    """Takes another seat by a tap on a shared screen."""
    body = request_body(TakeSeat, "seat")
    token = _seats().token(body.seat)
    if not _may_change():
        abort(403, "this seat is yours; another one needs its own link")
    if (referee := shown().live.referee) is not None:
        referee.sit(_seats().by_name[body.seat])
    _seats().change(seat_now(), _seats().by_name[body.seat])
    return _with_cookie(jsonify(own=body.seat), _COOKIE, token)


def _may_change() -> bool:
    """Whether a tap may take another seat: only on a shared screen."""
    screen = _seats().seat(_cookie(_SCREEN_COOKIE))
    return not _seats().by_link or SHARED in (seat_now(), screen)


def _assign_seat() -> None:
    """Determines the seat of a request, and refuses strangers."""
    # Until the seat is known, it is the one with the fewest rights.
    g.seat = SPECTATOR
    # A link must work for somebody who has no seat yet, and the page that refuses one is styled.
    if request.endpoint in ("seats.sit_down", "static", "fonts.serif"):
        return
    seat = _seats().seat(_cookie(_COOKIE))
    if seat is not None:
        # The server closes the connections of these addresses last.
        _seats().note_seated(request.remote_addr or "")
    elif _seats().by_link:
        abort(403, "this table requires a link: ask for yours")
    g.seat = seat or SHARED
    if g.seat == SPECTATOR and not (_is_question() or _is_tap()):
        abort(403, "spectators cannot change anything")


def _is_question() -> bool:
    """Whether a request changes nothing, as all of the replay page's."""
    return request.method in ("GET", "HEAD", "OPTIONS") or request.blueprint == "replay"


def _is_tap() -> bool:
    """Whether a player at a shared screen takes another seat."""
    return request.endpoint == "seats.change"


def _refuse_wrong() -> None:
    """Refuses a wrong link."""
    abort(403, "this link does not belong to this table: it may be from an earlier game")


def _with_cookie(response: AnyResponse, name: str, token: str) -> AnyResponse:
    # Lax: a link in a message opens the table, but no other site's form can act on it.
    response.set_cookie(
        _cookie_name(name), token, max_age=_MAX_AGE_S, httponly=True, samesite="Lax"
    )
    return response


def _cookie(name: str) -> str:
    return request.cookies.get(_cookie_name(name), "")


def _cookie_name(name: str) -> str:
    """Returns a cookie's name for this table: browsers share cookies between a host's ports."""
    return f"{name}_{request.environ.get('SERVER_PORT', '')}"


def _seats() -> Seats:
    seats: Seats = current_app.extensions[_KEY]
    return seats
