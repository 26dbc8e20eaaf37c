"""Serialises a game's log and status for one seat, concealed events removed.

Pages and recordings share these documents, also those of the rulings on moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tablecam.documents import Json
from tablecam.referee.game_controller import ONLY_CHOICE
from tablecam.referee.placing import marker_of, put_back_words
from tablecam.referee.seats import SPECTATOR, Seat, taken_back_words
from tablecam.rules.descriptions import Described
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import LAY, Event, Game, Suggestion
from tablecam.rules.games import described
from tablecam.rules.play import Play
from tablecam.rules.play_log import Done, Logged
from tablecam.rules.rule_pages import rule_words
from tablecam.table.model import BasePose, Position, Scalar, TableSize
from tablecam.table.sides import side_plural


def beginning_view(play: Play[Any, Any]) -> Json:
    """Returns the beginning of a game for storage: a play document without log, and the status."""
    return play.beginning() | {"after": game_status(play.game, play.first)}


def action_document(game: Game[Any, Any], logged: Logged[Any, Any]) -> Json:
    """Returns an entry of the log for storage, with its public events and the status after it.

    `deed` is the index of the action, None for an undo or a remark; `undoes` are the indices of the
    actions taken back. Only `entry` contains anything concealed.
    """
    done, remark = logged.done, logged.document.get("remark")
    return {
        "entry": logged.document,
        "deed": logged.deed,
        "undoes": list(logged.undoes),
        "events": event_lines(game, done, SPECTATOR) if done else remark_lines(remark),
        "after": game_status(game, logged.state),
    }


def ruling_document(suggestion: Suggestion) -> Json:
    """Returns the ruling on a move: whether it is legal, and the nearest legal place."""
    answer, nearest = suggestion.answer, suggestion.nearest
    ghost = {} if nearest is None else outlines(nearest)
    return {
        "unit": suggestion.unit,
        "text": suggestion.text,
        "is_legal": suggestion.is_legal,
        "answer": answer.to_json(),
        "ghost": ghost.get(suggestion.unit, []),
    }


def outlines(position: Position) -> dict[str, list[Json]]:
    """Returns the outlines of each unit's bases and each commander's marker, by id."""
    units = {unit.id: [outline(base) for base in unit.bases] for unit in position.units}
    side_mm = position.table.marker_mm
    commanders = {
        commander.id: [outline(marker_of(commander, side_mm))] for commander in position.commanders
    }
    return units | commanders


def outline(base: BasePose) -> Json:
    """Returns the pose and size of a base for drawing."""
    return {
        "x_mm": round(base.x_mm, 2),
        "y_mm": round(base.y_mm, 2),
        "heading_deg": round(base.heading_deg, 2),
        "width_mm": base.width_mm,
        "depth_mm": base.depth_mm,
    } | ({} if base.shape == "rectangle" else {"shape": base.shape})


def game_status(game: Game[Any, Any], state: Any) -> Json:
    """Returns the public status of a game, without the places of bases."""
    asked = game.asked(state)
    return {
        "question": asked.question,
        "asked": asked.seat,
        "is_over": asked.is_over,
        "markers": markers(game, state),
        "state": game.seen_by(state, None),
    }


def markers(game: Game[Any, Any], state: Any) -> Json:
    """Returns the game's state of each unit, by id."""
    return {unit.id: dict(unit.state) for unit in game.position(state).units if unit.state}


def marks(game: Described, unit_states: Mapping[str, Mapping[str, Scalar]]) -> Json:
    """Returns the markers to draw at each unit, by id; units without any are left out."""
    by_unit = {unit: game.markers(unit_state) for unit, unit_state in unit_states.items()}
    return {unit: to_plain(shown) for unit, shown in by_unit.items() if shown}


def about_game(name: str, table: TableSize, sides: Sequence[str]) -> Json:
    """Returns how a game describes itself whatever its state, for a page of that table."""
    game = described(name)
    return {
        "begin": [to_plain(field) for field in game.begin_form(sides)],
        "groups": to_plain(game.action_groups),
        "moments": dict(game.moments),
        "odds": [to_plain(offer) for offer in game.odds_offers],
        "rules": {rule: asdict(words) for rule, words in rule_words(name).items()},
        "unit": to_plain(game.length_unit(table)),
        "faces": game.counters_face,
    }


def event_lines(game: Game[Any, Any], done: Done[Any, Any], seat: Seat) -> list[Json]:
    """Returns the events of an action that a seat may see; the first carries the dice.

    An answer without events that the referee gave by itself is shown with its question; a pass is
    not worth a line.
    """
    events = done.events
    is_forced = done.note == ONLY_CHOICE
    if is_forced and not events and game.passed(done.before) != done.action:
        question, why = game.asked(done.before).question, game.why_missing(done.before)
        answer = f"{question} {game.offered(done.before, done.action).label}"
        # "Volley phase: fire?" becomes "Volley phase: nobody is in range".
        text = f"{question.partition(':')[0].rstrip('?')}: {why}" if why else answer
        events = (Event("only-choice", text),)
    visible = [event for event in events if seat.may_see(event.only_for)]
    return [
        event.to_json() | {"note": done.note, "dice": None if index else _dice(done.action)}
        for index, event in enumerate(visible)
    ]


def pass_lines(game: Game[Any, Any], done: Done[Any, Any]) -> list[Json]:
    """Returns who passed, or ended something, by an action without events.

    Players look for it in the log during a game; afterwards it is not worth a line.
    """
    action, before = done.action, done.before
    if done.events or done.note == ONLY_CHOICE or game.action_to_json(action)["type"] == LAY:
        return []
    offer, seat = game.offered(before, action), game.asked(before).seat
    group = game.action_groups.get(offer.group)
    if seat is None or not (game.passed(before) == action or (group and group.is_end)):
        return []
    text = f"{side_plural(seat)}: {offer.label[:1].lower()}{offer.label[1:]}"
    return [Event("pass", text).to_json() | {"note": done.note, "dice": None}]


def remark_lines(remark: object) -> list[Json]:
    """Returns who was put back, or who took back what others did, if a remark says so."""
    document, line = remark if isinstance(remark, dict) else {}, {"note": "", "dice": None}
    words = {"put-back": put_back_words(document), "undo": taken_back_words(document)}
    return [Event(kind, text).to_json() | line for kind, text in words.items() if text]


def _dice(action: object) -> Json | None:
    """Returns the dice of a roll, None for any other action."""
    if not isinstance(action, Roll) or action.values is None:
        return None
    # As in recordings before dice from 0 to 9, which must compare as equal.
    lowest = {} if action.lowest == 1 else {"lowest": action.lowest}
    return {"values": list(action.values), "sides": action.sides} | lowest
