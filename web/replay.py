"""The page that plays a recording, and its questions about alternative positions.

Spectators may look back during a game: nothing here changes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from flask import Blueprint, Flask, Response, abort, current_app, jsonify, render_template, request
from pydantic import BaseModel, ConfigDict, Field

import tablecam
from tablecam.errors import BadInput
from tablecam.live.table import LiveTable
from tablecam.live.what_if import WhatIf
from tablecam.record.entries import PICTURE_KINDS, PictureKind
from tablecam.record.journal import Journal
from tablecam.referee.refusals import NotDeclared
from tablecam.replay.film import film, pictured, table_name
from tablecam.replay.moment import Branch, is_measuring_closed, is_over
from tablecam.replay.text_form import text_of
from tablecam.rules.books import book_of
from web.bodies import request_body
from web.page_file import STYLES, page_modules

_Name = Annotated[str, Field(min_length=1, max_length=100)]
_Number = Annotated[float, Field(ge=-100_000, le=100_000)]
_Place = tuple[_Number, _Number, _Number]
_Places = Annotated[list[_Place], Field(max_length=64)]


class OfBranch(BaseModel):
    """A moment of the recording, by its entry, with the bases of some units placed elsewhere."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    moment: int = Field(ge=1)
    laid: Annotated[dict[_Name, _Places], Field(max_length=200)] = Field(default_factory=dict)


class MeasuredBranch(OfBranch):
    """Two things to measure between."""

    a: _Name
    b: _Name


class AboutBranch(OfBranch):
    """A thing to explain."""

    thing: _Name


class SheetOfBranch(OfBranch):
    """A unit or two, and the active side."""

    a: _Name
    b: _Name | None = None
    active: _Name


class OddsOfBranch(OfBranch):
    """The request to compute the odds of, in the game's own format."""

    wanted: dict[_Name, Any]


Asked = TypeVar("Asked", bound=OfBranch)


blueprint = Blueprint("replay", __name__)

Recording = Callable[[], Journal | None]

_KEY = "tablecam recording"
_MAX_AGE_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class Played:
    """A recording that is shown, and the live table that makes it, if any.

    `is_own` is True if the viewer owns the recording; `is_going_on` returns whether it is still
    being written; `name` returns the players' name for its table, or "".
    """

    recording: Recording
    what_if: WhatIf
    live: LiveTable | None
    is_own: bool
    is_going_on: Callable[[], bool]
    name: Callable[[], str]


def play_recording(
    app: Flask,
    recording: Recording,
    live: LiveTable | None = None,
    *,
    is_own: bool = False,
    is_going_on: Callable[[], bool] = lambda: True,
    name: Callable[[], str] = lambda: "",
) -> None:
    """Adds the replay of a recording to an application."""
    what_if = WhatIf(recording)
    app.extensions[_KEY] = Played(recording, what_if, live, is_own, is_going_on, name)
    app.register_blueprint(blueprint)


@blueprint.get("/replay")
def page() -> str:
    """Returns the page, which requests the film itself."""
    journal = _played().recording()
    game = "" if journal is None else journal.facts().game
    about = {
        "base": request.script_root,
        "name": _played().name() or ("" if journal is None else table_name(journal)),
        "live": not _played().is_own and _played().is_going_on(),
        "rules": book_of(game) is not None,
        "text": _may_have_the_text(),
    }
    return render_template(
        "replay.html",
        about=about,
        styles=STYLES,
        modules=page_modules(),
        version=tablecam.__version__,
    )


@blueprint.get("/api/replay/film")
def whole_film() -> Response:
    """Returns the film of the recording, or its part `after` an entry; 204 if there is no more.

    A page that knows of `pictures` pictures up to that entry gets the list if there are more.
    """
    journal = _played().recording()
    if journal is None:
        return Response(status=204)
    # A page may name any number.
    after = min(max(request.args.get("after", 0, type=int), 0), journal.last())
    known_count = request.args.get("pictures", type=int)
    # Pictures are recorded later than the entries that they show.
    has_all_pictures = (
        not after or known_count is None or journal.picture_count(up_to=after) == known_count
    )
    if after and has_all_pictures and journal.last() <= after:
        return Response(status=204)
    document = film(journal, after) | (
        {} if has_all_pictures else {"pictures": pictured(journal, after)}
    )
    # Without spaces: it is the largest response of all.
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return Response(data, mimetype="application/json")


@blueprint.get("/api/replay/pictures/<int(max=999999999999):entry>/<kind>")
def picture(entry: int, kind: str) -> Response:
    """Returns a picture of an entry; it never changes."""
    if kind not in PICTURE_KINDS:
        abort(404, f"expected one of {', '.join(PICTURE_KINDS)}")
    picture_kind: PictureKind = kind
    try:
        stored = _journal().picture(entry, picture_kind)
    except BadInput as error:
        abort(404, str(error))
    response = Response(stored.image, mimetype=stored.media_type)
    response.headers["Cache-Control"] = f"private, max-age={_MAX_AGE_S}, immutable"
    return response


@blueprint.get("/api/replay/text")
def text() -> Response:
    """Returns the recording as text for a message; it reveals all cards, so only after a game."""
    if not _may_have_the_text():
        abort(403, "the text reveals the game's cards: it can be copied once the game is over")
    return Response(text_of(_journal()), mimetype="text/plain")


@blueprint.post("/api/replay/measure")
def measure() -> Response:
    """Returns the distance between two things in a branch."""
    body = _asked(MeasuredBranch)
    return jsonify(_played().what_if.measure(_branch(body), body.a, body.b))


@blueprint.post("/api/replay/about")
def about() -> Response:
    """Describes a thing in a branch, with its range rings, front and flank lines."""
    body = _asked(AboutBranch)
    return jsonify(_played().what_if.about(_branch(body), body.thing))


@blueprint.post("/api/replay/sheet")
def sheet() -> Response:
    """Returns all rulings on a unit or between two, in a branch."""
    body = _asked(SheetOfBranch)
    what_if, branch = _played().what_if, _branch(body)
    if body.b is None:
        return jsonify(what_if.unit_sheet(branch, body.a, body.active))
    return jsonify(what_if.pair_sheet(branch, body.a, body.b, body.active))


@blueprint.post("/api/replay/odds")
def odds() -> Response:
    """Returns the odds of a request in a branch, before dice are rolled."""
    body = _asked(OddsOfBranch)
    return jsonify(_played().what_if.odds(_branch(body), body.wanted))


def _asked(body: type[Asked]) -> Asked:
    """Returns a request's body, unless the players must declare before anyone measures."""
    played = _played()
    # At the table the referee knows what is declared; spectators may measure nothing until then.
    if played.live is not None:
        if played.live.referee is not None:
            played.live.referee.check_open()
    elif not played.is_own and is_measuring_closed(_journal()):
        raise NotDeclared(
            "measuring", "the players must declare before they measure: spectators cannot measure"
        )
    return request_body(body, "what if")


def _branch(body: Any) -> Branch:
    return Branch(body.moment, body.laid)


def _may_have_the_text() -> bool:
    """Whether the viewer may copy the text, which reveals cards that a running game conceals."""
    played = _played()
    journal = played.recording()
    return journal is not None and (played.is_own or is_over(journal))


def _journal() -> Journal:
    journal = _played().recording()
    if journal is None:
        abort(404, "this table has no recording yet")
    return journal


def _played() -> Played:
    played: Played = current_app.extensions[_KEY]
    return played
