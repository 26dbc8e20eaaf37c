"""The page that plays a recording: what it draws, and what it asks about what might have been.

A running game may be looked back upon by whoever may see it: nothing here changes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Flask, Response, abort, current_app, jsonify, render_template, request

import tablecam
from tablecam.errors import BadInput
from tablecam.live.protocol import Live
from tablecam.live.what_if import WhatIf
from tablecam.record.entries import PICTURE_KINDS, PictureKind
from tablecam.record.journal import Journal
from tablecam.referee.refusals import NotDeclared
from tablecam.replay.film import film, pictured, table_name
from tablecam.replay.moment import Branch, is_measuring_closed, is_over
from tablecam.replay.text_form import text_of
from tablecam.rules.books import book_of
from web.bodies import asked
from web.page_file import STYLES, page_modules
from web.replay_bodies import AboutBranch, Asked, MeasuredBranch, OddsOfBranch, SheetOfBranch

blueprint = Blueprint("replay", __name__)

Json = dict[str, Any]
Recording = Callable[[], Journal | None]

_KEY = "tablecam recording"
_KEPT_FOR_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class Played:
    """A recording that is shown, by whatever finds it, and the live table that makes it, if any.

    `is_own` where whoever looks has the recording itself; `is_going_on` while it is written to;
    `name` is what players call its table, where whoever shows it knows that.
    """

    recording: Recording
    what_if: WhatIf
    live: Live | None
    is_own: bool
    is_going_on: Callable[[], bool]
    name: Callable[[], str]


def play_recording(
    app: Flask,
    recording: Recording,
    live: Live | None = None,
    *,
    is_own: bool = False,
    is_going_on: Callable[[], bool] = lambda: True,
    name: Callable[[], str] = lambda: "",
) -> None:
    """Give an application a recording to play."""
    what_if = WhatIf(recording)
    app.extensions[_KEY] = Played(recording, what_if, live, is_own, is_going_on, name)
    app.register_blueprint(blueprint)


@blueprint.get("/replay")
def page() -> str:
    """The page; what it plays it asks for."""
    journal = _played().recording()
    game = "" if journal is None else journal.facts().game
    about = {
        "base": request.script_root,
        "name": _played().name() or ("" if journal is None else table_name(journal)),
        "live": not _played().is_own and _played().is_going_on(),
        "rules": book_of(game) is not None,
        "ranges_bw": list(current_app.config["RANGES_BW"]),
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
    """The film of the recording, or what was added `after` an entry; 204 while nothing was.

    Who knows of so many `pictures` until then is told of all, where there are more by now.
    """
    journal = _played().recording()
    if journal is None:
        return Response(status=204)
    after = min(max(request.args.get("after", 0, type=int), 0), journal.last())
    known = request.args.get("pictures", type=int)
    is_told = not after or known is None or journal.picture_count(up_to=after) == known
    if after and is_told and journal.last() <= after:
        return Response(status=204)
    document = film(journal, after) | ({} if is_told else {"pictures": pictured(journal, after)})
    # As short as can be: it is the most that any page asks for.
    told = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return Response(told, mimetype="application/json")


@blueprint.get("/api/replay/pictures/<int(max=999999999999):entry>/<kind>")
def picture(entry: int, kind: str) -> Response:
    """A picture of an entry; it never changes."""
    if kind not in PICTURE_KINDS:
        abort(404, f"expected one of {', '.join(PICTURE_KINDS)}")
    known: PictureKind = kind
    try:
        found = _journal().picture(entry, known)
    except BadInput as error:
        abort(404, str(error))
    response = Response(found.image, mimetype=found.media_type)
    response.headers["Cache-Control"] = f"private, max-age={_KEPT_FOR_S}, immutable"
    return response


@blueprint.get("/api/replay/text")
def text() -> Response:
    """The recording as a text to be pasted into a message; it has all cards, so only afterwards."""
    if not _may_have_the_text():
        abort(403, "the text of a game names its cards: it can be copied once the game is over")
    return Response(text_of(_journal()), mimetype="text/plain")


@blueprint.post("/api/replay/measure")
def measure() -> Response:
    """The distance between two things in a branch."""
    wanted = _asked(MeasuredBranch)
    ranges_bw = current_app.config["RANGES_BW"]
    return jsonify(_played().what_if.measure(_branch(wanted), wanted.a, wanted.b, ranges_bw))


@blueprint.post("/api/replay/about")
def about() -> Response:
    """The drawings that explain a thing in a branch."""
    wanted = _asked(AboutBranch)
    return jsonify(_played().what_if.about(_branch(wanted), wanted.thing))


@blueprint.post("/api/replay/sheet")
def sheet() -> Response:
    """All that the rules say of a unit, or of two, in a branch."""
    wanted = _asked(SheetOfBranch)
    what_if, branch = _played().what_if, _branch(wanted)
    if wanted.b is None:
        return jsonify(what_if.unit_sheet(branch, wanted.a, wanted.active))
    return jsonify(what_if.pair_sheet(branch, wanted.a, wanted.b, wanted.active))


@blueprint.post("/api/replay/odds")
def odds() -> Response:
    """The chances of a volley, a combat or a rally in a branch."""
    wanted = _asked(OddsOfBranch)
    return jsonify(_played().what_if.odds(_branch(wanted), wanted.wanted))


def _asked(body: type[Asked]) -> Asked:
    """What is asked of a branch; where measuring is closed on the table, it is closed here too."""
    played = _played()
    if played.live is not None:
        if played.live.referee is not None:
            played.live.referee.check_open()
    elif not played.is_own and is_measuring_closed(_journal()):
        raise NotDeclared("measuring", "its players declare first: it is closed to those who watch")
    return asked(body, "what if")


def _branch(wanted: Any) -> Branch:
    return Branch(wanted.moment, wanted.laid)


def _may_have_the_text() -> bool:
    """A game that is being played has concealed cards; one that is over has none any more."""
    played = _played()
    journal = played.recording()
    return journal is not None and (played.is_own or is_over(journal))


def _journal() -> Journal:
    journal = _played().recording()
    if journal is None:
        abort(404, "nothing was recorded of this table yet")
    return journal


def _played() -> Played:
    played: Played = current_app.extensions[_KEY]
    return played
