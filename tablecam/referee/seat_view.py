"""Serialises a game for one seat: the question, the actions, the moves to make, and the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tablecam.documents import Json
from tablecam.referee.game_controller import ONLY_CHOICE, AnyPlay
from tablecam.referee.game_views import (
    event_lines,
    markers,
    marks,
    outline,
    outlines,
    pass_lines,
    remark_lines,
    ruling_document,
)
from tablecam.referee.guards import AT
from tablecam.referee.intents import Intent
from tablecam.referee.placing import Placing
from tablecam.referee.referee import Referee
from tablecam.referee.seats import Seat
from tablecam.referee.table_diff import is_sure
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import DiceGroup, Game, Suggestion
from tablecam.rules.play_log import Done, Remark
from tablecam.table.model import Terrain
from tablecam.uncertainty.answer import Answer


def seat_view(referee: Referee, seat: Seat, after: str = "") -> Json:
    """Returns everything that a seat may know about the current version of the game.

    `after` is the `log_mark` of an earlier call: the log then has only the lines of actions done or
    taken back since, because a long game's log has hundreds of lines.
    """
    # Under one lock, so that all parts belong to one version.
    with referee.locked() as play:
        head = {
            "version": referee.version,
            "game": referee.game.name,
            "seat": {"kind": seat.kind, "side": seat.side},
            "has_begun": play is not None,
        }
        if play is None:
            return head
        log = _log(referee, play, seat, after)
        asked = _asked(referee, play, seat)
        side = seat.seen_side(play.asked())
        state = referee.game.seen_by(play.state, side)
        described = _described(play, seat, side, state, is_asked=asked["is_yours"])
        state = {key: value for key, value in state.items() if key != "position"}
        return head | asked | _table(referee, play) | {"state": state} | described | log


def _asked(referee: Referee, play: AnyPlay, seat: Seat) -> Json:
    """Returns the pending decision, and the actions open to this seat."""
    asked = play.asked()
    is_yours = seat.may_answer(asked) and not asked.is_over
    pass_all = _pass_all(referee.game, play.state) if seat.is_for_all else ""
    offered = _offers(referee.game, play, referee.version, pass_all) if is_yours else []
    return {
        "question": asked.question,
        "hint": asked.hint or (asked.shared_hint if seat.kind == "shared" else ""),
        "sums": [one._asdict() for one in asked.sums],
        "asked": asked.seat,
        "is_yours": is_yours,
        "is_over": asked.is_over,
        "closed": asked.closed and asdict(asked.closed),
        "actions": offered,
        "why_missing": referee.game.why_missing(play.state) if is_yours else "",
        "pass_all": pass_all,
        "can_undo": seat.plays and referee.can_undo,
        "can_redo": seat.plays and play.can_redo,
        "proposed": _proposed(referee, seat),
        "refused": {seat.side or seat.kind: count for seat, count in referee.refused.items()},
    }


def _proposed(referee: Referee, seat: Seat) -> Json | None:
    """Returns the open proposal; a seat that `may_agree` sends its `number`."""
    proposal = referee.proposal
    if proposal is None:
        return None
    return {
        "by": proposal.by.side,
        "text": proposal.text,
        "may_agree": proposal.may_agree(seat),
        "number": proposal.number,
    }


def _offers(game: Game[Any, Any], play: AnyPlay, version: int, pass_all: str) -> list[Json]:
    """Returns the legal actions with labels and shapes, and the dice of rolls.

    If there is a button for all seats to pass, the action that passes for one seat says in
    `passes_to` which seat is asked next, empty if none.
    """
    offers = []
    passed = game.passed(play.state) if pass_all else None
    for action, offer in play.offers():
        dice = dice_document(action, offer.dice) if isinstance(action, Roll) else None
        document = game.action_to_json(action)
        offers.append(
            {
                "group": offer.group,
                "label": offer.label,
                "dice": dice,
                "shapes": [shape.to_json() for shape in offer.evidence],
                "units": list(offer.units) or _named_unit(document),
                "action": _sent_back(document, version),
            }
            | ({"passes_to": _asked_next(game, play.state, action)} if action == passed else {})
        )
    return offers


def _asked_next(game: Game[Any, Any], state: Any, passed: Any) -> str:
    """Returns the seat that may still act after one has passed; empty if none may."""
    after, _ = game.apply(state, passed)
    return "" if game.passed(after) is None else game.asked(after).seat or ""


def _pass_all(game: Game[Any, Any], state: Any) -> str:
    """Returns the label of the button by which all seats pass; empty if one must decide."""
    action = game.passed(state)
    if action is None:
        return ""
    group = game.action_groups.get(game.offered(state, action).group)
    return "" if group is None else group.pass_all


def _named_unit(action: Json) -> list[str]:
    unit = action.get("unit")
    return [unit] if isinstance(unit, str) else []


def dice_document(roll: Roll, groups: Sequence[DiceGroup]) -> Json:
    """Returns the dice of a roll in their groups; without groups, all dice are alike."""
    groups = groups or (DiceGroup("", None, tuple(range(roll.count))),)
    return {
        "count": roll.count,
        "sides": roll.sides,
        "lowest": roll.lowest,
        "groups": [asdict(group) for group in groups],
    }


def _sent_back(action: Json, version: int) -> Json:
    """Returns an action for the page to send back; one without data carries the version."""
    # Data of its own ties an action to its question; a bare one needs the version.
    return action | {AT: version} if set(action) == {"type"} else action


def _table(referee: Referee, play: AnyPlay) -> Json:
    """Returns the differences between table and game, and the moves made by hand."""
    away = {move.unit for move in referee.suggested} | {due.unit for due in referee.to_place}
    return {
        "markers": markers(referee.game, play.state),
        "pictured": [shape.to_json() for shape in referee.game.step_shapes(play.state)],
        "terrain": [_terrain(piece) for piece in referee.game.position(play.state).terrain],
        "to_place": [_placing(placing) for placing in referee.to_place],
        "moved": _moved(referee),
        "together": [suggestion.unit for suggestion in referee.together],
        "intents": [_intent(intent, answer) for intent, answer in referee.intent_answers()],
        "trouble": referee.problem or referee.game.irregularities(play.state, away),
    }


def _described(play: AnyPlay, seat: Seat, side: str | None, seen: Json, *, is_asked: bool) -> Json:
    """Returns how the game describes its state to this seat; see `rules.descriptions`."""
    game, state = play.game, play.state
    return {
        "standing": to_plain(game.standing(seen)),
        "house": list(play.house),
        "marks": marks(game, markers(game, state)),
        "settings": [to_plain(setting) for setting in game.settings(state)] if seat.plays else [],
        "forms": [to_plain(form) for form in game.forms(state)] if is_asked else [],
        "hand": [] if side is None else to_plain(game.hand(state, side)),
    }


def _log(referee: Referee, play: AnyPlay, seat: Seat, after: str) -> Json:
    """Returns the log, or the lines that are new and replace older lines of the same actions.

    A mark is valid for one run of a game and one seat, because seats see different logs.
    """
    run = f"{referee.run}.{seat.kind}.{seat.side or ''}."
    entries = after.removeprefix(run)
    # A mark of another run or seat is useless: send the whole log.
    is_whole = not (after.startswith(run) and entries.isdecimal())
    new = None if is_whole else play.deeds_since(int(entries))
    remarks = play.remarks_after
    lines = [
        line
        for number, done in enumerate(play.log)
        if new is None or number in new
        for line in _lines(play.game, number, done, seat, remarks.get(number, ()))
    ]
    return {"log": lines, "log_is_whole": is_whole, "log_mark": f"{run}{play.log_length}"}


def _terrain(piece: Terrain) -> Json:
    outline_mm = [list(point) for point in piece.outline_mm]
    return {"id": piece.id, "kind": piece.kind, "outline_mm": outline_mm}


def _intent(intent: Intent, answer: Answer | None) -> Json:
    document = None if answer is None else answer.to_json()
    return {"unit": intent.unit, "of": intent.of, "text": intent.text, "answer": document}


def _lines(
    game: Game[Any, Any],
    number: int,
    done: Done[Any, Any],
    seat: Seat,
    remarks: Sequence[Remark],
) -> list[Json]:
    """Returns the events of an action, as a seat may see them, and whether somebody chose it.

    The units put back since follow it.
    """
    status = {"undone": done.is_undone, "deed": number}
    is_chosen = done.note != ONLY_CHOICE
    lines = [*event_lines(game, done, seat), *pass_lines(game, done)]
    lines = [line | {"is_chosen": is_chosen} for line in lines]
    remarked = (line for remark in remarks for line in remark_lines(remark.document))
    lines += [line | {"is_chosen": False} for line in remarked]
    return [line | status for line in lines]


def _placing(placing: Placing) -> Json:
    return {
        "unit": placing.unit,
        "text": placing.text,
        "ghost": [outline(base) for base in placing.bases],
        "lost": [outline(base) for base in placing.lost],
        "moves": placing.moves,
    }


def _moved(referee: Referee) -> list[Json]:
    """Returns the suggested moves, first those that may be confirmed at once, in their order.

    A move that is legal only after others carries its ruling after them, and their units in
    `after`. If a unit can only go back to where it was, its ghost `is_back`. What else a move
    `brings` if it is confirmed first is told in sentences.
    """
    order = [move.unit for move in referee.together]
    alone = {move.unit: move for move in referee.suggested}
    moves = [_in_order(alone.get(move.unit), move, order) for move in referee.together]
    moves += [
        _suggestion(move)
        | {
            "choices": [
                {"label": label, "action": referee.game.action_to_json(action)}
                for label, action in move.choices
            ]
        }
        for move in referee.suggested
        if move.unit not in order
    ]
    position = referee.position()
    outlines_before = {} if position is None else outlines(position)
    brings = referee.brings
    return [
        move
        | {
            "is_back": move["ghost"] == outlines_before.get(move["unit"]),
            "brings": brings.get(move["unit"], ()),
        }
        for move in moves
    ]


def _in_order(alone: Suggestion | None, in_turn: Suggestion, order: Sequence[str]) -> Json:
    # Legal by itself, it need not wait for others.
    if alone is not None and is_sure(alone):
        return _suggestion(alone)
    return _suggestion(in_turn) | {"after": order[: order.index(in_turn.unit)]}


def _suggestion(suggestion: Suggestion) -> Json:
    return ruling_document(suggestion) | {"after": [], "choices": []}
