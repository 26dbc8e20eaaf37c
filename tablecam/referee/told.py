"""What was done in a game, told to a seat: each line of its log, and how the game stands then.

And what hands did: all that pages show while a game runs, and that a recording has of it.
"""

from __future__ import annotations

from typing import Any

from tablecam.referee.placing import marker_of
from tablecam.referee.seats import SPECTATOR, Seat
from tablecam.rules.dice import Roll
from tablecam.rules.game import Game, Json, Suggestion
from tablecam.rules.play import Play
from tablecam.rules.play_log import Done, Logged
from tablecam.table.model import BasePose, Position
from tablecam.table.position_file import FORMAT as POSITION_FORMAT


def beginning_document(play: Play[Any, Any]) -> Json:
    """How a game begins, to be kept: a play document without its log, and how it stands then."""
    return play.beginning() | {"after": standing(play.game, play.first)}


def deed_document(game: Game[Any, Any], logged: Logged[Any, Any]) -> Json:
    """An entry of the log, to be kept: as it is, and what everybody may know of it.

    `deed` counts what was done from 0, None where the entry is no deed of its own; `undoes` are
    the deeds that it takes back. What is concealed is in `entry` alone.
    """
    done = logged.done
    return {
        "entry": logged.document,
        "deed": logged.deed,
        "undoes": list(logged.undoes),
        "events": [] if done is None else event_lines(done, SPECTATOR),
        "after": standing(game, logged.state),
    }


def ruling_document(suggestion: Suggestion) -> Json:
    """What the game makes of a hand's move: whether it was legal, and where it would have been."""
    answer, nearest = suggestion.answer, suggestion.nearest
    ghost = {} if nearest is None else outlines(nearest)
    return {
        "unit": suggestion.unit,
        "text": suggestion.text,
        "is_legal": suggestion.action is not None and answer.answer != "no",
        "answer": answer.to_json(),
        "ghost": ghost.get(suggestion.unit, []),
    }


def outlines(position: Position) -> dict[str, list[Json]]:
    """Where the bases of each unit, and each commander's marker, are drawn."""
    units = {unit.id: [outline(base) for base in unit.bases] for unit in position.units}
    side_mm = position.table.base_width_mm
    leaders = {each.id: [outline(marker_of(each, side_mm))] for each in position.commanders}
    return units | leaders


def outline(base: BasePose) -> Json:
    """Where a base is drawn."""
    return {
        "x_mm": round(base.x_mm, 2),
        "y_mm": round(base.y_mm, 2),
        "heading_deg": round(base.heading_deg, 2),
        "width_mm": base.width_mm,
        "depth_mm": base.depth_mm,
    }


def standing(game: Game[Any, Any], state: Any) -> Json:
    """How a game stands, as everybody may know it; where bases lie is left out."""
    asked = game.asked(state)
    return {
        "question": asked.question,
        "asked": asked.seat,
        "is_over": asked.is_over,
        "markers": markers(game, state),
        "state": _without_positions(game.seen_by(state, None)),
    }


def markers(game: Game[Any, Any], state: Any) -> Json:
    """What the game knows of each unit (disruption, smoke, ...), by its id."""
    return {unit.id: dict(unit.state) for unit in game.position(state).units if unit.state}


def event_lines(done: Done[Any, Any], seat: Seat) -> list[Json]:
    """What followed from an action, as a seat may know it; the dice it rolled with the first."""
    seen = [event for event in done.events if event.only_for in (None, seat.sees)]
    return [
        event.to_json() | {"note": done.note, "dice": None if at else _dice(done.action)}
        for at, event in enumerate(seen)
    ]


def _dice(action: object) -> Json | None:
    """The dice of a roll as they came up; None for any other action."""
    if not isinstance(action, Roll) or action.values is None:
        return None
    return {"values": list(action.values), "sides": action.sides}


def _without_positions(state: Json) -> Json:
    """A state without the position documents in it: they are twenty times as long as all else."""
    return {
        key: _without_positions(value) if isinstance(value, dict) else value
        for key, value in state.items()
        if not (isinstance(value, dict) and value.get("format") == POSITION_FORMAT)
    }
