"""Seats at the table: on this machine they are taken by a tap, on a network by a secret link.

A link sets a cookie that scripts cannot read. Whoever has none is turned away where seats are by
link, and shares the screen with all players where they are not. A shared screen stays one whichever
seat is taken on it: a second cookie lets it come back.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from pathlib import Path

from flask import Blueprint, Flask, Response, abort, current_app, g, jsonify, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from tablecam.errors import BadInput
from tablecam.referee.seats import SHARED, SPECTATOR, Seat, player
from tablecam.wording import nearest
from web.bodies import TakeSeat, asked
from web.codes import svg_code
from web.seat_keys import kept_tokens, new_tokens

blueprint = Blueprint("seats", __name__)

_COOKIE = "tablecam_seat"
_SCREEN_COOKIE = "tablecam_screen"
_KEY = "tablecam seats"
_KEPT_FOR_S = 7 * 24 * 3600


class Seats:
    """The seats of a table, each with a token that nobody guesses.

    `address` is where phones find this machine; whoever serves the table says so.

    Args:
        sides: The sides that play.
        by_link: Whether a seat needs its link; without, all who come share the screen.
        keys: Where the tokens are kept, so that links count beyond this server; for this one alone
            when left out.
        is_new: Whether a new game begins, for which no earlier link counts.
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
        self.by_name: Mapping[str, Seat] = {**seats, "shared": SHARED, "spectator": SPECTATOR}
        self.by_link = by_link
        self.address = ""
        self._tokens = (
            new_tokens(self.by_name)
            if keys is None
            else kept_tokens(keys, self.by_name, is_new=is_new)
        )
        self._seated: set[str] = set()

    def token(self, name: str) -> str:
        """The token of a seat.

        Raises:
            BadInput: There is no such seat.
        """
        if name not in self._tokens:
            there = nearest(name, self._tokens)
            raise BadInput("seat", f"there is no seat {name}{there}")
        return self._tokens[name]

    def path(self, name: str) -> str:
        """The address of a seat on this machine: open it, and it is taken."""
        return f"/seat/{self.token(name)}"

    def link(self, name: str) -> str:
        """The whole link to a seat."""
        return self.address.rstrip("/") + self.path(name)

    def seat(self, token: str) -> Seat | None:
        """The seat of a token; compared so that the time it takes tells nothing."""
        found = None
        for name, known in self._tokens.items():
            if hmac.compare_digest(known.encode(), token.encode()):
                found = self.by_name[name]
        return found

    def note_seated(self, address: str) -> None:
        """Note that somebody who has a seat by its link asks from an address."""
        self._seated.add(address)

    def is_seated(self, address: str) -> bool:
        """Whether somebody who has a seat by its link has asked from an address."""
        return address in self._seated


def seat_people(app: Flask, seats: Seats) -> None:
    """Give an application its seats; every request is somebody's from now on."""
    app.extensions[_KEY] = seats
    app.before_request(_take_place)
    app.register_blueprint(blueprint)


def seats_of(app: Flask) -> Seats | None:
    """The seats of an application; None where it has none."""
    seats: Seats | None = app.extensions.get(_KEY)
    return seats


def seat_now() -> Seat:
    """Whose request this is."""
    seat: Seat = g.seat
    return seat


@blueprint.get("/seat/<token>")
def sit_down(token: str) -> AnyResponse:
    """Take the seat of a link, and go to the table."""
    seat = _seats().seat(token)
    if seat is None:
        _refuse_wrong()
    response = _with_cookie(redirect("/", 303), _COOKIE, token)
    if seat == SHARED:
        return _with_cookie(response, _SCREEN_COOKIE, token)
    response.delete_cookie(_of_table(_SCREEN_COOKIE))  # this screen is somebody's own now
    return response


@blueprint.get("/api/seats")
def links() -> Response:
    """The seats, whose this page is, and, for the shared screen, the links to all of them."""
    seats, own = _seats(), seat_now()
    names = [name for name, seat in seats.by_name.items() if seat == own]
    shows_links = own == SHARED
    return jsonify(
        own=names[0],
        by_link=seats.by_link,
        may_change=_may_change(),
        seats=[
            {"name": name, "side": seat.side, "link": seats.link(name) if shows_links else None}
            for name, seat in seats.by_name.items()
        ],
    )


@blueprint.get("/api/seats/<name>/code.svg")
def code(name: str) -> Response:
    """The link to a seat as a QR code, for the shared screen to show."""
    if seat_now() != SHARED:
        abort(403, "only the shared screen shows the links")
    response = Response(svg_code(_seats().link(name)), mimetype="image/svg+xml")
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.post("/api/seat")
def change() -> AnyResponse:
    """Take another seat by a tap, where the screen is shared."""
    wanted = asked(TakeSeat, "seat")
    token = _seats().token(wanted.seat)
    if not _may_change():
        abort(403, "this seat is yours; another one needs its own link")
    return _with_cookie(jsonify(own=wanted.seat), _COOKIE, token)


def _may_change() -> bool:
    """Whether another seat may be taken by a tap: on a screen that players share."""
    screen = _seats().seat(_cookie(_SCREEN_COOKIE))
    return not _seats().by_link or SHARED in (seat_now(), screen)


def _take_place() -> None:
    """Find out whose request this is, and turn strangers away."""
    g.seat = SPECTATOR
    if request.endpoint in ("seats.sit_down", "static"):
        return
    seat = _seats().seat(_cookie(_COOKIE))
    if seat is not None:
        _seats().note_seated(request.remote_addr or "")
    elif _seats().by_link:
        abort(403, "this table is open by its links only: ask for yours")
    g.seat = seat or SHARED
    if g.seat == SPECTATOR and not (_is_question() or _is_tap()):
        abort(403, "who looks on changes nothing")


def _is_question() -> bool:
    """Whether nothing changes by the request; what might have been in a recording is asked so."""
    return request.method in ("GET", "HEAD", "OPTIONS") or request.blueprint == "replay"


def _is_tap() -> bool:
    """Whether somebody at a shared screen takes another seat."""
    return request.endpoint == "seats.change"


def _refuse_wrong() -> None:
    """Turn a wrong link away."""
    abort(403, "this link is not one of this table's: it may be of an earlier game")


def _with_cookie(response: AnyResponse, name: str, token: str) -> AnyResponse:
    # Lax: a link in a message opens the table, and no other site's form acts on it.
    response.set_cookie(_of_table(name), token, max_age=_KEPT_FOR_S, httponly=True, samesite="Lax")
    return response


def _cookie(name: str) -> str:
    return request.cookies.get(_of_table(name), "")


def _of_table(name: str) -> str:
    """A cookie's name at this table: browsers give all ports of a machine the same cookies."""
    return f"{name}_{request.environ.get('SERVER_PORT', '')}"


def _seats() -> Seats:
    seats: Seats = current_app.extensions[_KEY]
    return seats
