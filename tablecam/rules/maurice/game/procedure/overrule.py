"""Players overrule the referee: what they have agreed on holds, and is told as an overrule.

Units laid where hands put them, levels and markers set, units taken off, morale, hands and
commanders corrected, and the round taken up at another of its steps. It may be done at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tablecam.errors import BadInput
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.game import Event, Refused
from tablecam.rules.maurice.field.tables import BASES
from tablecam.rules.maurice.game.cards.overruled_cards import check_aside, check_cards, with_cards
from tablecam.rules.maurice.game.state.actions import Overrule
from tablecam.rules.maurice.game.state.hand import is_dealt
from tablecam.rules.maurice.game.state.sequence import first_step
from tablecam.rules.maurice.game.state.state import DeckStage, State
from tablecam.rules.maurice.game.state.step_rules import Followed
from tablecam.rules.maurice.game.state.steps import (
    CommandChoice,
    EndingRound,
    Over,
    Step,
    VolleyChoice,
)
from tablecam.rules.maurice.game.state.table import field_on
from tablecam.table.formation import read_formation
from tablecam.table.model import Position, Unit
from tablecam.table.sides import side_name
from tablecam.wording import nearest

_STEPS: dict[str, Step] = {
    "volleys": VolleyChoice(),
    "command": CommandChoice(),
    "end": EndingRound(),
}
"""Where a round may be taken up again."""
_STAGES: dict[DeckStage, str] = {
    "first": "the first deck",
    "second": "the second deck, with the Reshuffle card",
    "last": "the last deck",
}


def overruled(state: State, action: Overrule) -> Followed:
    """The state as players have set it.

    Raises:
        Refused: It names what is not there, numbers that cannot be, or a table that cannot lie so;
            or what is due hangs on a unit that is taken off, and no other step is named.
    """
    _check_names(state, action)
    _check_numbers(state, action)
    check_cards(state, action)
    state = replace(_with_morale(state, action), position=_laid(state.position, action))
    state = with_cards(state, action, _taken_up(state, action))
    said = "; ".join(_said(action)) or "nothing is changed"
    text = f"overruled: {said}" + (f" ({action.why})" if action.why else "")
    named = (action.units, action.off, action.disruption, action.smoke)
    units = dict.fromkeys(name for each in named for name in each)
    facts = {"why": action.why, "units": list(units)}
    return state, (Event("overrule", text, None, facts),)


def agreed_on(state: State, action: Overrule) -> str:
    """What an overrule says, where both sides have to agree on it; empty where one may do it.

    Cards that are drawn, or laid open with the discards, tell whoever looks at them which ones a
    hand may hold; so does a card that is named. Before any is dealt no hand is concealed.

    Raises:
        Refused: It names what is not there, or numbers that cannot be.
    """
    check_aside(state, action)
    is_any_dealt = any(side.cards for side in state.sides)
    is_of_cards = bool(action.hands) or action.deck is not None
    if not is_dealt(state) or not (action.aside or (is_any_dealt and is_of_cards)):
        return ""
    _check_names(state, action)
    _check_numbers(state, action)
    named = [f"aside: {', '.join(action.aside)}"] if action.aside else []
    return "; ".join([*_said(action), *named])


def _laid(position: Position, action: Overrule) -> Position:
    units = tuple(_set(each, action) for each in position.units if each.id not in action.off)
    leaders = (
        replace(each, x_mm=place[0], y_mm=place[1], pose=None)
        if (place := action.commanders.get(each.id))
        else each
        for each in position.commanders
    )
    position = replace(position, units=units, commanders=tuple(leaders))
    try:
        field_on(position)
    except BadInput as error:
        raise Refused(error.message) from None
    return position


def _set(unit: Unit, action: Overrule) -> Unit:
    """A unit where it was laid, in the formation that it lies in there, with its markers."""
    bases = action.units.get(unit.id)
    if bases is not None:
        unit = replace(unit, bases=bases)
        unit = replace(unit, formation=read_formation(unit).name)
    markers = dict(unit.state)
    if unit.id in action.disruption:
        markers["disruption"] = action.disruption[unit.id]
    if unit.id in action.smoke:
        markers["smoke"] = action.smoke[unit.id]
    return replace(unit, state=markers)


def _with_morale(state: State, action: Overrule) -> State:
    for name, morale in action.morale.items():
        state = state.with_side(replace(state.side(name), morale=morale))
    return state


def _taken_up(state: State, action: Overrule) -> State:
    number = state.round.number if action.number is None else action.number
    if action.active is not None:
        number += action.number is None and action.active != state.active
        state = first_step(state, number, action.active)
    state = replace(state, round=replace(state.round, number=number))
    if action.step is not None:
        return state.to(_STEPS[action.step])
    gone = next((name for name in action.off if name in _named_in(state.step)), None)
    if gone is not None:
        steps = ", ".join(_STEPS)
        why = f"expected one of {steps} to go on with: what is due hangs on {gone}"
        raise Refused(why, key="step")
    if isinstance(state.step, Over) and action.active is None:
        return state.to(EndingRound())
    return state


def _named_in(step: object) -> set[str]:
    """All texts that a step holds, units' names among them."""
    return set(_texts(to_plain(step)))


