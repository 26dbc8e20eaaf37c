"""A game as a seat is shown it: what is asked, what may be done, what to do by hand, the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tablecam.referee.course import AnyPlay
from tablecam.referee.intents import Intent
from tablecam.referee.placing import Placing
from tablecam.referee.referee import Referee
from tablecam.referee.seats import Seat
from tablecam.referee.taps import AT
from tablecam.referee.together import is_sure
from tablecam.referee.told import event_lines, markers, outline, outlines, ruling_document
from tablecam.rules.dice import Roll
from tablecam.rules.game import AlikeDice, Game, Json, Suggestion
from tablecam.rules.play_log import Done
from tablecam.table.model import Terrain
from tablecam.uncertainty.answer import Answer


def shown(referee: Referee, seat: Seat, after: str = "") -> Json:
    """All that a seat may know of the game, at one version of it.

    `after` is the `log_mark` of what it was shown before: of the log it is shown only the lines of
    what was done, taken back or done again since. A long game's log is hundreds of lines.
    """
    with referee.held() as play:
        head = {
            "version": referee.version,
            "game": referee.game.name,
            "seat": {"kind": seat.kind, "side": seat.side},
            "has_begun": play is not None,
        }
        if play is None:
            return head
        log = _log(referee, play, seat, after)
        return head | _asked(referee, play, seat) | _table(referee, play) | _state(play, seat) | log


def _asked(referee: Referee, play: AnyPlay, seat: Seat) -> Json:
    """What is due, and what this seat may do about it."""
    asked = play.asked()
    is_yours = seat.may_answer(asked) and not asked.is_over
    offered = _offers(referee.game, play, referee.version) if is_yours else []
    return {
        "question": asked.question,
        "asked": asked.seat,
        "is_yours": is_yours,
        "is_over": asked.is_over,
        "closed": None if asked.closed is None else asked.closed.to_json(),
        "actions": offered,
        "can_undo": seat.plays and bool(play.done),
        "can_redo": seat.plays and play.can_redo,
        "proposed": _proposed(referee, seat),
        "refused": {each.side or each.kind: count for each, count in referee.refused.items()},
    }


def _proposed(referee: Referee, seat: Seat) -> Json | None:
    """What one side has proposed; who `may_agree` sends its `number`."""
    found = referee.proposal
    if found is None:
        return None
    return {
        "by": found.by.side,
        "text": found.text,
        "may_agree": found.may_agree(seat),
        "number": found.number,
    }


def _offers(game: Game[Any, Any], play: AnyPlay, version: int) -> list[Json]:
    """The legal actions in words and shapes; a roll says which dice."""
    found = []
    for action in play.legal():
        offer = game.offered(play.state, action)
        dice = _dice(action, offer.dice) if isinstance(action, Roll) else None
        found.append(
            {
                "group": offer.group,
                "label": offer.label,
                "dice": dice,
                "shapes": [shape.to_json() for shape in offer.evidence],
                "action": _sent_back(game.action_to_json(action), version),
            }
        )
    return found


def _dice(roll: Roll, groups: Sequence[AlikeDice]) -> Json:
    """How many dice of how many sides, and whose each is; where nothing is said they are alike."""
    groups = groups or (AlikeDice("", None, tuple(range(roll.count))),)
    told = [{"whose": each.whose, "needs": each.needs, "places": each.places} for each in groups]
    return {"count": roll.count, "sides": roll.sides, "groups": told}


def _sent_back(action: Json, version: int) -> Json:
    """An action as it is to be sent back: one that says nothing of itself, with what it answers."""
    return action | {AT: version} if set(action) == {"type"} else action


def _table(referee: Referee, play: AnyPlay) -> Json:
    """What table and game do not agree on, and who did what by hand."""
    return {
        "markers": markers(referee.game, play.state),
        "pictured": [shape.to_json() for shape in referee.game.pictured(play.state)],
        "terrain": [_ground(each) for each in referee.game.position(play.state).terrain],
        "to_place": [_placing(each) for each in referee.to_place],
        "moved": _moved(referee),
        "together": [each.unit for each in referee.together],
        "intents": [_intent(*each) for each in referee.of_intents()],
        "trouble": referee.trouble or referee.game.odd(play.state),
    }


def _state(play: AnyPlay, seat: Seat) -> Json:
    """The game's own state as this seat may see it."""
    state = play.game.seen_by(play.state, seat.sees)
    return {"state": {key: value for key, value in state.items() if key != "position"}}


def _log(referee: Referee, play: AnyPlay, seat: Seat, after: str) -> Json:
    """What has happened, or what of it is new: those lines take the place of their deeds' old ones.

    A mark is of one run of a game and of one seat, as others are not told the same.
    """
    run = f"{referee.run}.{seat.kind}.{seat.side or ''}."
    entries = after.removeprefix(run)
    is_whole = not (after.startswith(run) and entries.isdecimal())
    deeds = None if is_whole else play.deeds_since(int(entries))
    lines = [
        line
        for deed, done in enumerate(play.log)
        if deeds is None or deed in deeds
        for line in _lines(deed, done, seat)
    ]
    return {"log": lines, "log_is_whole": is_whole, "log_mark": f"{run}{play.log_length}"}


def _ground(piece: Terrain) -> Json:
    return {"id": piece.id, "kind": piece.kind, "outline_mm": [list(at) for at in piece.outline_mm]}


def _intent(intent: Intent, answer: Answer | None) -> Json:
    now = None if answer is None else answer.to_json()
    return {"unit": intent.unit, "of": intent.of, "text": intent.text, "answer": now}


def _lines(deed: int, done: Done[Any, Any], seat: Seat) -> list[Json]:
    """What followed from an action, as a seat may know it."""
    about: Json = {"undone": done.is_undone, "deed": deed}
    return [line | about for line in event_lines(done, seat)]


def _placing(placing: Placing) -> Json:
    return {
        "unit": placing.unit,
        "text": placing.text,
        "ghost": [outline(base) for base in placing.bases],
    }


def _moved(referee: Referee) -> list[Json]:
    """What hands seem to have done; those that may be confirmed at once first, in their order.

    Who may only go when others have gone is told as it is then, with whom it goes `after`. Where a
    unit can only go back to where it lay, its ghost `is_back`.
    """
    order = [each.unit for each in referee.together]
    alone = {each.unit: each for each in referee.suggested}
    found = [_in_order(alone.get(each.unit), each, order) for each in referee.together]
    found += [_suggestion(each) for each in referee.suggested if each.unit not in order]
    known = referee.position()
    lay = {} if known is None else outlines(known)
    return [each | {"is_back": each["ghost"] == lay.get(each["unit"])} for each in found]


def _in_order(alone: Suggestion | None, then: Suggestion, order: Sequence[str]) -> Json:
    if alone is not None and is_sure(alone):
        return _suggestion(alone)
    return _suggestion(then) | {"after": order[: order.index(then.unit)]}


def _suggestion(suggestion: Suggestion) -> Json:
    return ruling_document(suggestion) | {"after": []}
