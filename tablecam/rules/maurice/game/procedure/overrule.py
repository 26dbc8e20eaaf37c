"""Overrules: corrections that the players agree on, applied and recorded as such.

They set units' poses, disruption and smoke, remove units, correct morale, hands and commanders, and
resume the round at another step, at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tablecam.geometry.moves.poses import laid
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Event, Refused
from tablecam.rules.maurice.field.tables import BASES
from tablecam.rules.maurice.game.cards.overruled_cards import check_aside, check_cards, with_cards
from tablecam.rules.maurice.game.setup.deploying import with_commanders_at
from tablecam.rules.maurice.game.state.actions import Overrule
from tablecam.rules.maurice.game.state.sequence import first_step
from tablecam.rules.maurice.game.state.state import DeckStage, State, StateAndEvents
from tablecam.rules.maurice.game.state.step_rules import refusing
from tablecam.rules.maurice.game.state.steps import (
    CommandChoice,
    EndingRound,
    Over,
    Step,
    VolleyChoice,
)
from tablecam.rules.maurice.game.state.table import field_on
from tablecam.table.model import Position, Unit
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import nearest

_STEPS: dict[str, Step] = {
    "volleys": VolleyChoice(),
    "command": CommandChoice(),
    "end": EndingRound(),
}
"""Steps at which a round may be resumed."""
_STAGES: dict[DeckStage, str] = {
    "first": "the first deck",
    "second": "the second deck, with the Reshuffle card",
    "last": "the last deck",
}


def overruled(state: State, action: Overrule) -> StateAndEvents:
    """Returns the state as players have set it.

    Raises:
        Refused: A name is unknown, a number impossible, or the table cannot lie so; or the current
            step needs a unit that is removed, and no other step is named.
    """
    _check_names(state, action)
    _check_numbers(state, action)
    check_cards(state, action)
    state = replace(_with_morale(state, action), position=_position_after(state.position, action))
    state = with_cards(state, action, _resumed(state, action))
    changes = "; ".join(_changes(action)) or "no change"
    text = f"overruled: {changes}" + (f" ({action.why})" if action.why else "")
    named = (action.units, action.off, action.disruption, action.smoke)
    units = dict.fromkeys(name for group in named for name in group)
    return state, (Event("overrule", text, None, {"why": action.why, "units": list(units)}),)


def agreed_on(state: State, action: Overrule) -> str:
    """Describes an overrule that both sides have to agree on; returns "" where one side may do it.

    Cards that are drawn or laid open with the discards reveal what a hand may hold to whoever sees
    them, and so does a named card.

    Raises:
        Refused: A name is unknown, or a number impossible.
    """
    check_aside(state, action)
    # Before the first deal no hand is concealed.
    is_any_dealt = any(side.cards for side in state.sides)
    is_of_cards = bool(action.hands) or action.deck is not None
    if not state.is_dealt or not (action.aside or (is_any_dealt and is_of_cards)):
        return ""
    _check_names(state, action)
    _check_numbers(state, action)
    named = [f"laid aside: {', '.join(action.aside)}"] if action.aside else []
    return "; ".join([*_changes(action), *named])


def _position_after(position: Position, action: Overrule) -> Position:
    """Returns the position with the units and commanders of an overrule."""
    units = tuple(_unit_after(unit, action) for unit in position.units if unit.id not in action.off)
    position = with_commanders_at(replace(position, units=units), action.commanders)
    with refusing():
        # Only to refuse a table on which nothing could be ruled.
        field_on(position)
    return position


def _unit_after(unit: Unit, action: Overrule) -> Unit:
    """Returns a unit with its overruled poses and markers; poses decide its formation."""
    bases = action.units.get(unit.id)
    if bases is not None:
        unit = laid(unit, bases)
    markers = dict(unit.state)
    if unit.id in action.disruption:
        markers["disruption"] = action.disruption[unit.id]
    if unit.id in action.smoke:
        markers["smoke"] = action.smoke[unit.id]
    return replace(unit, state=markers)


def _with_morale(state: State, action: Overrule) -> State:
    """Returns the state with overruled morale."""
    for name, morale in action.morale.items():
        state = state.with_side(replace(state.side(name), morale=morale))
    return state


def _resumed(state: State, action: Overrule) -> State:
    """Returns the state at the round, side and step that an overrule names."""
    number = state.round.number if action.number is None else action.number
    if action.active is not None:
        # Passing the turn to the other side starts a new round.
        number += action.number is None and action.active != state.active
        state = first_step(state, number, action.active)
    state = replace(state, round=replace(state.round, number=number))
    if action.step is not None:
        return state.to(_STEPS[action.step])
    # A step that refers to a removed unit cannot go on.
    named = {*_texts(to_plain(state.step))}
    missing = next((name for name in action.off if name in named), None)
    if missing is not None:
        steps = ", ".join(_STEPS)
        why = f"expected a step to continue with ({steps}), as the current step needs {missing}"
        raise Refused(why, key="step")
    # A game that was over goes on with the end of its round.
    if isinstance(state.step, Over) and action.active is None:
        return state.to(EndingRound())
    return state


def _texts(plain: object) -> Iterator[str]:
    """Yields all strings in a plain value, unit names among them."""
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, dict):
        yield from (text for item in plain.items() for part in item for text in _texts(part))
    elif isinstance(plain, list):
        yield from (text for part in plain for text in _texts(part))


def _check_names(state: State, action: Overrule) -> None:
    """Refuses unknown units, sides and commanders."""
    units = [unit.id for unit in state.position.units]
    sides = [side.name for side in state.sides]
    leaders = [leader.id for leader in state.position.commanders]
    of_units = dict.fromkeys(("units", "off", "disruption", "smoke"), units)
    of_sides = dict.fromkeys(("morale", "hands"), sides)
    for key, known in (of_units | of_sides | {"commanders": leaders}).items():
        for name in getattr(action, key):
            if name not in known:
                raise Refused(f"there is no {name}{nearest(name, known)}", key=key)
    for name, bases in action.units.items():
        if not bases:
            raise Refused(f"expected the bases of {name}, got none", key="units")
    if action.active is not None and action.active not in sides:
        raise Refused(f"there is no side {action.active}{nearest('', sides)}", key="active")


def _check_numbers(state: State, action: Overrule) -> None:
    """Refuses impossible levels, morale, hands and round numbers."""
    arms = {unit.id: unit.arm for unit in state.position.units}
    for name, level in action.disruption.items():
        # At more than that it would be broken (M-1.14).
        most = BASES[arms[name]]
        if not 0 <= level <= most:
            why = f"expected 0 to {most} disruption for {name}, got {level}"
            raise Refused(why, key="disruption")
    # An army without morale has lost, so it needs 1 or more.
    for key, least in (("morale", 1), ("hands", 0)):
        for side, number in getattr(action, key).items():
            if number < least:
                expected = f"expected at least {least} for {side_name(side)}"
                raise Refused(f"{expected}, got {number}", key=key)
    if action.number is not None and action.number < 1:
        raise Refused(f"expected a round number of at least 1, got {action.number}", key="number")


def _changes(action: Overrule) -> Iterator[str]:
    """Describes each change in a few words."""
    if action.units:
        yield f"{', '.join(action.units)} moved as placed"
    if action.off:
        yield f"{', '.join(action.off)} removed"
    yield from (f"{name} at {level} disruption" for name, level in action.disruption.items())
    yield from (f"{name} {'with' if on else 'without'} smoke" for name, on in action.smoke.items())
    yield from (f"{side_name(side)} morale {number}" for side, number in action.morale.items())
    yield from (f"{side_plural(side)} hold {cards} cards" for side, cards in action.hands.items())
    if action.deck is not None:
        yield f"{action.deck} cards left in the deck"
    if action.stage is not None:
        yield f"it is {_STAGES[action.stage]}"
    yield from (f"{name} moved as placed" for name in action.commanders)
    if action.active is not None:
        yield f"{side_plural(action.active)} are active"
    if action.number is not None:
        yield f"it is round {action.number}"
    if action.step is not None:
        yield f"continue with {action.step}"