def _texts(plain: object) -> Iterator[str]:
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, dict):
        yield from (text for item in plain.items() for part in item for text in _texts(part))
    elif isinstance(plain, list):
        yield from (text for part in plain for text in _texts(part))


def _check_names(state: State, action: Overrule) -> None:
    units = [unit.id for unit in state.position.units]
    sides = [side.name for side in state.sides]
    leaders = [leader.id for leader in state.position.commanders]
    for key, known in (
        ("units", units),
        ("off", units),
        ("disruption", units),
        ("smoke", units),
        ("morale", sides),
        ("hands", sides),
        ("commanders", leaders),
    ):
        for name in getattr(action, key):
            if name not in known:
                raise Refused(f"there is no {name}{nearest(name, known)}", key=key)
    for name, bases in action.units.items():
        if not bases:
            raise Refused(f"expected the bases of {name}, got none", key="units")
    if action.active is not None and action.active not in sides:
        raise Refused(f"there is no side {action.active}{nearest('', sides)}", key="active")


def _check_numbers(state: State, action: Overrule) -> None:
    arms = {unit.id: unit.arm for unit in state.position.units}
    for name, level in action.disruption.items():
        most = BASES[arms[name]]
        if not 0 <= level <= most:
            raise Refused(f"expected {name} at 0 to {most}, got {level}", key="disruption")
    for key, least in (("morale", 1), ("hands", 0)):
        for side, number in getattr(action, key).items():
            if number < least:
                expected = f"expected {least} or more for {side_name(side)}"
                raise Refused(f"{expected}, got {number}", key=key)
    if action.number is not None and action.number < 1:
        raise Refused(f"expected a round from 1 on, got {action.number}", key="number")


def _said(action: Overrule) -> Iterator[str]:
    if action.units:
        yield f"{', '.join(action.units)} as laid"
    if action.off:
        yield f"{', '.join(action.off)} off the table"
    yield from (f"{name} at {level} disruption" for name, level in action.disruption.items())
    yield from (f"{name} {'with' if on else 'without'} smoke" for name, on in action.smoke.items())
    yield from (f"{side_name(side)} morale {number}" for side, number in action.morale.items())
    yield from (f"{side_name(side)} holds {number} cards" for side, number in action.hands.items())
    if action.deck is not None:
        yield f"{action.deck} cards left in the deck"
    if action.stage is not None:
        yield f"it is {_STAGES[action.stage]}"
    yield from (f"{name} as laid" for name in action.commanders)
    if action.active is not None:
        yield f"the round is {side_name(action.active)}'s"
    if action.number is not None:
        yield f"it is round {action.number}"
    if action.step is not None:
        yield f"on with {action.step}"
